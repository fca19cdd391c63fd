// Memory that ends at a page nobody may touch: one byte too far is a crash, and a crash is a result.
#ifndef GAINZ_SDK_CONFORM_GUARDED_H
#define GAINZ_SDK_CONFORM_GUARDED_H

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gainz::conform {

class Guarded {
 public:
  explicit Guarded(size_t num_bytes);
  ~Guarded();
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  void* data() const { return data_; }
  // The first `num_bytes` of a struct, with struct_size (its first member) set to that.
  template <class T>
  static void fill(void* to, const T& from, uint32_t num_bytes) {
    std::memcpy(to, &from, num_bytes);
    std::memcpy(to, &num_bytes, sizeof num_bytes);
  }

 private:
  char* base_ = nullptr;
  size_t mapped_ = 0;
  void* data_ = nullptr;
};

}  // namespace gainz::conform

#endif
