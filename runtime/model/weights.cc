#include "model/weights.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace gainz {
namespace {

// Whole pages inside the bytes of a tensor, given to madvise.
void advise(std::span<const std::byte> bytes, int advice) {
  const auto page = uintptr_t(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<uintptr_t>(bytes.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<uintptr_t>(bytes.data() + bytes.size()) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, advice);
}

}  // namespace

bool PackingProgress::report(uint64_t done_bytes) {
  const std::scoped_lock lock(mutex_);
  if (is_stopped_) return false;
  if (!progress_) return true;
  const double done =
      double(before_bytes_) + double(std::min(done_bytes, total_bytes_ - std::min(before_bytes_, total_bytes_)));
  is_stopped_ = !progress_("weights", total_bytes_ == 0 ? 1.0 : std::min(1.0, done / double(total_bytes_)));
  return !is_stopped_;
}

Weights::Weights(std::vector<const GgufTensor*> tensors, bool is_mapped, PackingProgress& progress)
    : tensors_(std::move(tensors)), is_mapped_(is_mapped), progress_(progress) {
  table_ = {sizeof(gainz_weights), 0, this, map, release, report};
}

uint64_t Weights::total_bytes() const {
  uint64_t total = 0;
  for (const GgufTensor* tensor : tensors_) total += tensor == nullptr ? 0 : tensor->data.size();
  return total;
}

gainz_status Weights::map(void* ctx, uint32_t value, const void** out_bytes, uint64_t* out_num_bytes, gainz_error* error) {
  const auto& self = *static_cast<const Weights*>(ctx);
  if (out_bytes == nullptr || out_num_bytes == nullptr || value >= self.tensors_.size() || self.tensors_[value] == nullptr) {
    if (error != nullptr && error->text != nullptr && error->text_capacity != 0)
      std::snprintf(error->text, error->text_capacity, "value %u is no weight", value);
    return GAINZ_STATUS_INVALID;
  }
  const std::span<const std::byte> bytes = self.tensors_[value]->data;
  if (self.is_mapped_) advise(bytes, MADV_WILLNEED);
  *out_bytes = bytes.data();
  *out_num_bytes = bytes.size();
  return GAINZ_STATUS_OK;
}

void Weights::release(void* ctx, uint32_t value) {
  const auto& self = *static_cast<const Weights*>(ctx);
  if (self.is_mapped_ && value < self.tensors_.size() && self.tensors_[value] != nullptr)
    advise(self.tensors_[value]->data, MADV_DONTNEED);
}

int32_t Weights::report(void* ctx, uint64_t done_bytes, uint64_t /*total_bytes*/) {
  try {  // the embedding program's callback must not throw into a plugin
    return static_cast<Weights*>(ctx)->progress_.report(done_bytes) ? 0 : 1;
  } catch (...) {
    return 1;
  }
}

}  // namespace gainz
