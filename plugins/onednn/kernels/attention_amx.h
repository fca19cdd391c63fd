// Attention of many prompt rows of one KV head with AMX: bf16 tiles, f32 sums, softmax in f32.
//
//   chunk by chunk of positions, as in attention.h: s = q K' and o = e V on tiles, e rounded to bf16; chunks folded in rising
//   order
//
// Keys and values of a chunk are brought to tiles once for all rows; then 16 rows at a time. Hidden positions have weight 0
// and, where no row sees them, value 0, so that a row's bits depend on its context alone and not on the rows beside it. Needs
// F, attention.h and linear_amx.h; local to the file.
#pragma once

#include "kernels/attention.h"
#include "kernels/linear_amx.h"

namespace gainz::onednn {
namespace {

constexpr uint32_t kScoreStride = kAttentionChunk + 16;  // floats; no power of two, whose rows would share cache sets
constexpr uint32_t kPairColumns = 32;                    // of a tile with pairs

// Where things are in the scratch; each part a multiple of 64 bytes.
struct AttentionRoom {
  uint8_t *q, *k, *v, *p;  // tiles: [row tile][dk / 32], [page][dk / 32], [two pages][dv / 16], [two pages]
  float *s, *o;            // [16 rows][kScoreStride], [16 rows][dv]
  float *m, *l;            // [rows]; l 0: nothing seen yet
};

inline AttentionRoom room_of(const TileAttentionArgs& a) {
  const uint64_t dk = a.pages.dk, dv = a.pages.dv;
  AttentionRoom room;
  room.q = a.scratch;
  room.k = room.q + kTileAttentionRows * dk * 2;
  room.v = room.k + kAttentionChunk * dk * 2;
  room.p = room.v + kAttentionChunk * dv * 2;
  room.s = reinterpret_cast<float*>(room.p + kAttentionChunk * kTileRows * 2);
  room.o = room.s + kTileRows * kScoreStride;
  room.m = room.o + kTileRows * dv;
  room.l = room.m + kTileAttentionRows;
  return room;
}

// Lanes a0 b0 a1 b1 ... as bf16.
inline void store_pairs_bf16(uint8_t* to, F a, F b) {
  alignas(64) static constexpr uint16_t kInterleave[32] = {0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
                                                           8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  _mm512_store_si512(to, _mm512_permutexvar_epi16(_mm512_load_si512(kInterleave), (__m512i)_mm512_cvtne2ps_pbh(b, a)));
}

template <uint32_t Kt>
void keys_to_tiles(const AttentionArgs& a, uint8_t* tiles) {
  for (uint32_t p = a.begin; p < a.end; p += kPageTokens) {
    const uint8_t* page = a.k + a.page_table[p / kPageTokens] * a.k_page_bytes;
    for (uint32_t d0 = 0; d0 < a.dk; d0 += kPairColumns, tiles += kTileBytes) {
      F scale{};
      if constexpr (Kt == kKvQ8) scale = load_f16(reinterpret_cast<const uint16_t*>(page + d0 / 32 * 544));
      for (uint32_t i = 0; i < kTileRows; ++i) {
        F x = k_vector<Kt>(page, d0 + 2 * i, 0), y = k_vector<Kt>(page, d0 + 2 * i + 1, 0);
        if constexpr (Kt == kKvQ8) x = mul(x, scale), y = mul(y, scale);
        store_pairs_bf16(tiles + 64 * i, x, y);
      }
    }
  }
}

// Positions outside of [first, a.end) become 0.
template <uint32_t Vt>
void values_to_tiles(const AttentionArgs& a, uint32_t first, uint8_t* tiles) {
  const auto value = [&](uint32_t p, uint32_t d) {
    if (p < first || p >= a.end) return set1(0);
    return v_vector<Vt>(a, a.v + a.page_table[p / kPageTokens] * a.v_page_bytes, p % kPageTokens, d, W);
  };
  for (uint32_t p = a.begin; p < a.end; p += kPairColumns) {
    for (uint32_t d = 0; d < a.dv; d += W, tiles += kTileBytes) {
      for (uint32_t i = 0; i < kTileRows; ++i) store_pairs_bf16(tiles + 64 * i, value(p + 2 * i, d), value(p + 2 * i + 1, d));
    }
  }
}

// Scores of 16 rows against num_pages pages of the chunk, four pages at a time; what lies behind the last page is not used.
void tile_scores(const uint8_t* q, const uint8_t* k, uint32_t num_blocks, uint32_t num_pages, float* s) {
  constexpr int kBytes = kScoreStride * sizeof(float);
  const uint64_t page_bytes = uint64_t{num_blocks} * kTileBytes;
  for (uint32_t page = 0; page < num_pages; page += 4, k += 4 * page_bytes, s += 4 * kPageTokens) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (uint32_t b = 0; b < num_blocks; ++b) {
      const uint8_t* at = k + b * kTileBytes;
      _tile_loadd(4, q + b * kTileBytes, 64);
      _tile_loadd(5, at, 64);
      _tile_dpbf16ps(0, 4, 5);
      _tile_loadd(6, at + page_bytes, 64);
      _tile_dpbf16ps(1, 4, 6);
      _tile_loadd(7, at + 2 * page_bytes, 64);
      _tile_dpbf16ps(2, 4, 7);
      _tile_loadd(5, at + 3 * page_bytes, 64);
      _tile_dpbf16ps(3, 4, 5);
    }
    _tile_stored(0, s, kBytes);
    _tile_stored(1, s + 16, kBytes);
    _tile_stored(2, s + 32, kBytes);
    _tile_stored(3, s + 48, kBytes);
  }
}

// o[16][dv] = p times v over num_blocks blocks of 32 positions.
void tile_sums(const uint8_t* p, const uint8_t* v, uint32_t num_blocks, uint32_t dv, float* o) {
  const auto bytes = static_cast<int>(dv * sizeof(float));
  const uint64_t block_bytes = uint64_t{dv} / W * kTileBytes;
  uint32_t d = 0;
  for (; d + 64 <= dv; d += 64) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (uint32_t b = 0; b < num_blocks; ++b) {
      const uint8_t* at = v + b * block_bytes + d / W * kTileBytes;
      _tile_loadd(4, p + b * kTileBytes, 64);
      _tile_loadd(5, at, 64);
      _tile_dpbf16ps(0, 4, 5);
      _tile_loadd(6, at + kTileBytes, 64);
      _tile_dpbf16ps(1, 4, 6);
      _tile_loadd(7, at + 2 * kTileBytes, 64);
      _tile_dpbf16ps(2, 4, 7);
      _tile_loadd(5, at + 3 * kTileBytes, 64);
      _tile_dpbf16ps(3, 4, 5);
    }
    _tile_stored(0, o + d, bytes);
    _tile_stored(1, o + d + 16, bytes);
    _tile_stored(2, o + d + 32, bytes);
    _tile_stored(3, o + d + 48, bytes);
  }
  for (; d < dv; d += W) {
    _tile_zero(0);
    for (uint32_t b = 0; b < num_blocks; ++b) {
      _tile_loadd(4, p + b * kTileBytes, 64);
      _tile_loadd(5, v + b * block_bytes + d / W * kTileBytes, 64);
      _tile_dpbf16ps(0, 4, 5);
    }
    _tile_stored(0, o + d, bytes);
  }
}

// 2^x to 5e-5, more than a weight of 8 bits needs; 0 below -150, NaN stays.
inline F exp2_of(F x) {
  x = max(set1(-150.0f), x);
  const F n = round(x), r = sub(x, n);
  F p = set1(9.6181291e-3f);  // ln(2)^k / k!
  p = fma(p, r, set1(5.5504109e-2f));
  p = fma(p, r, set1(0.24022651f));
  p = fma(p, r, set1(0.69314718f));
  p = fma(p, r, set1(1.0f));
  return times_2n(p, n);
}

// A row's scores to weights: bf16 into its row of the tiles p, num_blocks of 32 positions. *m is the largest score, in units of
// ln 2.
inline void tile_weights(const AttentionArgs& a, uint32_t num_blocks, int32_t first, int32_t last, float* s, uint8_t* p,
                         float* m, float* l) {
  constexpr float kLog2E = 1.44269504f;
  const F hidden = set1(-__builtin_inff());
  F factor = set1(a.scale * kLog2E), top = set1(-1e30f);
  for (int32_t i = 0; i < static_cast<int32_t>(num_blocks * kPairColumns); i += W) {
    F x = load(s + i);
    if (a.softcap != 0) x = mul(set1(a.softcap * kLog2E), tanh_of(div(mul(x, set1(a.scale)), set1(a.softcap))));
    const bool all_seen = i >= first && i + static_cast<int32_t>(W) <= last;
    if (!all_seen) x = keep_lanes(x, i, first, last, hidden);
    if (!all_seen || a.softcap != 0) store(s + i, x);
    top = max(top, a.softcap != 0 ? x : mul(x, factor));
  }
  if (a.softcap != 0) factor = set1(1);
  *m = hmax(top);
  const F best = set1(-*m);
  F sum = set1(0);
  for (uint32_t b = 0; b < num_blocks; ++b) {
    const F x = exp2_of(fma(load(s + b * kPairColumns), factor, best)),
            y = exp2_of(fma(load(s + b * kPairColumns + W), factor, best));
    sum = add(add(sum, x), y);
    _mm512_store_si512(p + b * kTileBytes, (__m512i)_mm512_cvtne2ps_pbh(y, x));
  }
  *l = hsum(sum);
}

// A row's result over one more chunk.
inline void tile_fold(float* out, float* m, float* l, const float* o, float m2, float l2, uint32_t dv) {
  if (*l == 0) {
    for (uint32_t d = 0; d < dv; d += W) store(out + d, load(o + d));
    *m = m2;
    *l = l2;
    return;
  }
  const float top = *m > m2 ? *m : m2;
  alignas(64) float pair[W] = {*m - top, m2 - top};
  store(pair, exp2_of(load(pair)));
  const F a = set1(pair[0]), b = set1(pair[1]);
  for (uint32_t d = 0; d < dv; d += W) store(out + d, fma(load(o + d), b, mul(load(out + d), a)));
  *l = *l * pair[0] + l2 * pair[1];
  *m = top;
}

// Rows [row, row + 16) over the chunk [begin, end) of `chunk`.
void tile_attend_rows(const TileAttentionArgs& a, const AttentionArgs& chunk, const AttentionRoom& room, uint32_t row) {
  const uint32_t rows = a.num_rows - row < kTileRows ? a.num_rows - row : kTileRows, num_blocks = chunk.dk / kPairColumns;
  uint32_t end = chunk.begin;
  for (uint32_t i = 0; i < rows; ++i) end = a.last[row + i] > end ? a.last[row + i] : end;
  end = end < chunk.end ? end : chunk.end;
  if (end == chunk.begin) return;
  const uint32_t num_positions = end - chunk.begin, num_pairs = (num_positions + kPairColumns - 1) / kPairColumns;
  tile_scores(room.q + row * chunk.dk * 2ull, room.k, num_blocks, 2 * num_pairs, room.s);
  float m[kTileRows], l[kTileRows];
  for (uint32_t i = 0; i < kTileRows; ++i) {
    uint8_t* p = room.p + 64 * i;
    const bool sees = i < rows && a.last[row + i] > chunk.begin && a.first[row + i] < end;
    l[i] = 0;
    if (sees) {
      tile_weights(chunk, num_pairs, static_cast<int32_t>(a.first[row + i]) - static_cast<int32_t>(chunk.begin),
                   static_cast<int32_t>(a.last[row + i]) - static_cast<int32_t>(chunk.begin), room.s + i * kScoreStride, p,
                   &m[i], &l[i]);
    } else {
      for (uint32_t b = 0; b < num_pairs; ++b) _mm512_store_si512(p + b * kTileBytes, _mm512_setzero_si512());
    }
  }
  tile_sums(room.p, room.v, num_pairs, chunk.dv, room.o);
  for (uint32_t i = 0; i < rows; ++i) {
    if (l[i] != 0) tile_fold(a.out[row + i], &room.m[row + i], &room.l[row + i], room.o + i * chunk.dv, m[i], l[i], chunk.dv);
  }
}

void tile_attend(const TileAttentionArgs* args) {
  using KeysFn = void (*)(const AttentionArgs&, uint8_t*);
  using ValuesFn = void (*)(const AttentionArgs&, uint32_t, uint8_t*);
  static constexpr KeysFn kKeys[kNumKvTypes] = {keys_to_tiles<kKvF32>, keys_to_tiles<kKvF16>, keys_to_tiles<kKvQ8>};
  static constexpr ValuesFn kValues[kNumKvTypes] = {values_to_tiles<kKvF32>, values_to_tiles<kKvF16>, values_to_tiles<kKvQ8>};
  const TileAttentionArgs& a = *args;
  const AttentionRoom room = room_of(a);
  AttentionArgs chunk = a.pages;
  uint32_t first = UINT32_MAX, last = 0;
  const uint64_t q_tile_bytes = chunk.dk / kPairColumns * uint64_t{kTileBytes};
  for (uint32_t r = 0; r < (a.num_rows + kTileRows - 1) / kTileRows * kTileRows; ++r) {
    uint8_t* tile = room.q + r / kTileRows * q_tile_bytes;
    if (r < a.num_rows) {
      row_to_tile(a.q[r], chunk.dk, r % kTileRows, tile);
      first = a.first[r] < first ? a.first[r] : first;
      last = a.last[r] > last ? a.last[r] : last;
      room.l[r] = 0;
    } else {
      for (uint32_t b = 0; b < chunk.dk / kPairColumns; ++b)
        _mm512_store_si512(tile + b * kTileBytes + r % kTileRows * 64, _mm512_setzero_si512());
    }
  }
  for (uint32_t begin = first / kAttentionChunk * kAttentionChunk; begin < last; begin += kAttentionChunk) {
    chunk.begin = begin;
    chunk.end = begin + kAttentionChunk < last ? begin + kAttentionChunk : last;
    kKeys[chunk.k_type](chunk, room.k);
    kValues[chunk.v_type](chunk, first, room.v);
    for (uint32_t r = 0; r < a.num_rows; r += kTileRows) tile_attend_rows(a, chunk, room, r);
  }
  for (uint32_t r = 0; r < a.num_rows; ++r) {
    const F inverse = set1(1.0f / room.l[r]);
    for (uint32_t d = 0; d < chunk.dv; d += W) store(a.out[r] + d, mul(load(a.out[r] + d), inverse));
  }
}

constexpr TileKernels kTileKernels = {
    .begin = tiles_begin,
    .end = tiles_end,
    .row = row_to_tile,
    .linear = {tile_linear<kP4S>, tile_linear<kP4M>, tile_linear<kP4K>, tile_linear<kP8H>, tile_linear<kP8F>,
               tile_linear<kP8FM>, tile_linear<kP8G>, tile_linear<kP8GM>},
    .attend = tile_attend,
};

}  // namespace
}  // namespace gainz::onednn
