// Formats: how weight rows lie on the device, and packing them. Pure functions, any thread.
//
// A row is a run of words of codes and a run of words of scales, each in memory of its own; shaders/weights.glsl reads both and
// states the order of the bits. Rows of dense types are padded with zeros to whole blocks of 32 columns.
#pragma once

#include <cstdint>

namespace gainz::vulkan {

enum class Format : uint32_t { kF32, kF16, kBf16, k4, k5, k6, k8, kCount };

// kScale* of weights.glsl.
enum class Scales : uint32_t { kPair, kSuper, kHalves };

struct Packing {
  Format format = Format::kF32;
  Scales scales = Scales::kPair;
  uint32_t offset = 0;     // subtracted from a code
  bool converted = false;  // the device has no such type: values are rounded to this format

  bool is_dense() const { return format <= Format::kBf16; }
  uint64_t row_words(uint64_t columns) const;
  uint64_t row_scale_words(uint64_t columns) const;
};

// False for a type that weights cannot have. `wide_range`: values beyond f16 occur, so what is converted becomes F32.
bool packing_of(uint32_t type, bool wide_range, Packing* out);

// One row of `columns` values in blocks of `type`. quants[row_words], scales[row_scale_words]; each word is written once.
void pack_row(uint32_t type, const Packing& packing, const uint8_t* row, uint64_t columns, uint32_t* quants, uint32_t* scales);

}  // namespace gainz::vulkan
