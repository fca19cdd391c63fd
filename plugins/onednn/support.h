// The host's loops, and reading arrays that travel with a stride. Status, memory and struct reading are the SDK helper's
// (sdk/simple).
#pragma once

#include <cstddef>
#include <cstdint>

#include "gainz/sdk/sdk.h"
#include "simple/border.h"
#include "simple/memory.h"

namespace gainz::onednn {

using sdk::failure;
using sdk::HostMemory;
using sdk::Status;

// The host's workers under a C++ name. Borrowed until the device is closed. Threads: the device's.
class Host {
 public:
  explicit Host(const gainz_host* host) : host_(host) {}
  const gainz_host& table() const { return *host_; }
  uint32_t num_workers() const { return host_->num_workers(host_->ctx); }

  // body(begin, end, worker) over [0, count); in the caller where one run holds everything. body must not throw.
  template <class Body>
  void loop(uint64_t count, uint64_t grain, Body body) const {
    if (count == 0) return;
    if (count <= grain) return body(uint64_t{0}, count, uint32_t{0});
    host_->parallel_for(
        host_->ctx, count, grain,
        [](void* arg, uint64_t begin, uint64_t end, uint32_t worker) { (*static_cast<Body*>(arg))(begin, end, worker); },
        &body);
  }

 private:
  const gainz_host* host_;
};

template <class T>
const T& at_stride(const T* first, uint64_t stride, uint64_t i) {
  return *reinterpret_cast<const T*>(reinterpret_cast<const std::byte*>(first) + stride * i);
}

inline uint64_t round_up(uint64_t n, uint64_t multiple) { return (n + multiple - 1) / multiple * multiple; }
inline uint64_t parts_of(uint64_t n, uint64_t size) { return (n + size - 1) / size; }

}  // namespace gainz::onednn
