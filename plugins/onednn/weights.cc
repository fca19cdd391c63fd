#include "weights.h"

#include <algorithm>
#include <cstring>

#include "blocks.h"
#include "kernels/panel.h"
#include "reference/half.h"

namespace gainz::onednn {

namespace {

constexpr TypeInfo kTypes[] = {
    {GAINZ_TYPE_F32, 1, 4, kDenseF32}, {GAINZ_TYPE_F16, 1, 2, kDenseF16}, {GAINZ_TYPE_BF16, 1, 2, kDenseBF16},
    {GAINZ_TYPE_Q4_0, 32, 18, kP4S},   {GAINZ_TYPE_Q4_1, 32, 20, kP4M},   {GAINZ_TYPE_Q5_0, 32, 22, kP8H},
    {GAINZ_TYPE_Q5_1, 32, 24, kP8FM},  {GAINZ_TYPE_Q8_0, 32, 34, kP8H},   {GAINZ_TYPE_Q2_K, 256, 84, kP8GM},
    {GAINZ_TYPE_Q3_K, 256, 110, kP8G}, {GAINZ_TYPE_Q4_K, 256, 144, kP4K}, {GAINZ_TYPE_Q5_K, 256, 176, kP8FM},
    {GAINZ_TYPE_Q6_K, 256, 210, kP8G}, {GAINZ_TYPE_IQ4_NL, 32, 18, kP8H}, {GAINZ_TYPE_IQ4_XS, 256, 136, kP8F},
    {GAINZ_TYPE_MXFP4, 32, 17, kP8F},
};

struct Layout {
  uint32_t code_bytes, head_bytes, offset;
  bool nibbles, halves, mins;
};
template <uint32_t Fmt>
constexpr Layout layout() {
  using P = Panel<Fmt>;
  return {P::kCodeBytes, P::kHeadBytes, P::kOffset, P::kNibbles, P::kHalves, P::kMins};
}
constexpr Layout kLayouts[kNumQuantFormats] = {layout<kP4S>(), layout<kP4M>(),  layout<kP4K>(), layout<kP8H>(),
                                               layout<kP8F>(), layout<kP8FM>(), layout<kP8G>(), layout<kP8GM>()};

void put_half(uint8_t* head, uint32_t row, float value) {
  const uint16_t half = reference::f32_to_f16(value);
  std::memcpy(head + 2 * row, &half, sizeof half);
}
void put_float(uint8_t* head, uint32_t row, float value) { std::memcpy(head + 4 * row, &value, sizeof value); }
float get_half(const uint8_t* head, uint32_t row) {
  uint16_t half = 0;
  std::memcpy(&half, head + 2 * row, sizeof half);
  return reference::f16_to_f32(half);
}
float get_float(const uint8_t* head, uint32_t row) {
  float value = 0;
  std::memcpy(&value, head + 4 * row, sizeof value);
  return value;
}

uint8_t* head_of(PanelFormat format, uint8_t* heads, uint32_t block) {
  return format == kP4K ? heads + block / 8 * 320 : heads + static_cast<uint64_t>(block) * kLayouts[format].head_bytes;
}

// Columns 32 block .. + 31 of one row; `part` is the block's place in `parts`.
void put_block(PanelFormat format, uint8_t* panel, uint8_t* heads, uint32_t block, uint32_t row, const BlockParts& parts,
               uint32_t part) {
  const Layout& l = kLayouts[format];
  const uint8_t* codes = parts.codes + 32 * part;
  uint8_t* to = panel + static_cast<uint64_t>(block) * l.code_bytes + 4 * row;
  if (l.nibbles) {
    for (uint32_t j = 0; j < 16; ++j) to[64 * (j / 4) + j % 4] = static_cast<uint8_t>(codes[j] | codes[j + 16] << 4);
  } else {
    for (uint32_t i = 0; i < 8; ++i) std::memcpy(to + 64 * i, codes + 4 * i, 4);
  }
  uint8_t* head = head_of(format, heads, block);
  if (format == kP4K) {
    put_half(head, row, parts.d);
    put_half(head + 32, row, parts.dmin);
    head[64 + block % 8 * 32 + row] = static_cast<uint8_t>(parts.scales[part]);
    head[64 + block % 8 * 32 + 16 + row] = static_cast<uint8_t>(parts.mins[part]);
  } else if (l.halves) {
    for (uint32_t half = 0; half < 2; ++half) {
      put_float(head + 64 * half, row, parts.scales[2 * part + half]);
      if (l.mins) put_float(head + 128 + 64 * half, row, parts.mins[2 * part + half]);
    }
  } else if (format == kP8F || format == kP8FM) {
    put_float(head, row, parts.scales[part]);
    if (l.mins) put_float(head + 64, row, parts.mins[part]);
  } else {
    put_half(head, row, parts.scales[part]);
    if (l.mins) put_half(head + 32, row, parts.mins[part]);
  }
}

}  // namespace

const TypeInfo* find_type(uint32_t type) {
  const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes), [=](const TypeInfo& t) { return t.type == type; });
  return found == std::end(kTypes) ? nullptr : found;
}

void PackedWeight::set_shape(const TypeInfo* type, uint32_t columns, uint32_t rows, uint32_t matrices) {
  info = type;
  num_columns = columns;
  num_rows = rows;
  num_matrices = matrices;
  num_panels = (rows + kPanelRows - 1) / kPanelRows;
  if (quantized()) {
    const Layout& l = kLayouts[type->format];
    panel_bytes = round_up(static_cast<uint64_t>(num_blocks()) * (l.code_bytes + l.head_bytes), 64);
  } else {
    panel_bytes = round_up(columns, 16) * 16 * type->block_bytes;  // columns padded with zeros, as oneDNN's BA16a16b has them
  }
}

void PackedWeight::pack(const uint8_t* tensor, uint64_t begin, uint64_t end) const {
  const uint64_t row_bytes = static_cast<uint64_t>(num_columns / info->block_columns) * info->block_bytes;
  for (uint64_t index = begin; index < end; ++index) {
    uint8_t* out = memory.data() + index * panel_bytes;
    const uint64_t matrix = index / num_panels, first_row = index % num_panels * kPanelRows;
    const uint32_t rows = static_cast<uint32_t>(std::min<uint64_t>(kPanelRows, num_rows - first_row));
    const uint8_t* from = tensor + (matrix * num_rows + first_row) * row_bytes;
    std::memset(out, 0, panel_bytes);
    if (!quantized()) {
      const uint32_t size = info->block_bytes;
      for (uint32_t r = 0; r < rows; ++r)
        for (uint64_t k = 0; k < num_columns; ++k)
          std::memcpy(out + (k * 16 + r) * size, from + r * row_bytes + k * size, size);
      continue;
    }
    uint8_t* heads = out + static_cast<uint64_t>(num_blocks()) * kLayouts[info->format].code_bytes;
    BlockParts parts;
    const uint32_t per_block = info->block_columns / kBlock;
    for (uint32_t r = 0; r < rows; ++r) {
      for (uint32_t block = 0; block < num_blocks(); block += per_block) {
        take_apart(info->type, from + r * row_bytes + static_cast<uint64_t>(block / per_block) * info->block_bytes, &parts);
        for (uint32_t part = 0; part < per_block; ++part) put_block(info->format, out, heads, block + part, r, parts, part);
      }
    }
  }
}

void PackedWeight::row_to_float(uint32_t row, float* out) const {
  uint8_t* from = memory.data() + static_cast<uint64_t>(row / kPanelRows) * panel_bytes;
  const uint32_t r = row % kPanelRows;
  if (!quantized()) {
    for (uint64_t k = 0; k < num_columns; ++k) {
      const uint64_t at = k * 16 + r;
      if (info->format == kDenseF32) out[k] = get_float(from, static_cast<uint32_t>(at));
      if (info->format == kDenseF16) out[k] = get_half(from, static_cast<uint32_t>(at));
      if (info->format == kDenseBF16) {
        uint32_t bits = 0;
        std::memcpy(reinterpret_cast<char*>(&bits) + 2, from + 2 * at, 2);
        std::memcpy(out + k, &bits, 4);
      }
    }
    return;
  }
  const PanelFormat format = info->format;
  const Layout& l = kLayouts[format];
  uint8_t* heads = from + static_cast<uint64_t>(num_blocks()) * l.code_bytes;
  for (uint32_t block = 0; block < num_blocks(); ++block) {
    const uint8_t* codes = from + static_cast<uint64_t>(block) * l.code_bytes + 4 * r;
    const uint8_t* head = head_of(format, heads, block);
    for (uint32_t half = 0; half < 2; ++half) {
      float scale = 0, min = 0;
      if (format == kP4K) {
        scale = get_half(head, r) * static_cast<float>(head[64 + block % 8 * 32 + r]);
        min = -(get_half(head + 32, r) * static_cast<float>(head[64 + block % 8 * 32 + 16 + r]));
      } else if (l.halves) {
        scale = get_float(head + 64 * half, r);
        min = l.mins ? get_float(head + 128 + 64 * half, r) : 0.0f;
      } else if (format == kP8F || format == kP8FM) {
        scale = get_float(head, r);
        min = l.mins ? get_float(head + 64, r) : 0.0f;
      } else {
        scale = get_half(head, r);
        min = l.mins ? get_half(head + 32, r) : 0.0f;
      }
      for (uint32_t j = 0; j < 16; ++j) {
        const uint32_t i = 4 * half + j / 4;
        const int code = l.nibbles ? codes[64 * (j / 4) + j % 4] >> (4 * half) & 15 : codes[64 * i + j % 4];
        const float value = scale * static_cast<float>(code - static_cast<int>(l.offset));
        *out++ = l.mins ? value + min : value;
      }
    }
  }
}

}  // namespace gainz::onednn
