#include "border.h"

#include <algorithm>
#include <cstring>

namespace gainz::sdk {

Status read_struct_raw(const void* in, void* out, uint64_t size, uint64_t least, uint64_t available, const char* what) {
  if (in == nullptr) return failure(GAINZ_STATUS_INVALID, "%s: NULL", what);
  uint32_t given = 0;
  std::memcpy(&given, in, sizeof given);
  if (given < least) return failure(GAINZ_STATUS_INVALID, "%s: struct_size %u is too small", what, given);
  if (available != 0 && given > available) {
    return failure(GAINZ_STATUS_INVALID, "%s: struct_size %u is beyond the stride %llu", what, given,
                   static_cast<unsigned long long>(available));
  }
  std::memset(out, 0, size);
  std::memcpy(out, in, std::min<uint64_t>(given, size));
  const auto* bytes = static_cast<const unsigned char*>(in);
  for (uint64_t i = size; i < given; ++i) {
    if (bytes[i] == 0) continue;
    return failure(GAINZ_STATUS_UNSUPPORTED, "%s: struct_size %u holds fields that this plugin (%llu bytes) does not know",
                   what, given, static_cast<unsigned long long>(size));
  }
  return {};
}

void fill_struct_raw(void* out, const void* table, uint64_t size) {
  uint32_t room = 0;
  std::memcpy(&room, out, sizeof room);
  std::memcpy(out, table, std::min<uint64_t>(room, size));
}

}  // namespace gainz::sdk
