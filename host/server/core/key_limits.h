// KeyLimits: what one key may ask of the server, or, without keys, one address: generations in a minute and at once. Owner: the
// server. Thread: the network thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace gainz::host {

class KeyLimits {
 public:
  using Clock = std::chrono::steady_clock;
  struct Limits {
    uint64_t per_minute = 0;  // 0: any number
    uint64_t at_once = 0;     // 0: any number
  };
  // One admitted generation; its end gives the place back.
  using Place = std::shared_ptr<void>;

  void set(const Limits& limits) { limits_ = limits; }
  // Throws ApiError 429 with the time after which it may be tried again. A minute's allowance fills evenly and can be spent at
  // once (a token bucket).
  Place take(const std::string& key, const std::string& client, Clock::time_point now = Clock::now());

  size_t num_tracked() const { return buckets_.size(); }

 private:
  struct Bucket {
    double allowance;
    Clock::time_point filled;
    uint64_t num_running = 0;
  };
  void forget_full(Clock::time_point now);

  Limits limits_;
  std::map<std::string, std::shared_ptr<Bucket>> buckets_;
  size_t forget_at_ = 1024;  // entries
};

}  // namespace gainz::host
