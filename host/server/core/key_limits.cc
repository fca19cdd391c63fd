#include "server/core/key_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "server/api_error.h"

namespace gainz::host {
namespace {

constexpr double kSecondsInMinute = 60;
constexpr size_t kLeastForgetAt = 1024;
constexpr std::chrono::milliseconds kRetryBusy(1000);

ApiError too_many(std::string message, std::chrono::milliseconds retry_after) {
  return {429, std::move(message), "rate_limit_error", "rate_limit_exceeded", "", retry_after};
}

double seconds_between(KeyLimits::Clock::time_point from, KeyLimits::Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

// A key that has its whole allowance again and runs nothing is as good as unknown.
void KeyLimits::forget_full(Clock::time_point now) {
  std::erase_if(buckets_, [&](const auto& entry) {
    const Bucket& bucket = *entry.second;
    return bucket.num_running == 0 && seconds_between(bucket.filled, now) >= kSecondsInMinute;
  });
  forget_at_ = std::max(kLeastForgetAt, 2 * buckets_.size());
}

KeyLimits::Place KeyLimits::take(const std::string& key, const std::string& client, Clock::time_point now) {
  if (limits_.per_minute == 0 && limits_.at_once == 0) return nullptr;
  if (buckets_.size() >= forget_at_) forget_full(now);
  const std::string who = key.empty() ? "address " + client : "key " + key;
  const double most = static_cast<double>(limits_.per_minute);
  auto& bucket = buckets_[who];
  if (!bucket) bucket = std::make_shared<Bucket>(Bucket{most, now});
  if (limits_.at_once > 0 && bucket->num_running >= limits_.at_once) {
    throw too_many(fmt::format("Rate limit reached for the {}: {} generations at once. Wait for one to end.", printable(who),
                               limits_.at_once),
                   kRetryBusy);
  }
  if (limits_.per_minute > 0) {
    const double rate = most / kSecondsInMinute;
    bucket->allowance = std::min(most, bucket->allowance + seconds_between(bucket->filled, now) * rate);
    bucket->filled = now;
    if (bucket->allowance < 1) {
      const auto wait = std::chrono::milliseconds(static_cast<int64_t>(std::ceil((1 - bucket->allowance) / rate * 1000)));
      throw too_many(
          fmt::format("Rate limit reached for the {}: {} generations per minute.", printable(who), limits_.per_minute), wait);
    }
    bucket->allowance -= 1;
  }
  ++bucket->num_running;
  return Place(nullptr, [bucket = bucket](void*) { --bucket->num_running; });
}

}  // namespace gainz::host
