// Panels times tokens with AMX: bf16 tiles, f32 sums. For prompt tokens.
//
//   y[t] = sum over k of bf16(w[k]) * bf16(x[t][k]), pairs of k in rising order, f32 in the tile (Intel SDM, TDPBF16PS:
//   products and sums round to nearest even, denormals are zero)
//
// Two panels (32 outputs) against two tiles of 16 tokens: four sums stay in registers over a chunk of k. The panels of a chunk
// are expanded to bf16 once for all tokens; between chunks the sums wait in memory, unchanged. A row of a tile product depends
// on its own row of x alone. Needs F; local to the file.
#pragma once

#include "kernels/scales.h"

namespace gainz::onednn {
namespace {

// 16 rows of 64 bytes in each of the eight tiles. The instruction is written out because g++ 12 believes that the intrinsic
// reads 8 bytes, and drops the stores to the others.
void tiles_begin() {
  struct alignas(64) Config {
    uint8_t palette = 1, start_row = 0, reserved[14] = {};
    uint16_t bytes_per_row[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  };
  static_assert(sizeof(Config) == 64);
  const Config config;
  asm volatile("ldtilecfg %0" : : "m"(config));
}

// Threads that keep tile state pay for it whenever they are switched.
void tiles_end() { asm volatile("tilerelease"); }

// Columns 4i .. 4i + 3 of 16 rows, as the two rows of a tile that hold the pairs (4i, 4i + 1) and (4i + 2, 4i + 3).
inline void expand(__m512i codes, F scale, F low, uint8_t* tile) {
  // Takes the low halves of both operands of cvtne2ps (b first) to even places, the others to odd ones.
  alignas(64) static constexpr uint16_t kInterleave[32] = {0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
                                                           8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  const __m512i byte = _mm512_set1_epi32(255), interleave = _mm512_load_si512(kInterleave);
  const F a = _mm512_fmadd_ps(_mm512_cvtepi32_ps(_mm512_and_si512(codes, byte)), scale, low);
  const F b = _mm512_fmadd_ps(_mm512_cvtepi32_ps(_mm512_and_si512(_mm512_srli_epi32(codes, 8), byte)), scale, low);
  const F c = _mm512_fmadd_ps(_mm512_cvtepi32_ps(_mm512_and_si512(_mm512_srli_epi32(codes, 16), byte)), scale, low);
  const F d = _mm512_fmadd_ps(_mm512_cvtepi32_ps(_mm512_srli_epi32(codes, 24)), scale, low);
  _mm512_store_si512(tile, _mm512_permutexvar_epi16(interleave, (__m512i)_mm512_cvtne2ps_pbh(b, a)));
  _mm512_store_si512(tile + 64, _mm512_permutexvar_epi16(interleave, (__m512i)_mm512_cvtne2ps_pbh(d, c)));
}

// Blocks [first, last) of a panel as tiles of [16 pairs of columns][16 rows][2] bf16, one after the other.
template <uint32_t Fmt>
void expand_panel(const uint8_t* panel, uint32_t num_blocks, uint32_t first, uint32_t last, uint8_t* tiles) {
  using P = Panel<Fmt>;
  const uint8_t* heads = panel + static_cast<uint64_t>(num_blocks) * P::kCodeBytes;
  for (uint32_t b = first; b < last; ++b, tiles += kTileBytes) {
    const uint8_t* codes = panel + static_cast<uint64_t>(b) * P::kCodeBytes;
    const uint8_t* head = P::head(heads, b);
    _mm_prefetch(reinterpret_cast<const char*>(codes + 4096), _MM_HINT_T0);
    F scale[2], low[2];
    for (uint32_t half = 0; half < 2; ++half) {
      scale[half] = scale_of<Fmt>(head, b, P::kHalves ? half : 0, 0);
      if constexpr (P::kMins) {
        low[half] = min_of<Fmt>(head, b, P::kHalves ? half : 0, 0);
      } else {
        low[half] = mul(scale[half], set1(-static_cast<float>(P::kOffset)));  // exact: a power of two
      }
    }
    const __m512i nibble = _mm512_set1_epi8(15);
    for (uint32_t i = 0; i < 8; ++i) {
      __m512i v = _mm512_loadu_si512(codes + 64 * (P::kNibbles ? i % 4 : i));
      if constexpr (P::kNibbles) v = _mm512_and_si512(i < 4 ? v : _mm512_srli_epi16(v, 4), nibble);
      expand(v, scale[i / 4], low[i / 4], tiles + 128 * i);
    }
  }
}

// Two panels' tiles against two token tiles; b0 and b1 go from block to block by kTileBytes, so do a0 and a1.
inline void multiply(const uint8_t* a0, const uint8_t* a1, const uint8_t* b0, const uint8_t* b1, uint32_t num_blocks,
                     bool continues, float* sums, int64_t stride) {
  float* sums1 = sums + 16 * stride / static_cast<int64_t>(sizeof(float));
  if (continues) {
    _tile_loadd(0, sums, stride);
    _tile_loadd(1, sums + 16, stride);
    _tile_loadd(2, sums1, stride);
    _tile_loadd(3, sums1 + 16, stride);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  for (uint32_t b = 0; b < num_blocks; ++b) {
    _tile_loadd(4, a0 + b * kTileBytes, 64);
    _tile_loadd(6, b0 + b * kTileBytes, 64);
    _tile_loadd(7, b1 + b * kTileBytes, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, a1 + b * kTileBytes, 64);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, sums, stride);
  _tile_stored(1, sums + 16, stride);
  _tile_stored(2, sums1, stride);
  _tile_stored(3, sums1 + 16, stride);
}

template <uint32_t Fmt>
void tile_linear(const TileLinearArgs* args) {
  const TileLinearArgs& a = *args;
  for (uint32_t first = 0; first < a.num_blocks; first += kTileBlocks) {
    const uint32_t last = first + kTileBlocks < a.num_blocks ? first + kTileBlocks : a.num_blocks;
    uint8_t* b0 = a.scratch;
    uint8_t* b1 = a.panels[0] == a.panels[1] ? b0 : b0 + kTileBlocks * kTileBytes;
    expand_panel<Fmt>(a.panels[0], a.num_blocks, first, last, b0);
    if (b1 != b0) expand_panel<Fmt>(a.panels[1], a.num_blocks, first, last, b1);
    for (uint32_t t = 0; t < a.num_tiles; t += 2) {
      const uint8_t* a0 = a.x + t * a.x_tile_bytes + first * kTileBytes;
      const uint8_t* a1 = t + 1 < a.num_tiles ? a0 + a.x_tile_bytes : a0;  // an odd one is done twice
      multiply(a0, a1, b0, b1, last - first, first != 0, a.sums + t * 16 * (a.sum_stride / static_cast<int64_t>(sizeof(float))),
               a.sum_stride);
    }
  }
}

// Row `row` (0 to 15) of a token tile: blocks of 32 columns, each a tile apart.
void row_to_tile(const float* x, uint64_t num_columns, uint32_t row, uint8_t* tile) {
  for (uint64_t k = 0; k < num_columns; k += kBlock) {
    const __m512i both = (__m512i)_mm512_cvtne2ps_pbh(load(x + k + 16), load(x + k));
    _mm512_store_si512(tile + k / kBlock * kTileBytes + 64 * row, both);
  }
}

}  // namespace
}  // namespace gainz::onednn
