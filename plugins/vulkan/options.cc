#include "options.h"

#include <cstdlib>
#include <cstring>

namespace gainz::vulkan {

namespace {

constexpr const char* kKnown =
    "there are profile (auto, cpu, gpu), validation (off, on), memory (auto, staged), memory_limit_bytes and "
    "max_buffer_range_bytes (whole numbers), isa (auto) and prefill (auto, exact)";

bool is(const char* a, const char* b) { return std::strcmp(a, b) == 0; }

bool parse_bytes(const char* text, uint64_t least, uint64_t* out) {
  if (*text < '0' || *text > '9') return false;
  char* end = nullptr;
  *out = std::strtoull(text, &end, 10);
  return *end == '\0' && *out >= least && *out < 1ull << 62;
}

// False where the key or its value is not known.
bool apply(const char* key, const char* value, Options* out) {
  if (is(key, "isa")) return is(value, "auto");  // every plugin knows these two; here they change nothing
  if (is(key, "prefill")) return is(value, "auto") || is(value, "exact");
  if (is(key, "profile")) {
    out->profile = is(value, "cpu")   ? Options::Profile::kCpu
                   : is(value, "gpu") ? Options::Profile::kGpu
                                      : Options::Profile::kAuto;
    return is(value, "auto") || is(value, "cpu") || is(value, "gpu");
  }
  if (is(key, "validation")) {
    out->validation = is(value, "on");
    return is(value, "on") || is(value, "off");
  }
  if (is(key, "memory")) {
    out->staged = is(value, "staged");
    return is(value, "auto") || is(value, "staged");
  }
  if (is(key, "memory_limit_bytes")) return parse_bytes(value, 1, &out->memory_limit_bytes);
  if (is(key, "max_buffer_range_bytes")) return parse_bytes(value, 1u << 16, &out->max_buffer_range_bytes);
  return false;
}

}  // namespace

Status read_options(const gainz_option* options, uint64_t stride, uint32_t num_options, Options* out) {
  for (uint32_t i = 0; i < num_options; ++i) {
    gainz_option option{};
    GAINZ_SDK_TRY(sdk::read_element(options, stride, i, &option, "gainz_option"));
    if (option.key == nullptr || option.value == nullptr)
      return failure(GAINZ_STATUS_INVALID, "option %u has no key or no value", i);
    for (uint32_t j = 0; j < i; ++j)
      if (is(at_stride(options, stride, j).key, option.key))
        return failure(GAINZ_STATUS_INVALID, "option %.64s is given twice", option.key);
    if (!apply(option.key, option.value, out))
      return failure(GAINZ_STATUS_INVALID, "option %.64s = \"%.64s\"; %s", option.key, option.value, kKnown);
  }
  return {};
}

}  // namespace gainz::vulkan
