// border.h: what every function of the table does at the C border: read structs of another size, catch every exception.
#ifndef GAINZ_SDK_SIMPLE_BORDER_H
#define GAINZ_SDK_SIMPLE_BORDER_H

#include <exception>
#include <new>

#include "gainz/sdk/simple_backend.h"

namespace gainz::sdk {

// Copies a struct that begins with struct_size into *out (`size` bytes, zeroed first). A longer one with a tail that is not
// zero is UNSUPPORTED; NULL or a struct_size below `least` is INVALID. `available` bounds what may be read (a stride), 0:
// struct_size does.
Status read_struct_raw(const void* in, void* out, uint64_t size, uint64_t least, uint64_t available, const char* what);

template <class T>
Status read_struct(const void* in, T* out, const char* what, uint64_t available = 0) {
  Status status = read_struct_raw(in, out, sizeof(T), sizeof(uint32_t), available, what);
  if (status.ok()) out->struct_size = sizeof(T);
  return status;
}

// Element `i` of an array with a stride.
template <class T>
Status read_element(const T* array, uint64_t stride, uint64_t i, T* out, const char* what) {
  if (array == nullptr || stride < sizeof(uint32_t))
    return failure(GAINZ_STATUS_INVALID, "%s: no array, or a stride below four", what);
  return read_struct(reinterpret_cast<const char*>(array) + i * stride, out, what, stride);
}

// Writes as much of `table` as *out says it can take; struct_size becomes the table's own.
void fill_struct_raw(void* out, const void* table, uint64_t size);

// Runs f() -> Status; nothing is thrown from here.
template <class F>
gainz_status guard(gainz_error* error, F f) noexcept {
  try {
    const Status status = f();
    if (!status.ok()) write_error(error, status.text());
    return status.code();
  } catch (const std::bad_alloc&) {
    write_error(error, "the host is out of memory");
    return GAINZ_STATUS_OUT_OF_HOST_MEMORY;
  } catch (const std::exception& e) {
    write_error(error, e.what());
    return GAINZ_STATUS_INTERNAL;
  } catch (...) {
    write_error(error, "the plugin threw something that is no exception");
    return GAINZ_STATUS_INTERNAL;
  }
}

}  // namespace gainz::sdk

// Returns from the enclosing function where the status is not OK.
#define GAINZ_SDK_TRY(expression) \
  if (::gainz::sdk::Status try_status = (expression); !try_status.ok()) return try_status

#endif
