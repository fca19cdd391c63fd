// The C border: no exception crosses it, every failure becomes a code and a sentence in the caller's buffer. Threads: any.
#pragma once

#include <cstring>
#include <exception>
#include <new>

#include "base/status.h"
#include "gainz/gainz.h"

namespace gainz {

static_assert(int(Code::invalid) == GAINZ_INVALID && int(Code::unsupported) == GAINZ_UNSUPPORTED &&
              int(Code::not_found) == GAINZ_NOT_FOUND && int(Code::out_of_device_memory) == GAINZ_OUT_OF_DEVICE_MEMORY &&
              int(Code::out_of_host_memory) == GAINZ_OUT_OF_HOST_MEMORY && int(Code::busy) == GAINZ_BUSY &&
              int(Code::cancelled) == GAINZ_CANCELLED && int(Code::device_lost) == GAINZ_DEVICE_LOST &&
              int(Code::limit_exceeded) == GAINZ_LIMIT_EXCEEDED && int(Code::internal) == GAINZ_INTERNAL);

// Writes `text`, zero-terminated, cut at a whole UTF-8 character.
inline void write_error(const char* text, char* error, size_t error_bytes) {
  if (!error || error_bytes == 0) return;
  size_t length = std::min(std::strlen(text), error_bytes - 1);
  if (text[length] != 0)
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) --length;
  std::memcpy(error, text, length);
  error[length] = 0;
}

// Runs `body`, which returns a Status, and answers its code.
template <class Body>
gainz_code border(char* error, size_t error_bytes, Body body) {
  write_error("", error, error_bytes);
  try {
    const Status status = body();
    if (!status.ok()) write_error(status.message().c_str(), error, error_bytes);
    return gainz_code(status.code());
  } catch (const std::bad_alloc&) {
    write_error("out of host memory", error, error_bytes);
    return GAINZ_OUT_OF_HOST_MEMORY;
  } catch (const std::exception& e) {
    write_error(e.what(), error, error_bytes);
    return GAINZ_INTERNAL;
  } catch (...) {
    write_error("an unknown exception", error, error_bytes);
    return GAINZ_INTERNAL;
  }
}

// A caller's struct, brought to full size: what it does not have reads as zero. Errors: invalid for a size of 0 or a non-zero
// tail that this version does not know.
template <class T>
Status read_struct(const T* from, T& out, const char* name) {
  if (!from) return {Code::invalid, std::string(name) + " is NULL"};
  const uint32_t size = from->struct_size;
  if (size < sizeof(uint32_t) || size > 64 * 1024)
    return {Code::invalid, std::string(name) + ".struct_size is " + std::to_string(size) + "; call its _init function first"};
  std::memset(static_cast<void*>(&out), 0, sizeof(T));
  std::memcpy(static_cast<void*>(&out), from, std::min<size_t>(size, sizeof(T)));
  const auto* bytes = reinterpret_cast<const unsigned char*>(from);
  for (size_t i = sizeof(T); i < size; ++i)
    if (bytes[i] != 0)
      return {Code::unsupported, std::string(name) + " is longer than this version knows and its end is not zero"};
  return {};
}

// Fills a caller's output struct as far as it reaches.
template <class T>
Status write_struct(const T& from, T* out, const char* name) {
  if (!out) return {Code::invalid, std::string(name) + " is NULL"};
  const uint32_t size = out->struct_size;
  if (size < sizeof(uint32_t)) return {Code::invalid, std::string(name) + ".struct_size is " + std::to_string(size)};
  std::memcpy(static_cast<void*>(out), &from, std::min<size_t>(size, sizeof(T)));
  out->struct_size = size;
  return {};
}

}  // namespace gainz
