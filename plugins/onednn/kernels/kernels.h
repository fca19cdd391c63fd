// The table of kernels of one instruction set, and the memory layouts that all of them share.
//
// Owner: static data. Threads: every function is pure and may run anywhere at once. No function allocates or fails. The files
// that fill the tables are compiled with flags of their instruction set, so nothing here but plain data is shared with them: an
// inline function with a body would be emitted with those flags and might be picked by the linker for everybody.
//
// Law: a result row depends on its own inputs alone. In every kernel one vector lane is one output (or one position), a sum
// runs over k or the context in rising order, and how many rows are handled together changes nothing.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace gainz::onednn {

inline constexpr uint32_t kPanelRows = 16;
inline constexpr uint32_t kBlock = 32;  // columns of one scale

// 32 activations, quantized: x = d * q with |q| <= 127, d = absmax / 127. One cache line holds all that a kernel needs.
struct ActBlock {
  int8_t q[kBlock];
  float d;
  float ds;                  // d * sum(q)
  int32_t n8, n128;          // -8 * sum(q), -128 * sum(q): what unsigned codes with that offset start from
  int32_t n128_lo, n128_hi;  // the same for the first and the last 16
  float ds_lo, ds_hi;
};
static_assert(sizeof(ActBlock) == 64);

// A weight is cut into panels of 16 rows. A panel is its codes, num_blocks * code_bytes, and then its headers. In the codes of
// a block word (i, r) of 4 bytes holds columns 4i to 4i + 3 of row r: 8 vectors of 16 rows; nibble formats hold vectors i and i
// + 4 in the low and high half of vector i, which is the order of nibbles in GGUF. Value = scale * (code - offset) + min.
enum PanelFormat : uint32_t {
  kP4S,   // offset 8:   16 f16 scales                                          Q4_0
  kP4M,   // offset 0:   16 f16 scales, 16 f16 mins                             Q4_1
  kP4K,   // offset 0:   per 256: 16 f16 d, 16 f16 dmin, 8 x (16 u8 s, 16 u8 m) Q4_K; scale d * s, min -dmin * m
  kP8H,   // offset 128: 16 f16 scales                                          Q8_0 Q5_0 IQ4_NL
  kP8F,   // offset 128: 16 f32 scales                                          IQ4_XS MXFP4
  kP8FM,  // offset 0:   16 f32 scales, 16 f32 mins; codes below 128            Q5_1 Q5_K
  kP8G,   // offset 128: 2 x 16 f32 scales, for each half of the columns        Q6_K Q3_K
  kP8GM,  // offset 0:   2 x 16 f32 scales, 2 x 16 f32 mins; codes below 128    Q2_K
  kNumQuantFormats,
  // Dense: element (k, r) at k * 16 + r.
  kDenseF32 = kNumQuantFormats,
  kDenseF16,
  kDenseBF16,
  kNumFormats
};

// y[t][0..15] = panel times x[t], plus bias[0..15] when not NULL, for t below the tile of the function.
using LinearFn = void (*)(const uint8_t* panel, uint32_t num_blocks, const ActBlock* const* x, const float* bias,
                          float* const* y);
using DenseFn = void (*)(const uint8_t* panel, uint32_t num_columns, const float* const* x, const float* bias, float* const* y);

inline constexpr uint32_t kNumTiles = 5;  // token tiles of 1, 2, 4, 8 and 16
inline constexpr uint32_t kMaxTile = 16;

// KV element types. A page of a head: K as [head_dim][16 tokens], V as [16 tokens][head_dim]. Q8_0: K per 32 dims 16 f16
// scales, then [32][16] codes; V all codes, then [16][head_dim / 32] f16 scales.
enum KvType : uint32_t { kKvF32, kKvF16, kKvQ8, kNumKvTypes };
inline constexpr uint32_t kAttentionRows = 8;     // query rows handled together
inline constexpr uint32_t kAttentionChunk = 256;  // positions that share one online softmax; chunks are folded in order
inline constexpr uint32_t kPageTokens = 16;
inline constexpr uint32_t kMaxPartColumns = 1024;  // value columns of a head

// One chunk of positions against up to kAttentionRows query rows of one KV head.
struct AttentionArgs {
  const uint8_t* k;  // page 0 of the head
  const uint8_t* v;
  uint64_t k_page_bytes, v_page_bytes;  // from page to page
  const uint32_t* page_table;
  uint32_t k_type, v_type, dk, dv;
  float scale, softcap;
  uint32_t begin, end;  // positions; begin is a multiple of kAttentionChunk, end at most begin + kAttentionChunk
  uint32_t num_rows;
  const float* q[kAttentionRows];
  uint32_t first[kAttentionRows], last[kAttentionRows];  // the visible positions [first, last) of each row
  float* o[kAttentionRows];                              // out: unnormalised sums [dv]
  float m[kAttentionRows], l[kAttentionRows];            // out: largest score, sum of weights; l 0: the row saw nothing
};

// AMX, for prompt tokens. x is laid out in token tiles: [tile of 16 tokens][block][16 tokens][32 columns] bf16, so that a token
// takes as many bytes as its ActBlocks.
inline constexpr uint32_t kTileRows = 16;
inline constexpr uint32_t kTileBytes = 1024;
inline constexpr uint32_t kTileBlocks = 24;  // of a panel that are expanded at once: two panels of them stay in the L1 cache
inline constexpr uint32_t kTileScratchBytes = 2 * kTileBlocks * kTileBytes;
struct TileLinearArgs {
  const uint8_t* panels[2];  // equal: there is one
  uint32_t num_blocks;
  uint32_t num_tiles;
  const uint8_t* x;
  uint64_t x_tile_bytes;  // from tile to tile
  uint8_t* scratch;       // [kTileScratchBytes], 64-byte aligned, as x is
  float* sums;            // out: [num_tiles rounded up to 2][16 tokens], 32 outputs each
  int64_t sum_stride;     // bytes from token to token
};
// Any prompt rows of one KV head, over all their positions. dk is a multiple of 32 and dv of 16.
inline constexpr uint32_t kTileAttentionRows = 256;
struct TileAttentionArgs {
  AttentionArgs pages;  // k to softcap of it
  uint32_t num_rows;    // at most kTileAttentionRows
  const float* const* q;
  const uint32_t *first, *last;  // as in AttentionArgs
  float* const* out;             // the finished row [dv]
  uint8_t* scratch;              // [tile_attention_bytes], 64-byte aligned
};
constexpr uint64_t tile_attention_bytes(uint64_t dk, uint64_t dv) {
  return kTileAttentionRows * dk * 2 + kAttentionChunk * (dk + dv + kTileRows) * 2 +
         (kTileRows * (kAttentionChunk + 16 + dv) + 2 * kTileAttentionRows) * sizeof(float);
}
struct TileKernels {
  void (*begin)();  // on each thread, before the others
  void (*end)();    // on each thread, when it is done
  void (*row)(const float* x, uint64_t num_columns, uint32_t row, uint8_t* tile);
  void (*linear[kNumQuantFormats])(const TileLinearArgs* args);
  void (*attend)(const TileAttentionArgs* args);
};

struct Kernels {
  const char* isa;
  LinearFn linear[kNumQuantFormats][kNumTiles];  // NULL: not offered, use a smaller tile
  DenseFn dense[kNumFormats - kNumQuantFormats][kNumTiles];

  void (*quantize)(const float* x, uint64_t num_columns, ActBlock* out);  // columns a multiple of 32; NaN gives d NaN
  void (*rmsnorm)(const float* x, const float* w, uint64_t n, float epsilon, float* y);                    // w may be NULL
  void (*layernorm)(const float* x, const float* w, const float* b, uint64_t n, float epsilon, float* y);  // w, b may be NULL
  void (*add)(const float* a, const float* b, uint64_t n, float* y);
  void (*mul)(const float* a, const float* b, uint64_t n, float* y);
  void (*scale)(const float* x, float factor, uint64_t n, float* y);
  void (*axpy)(const float* x, float factor, uint64_t n, float* y);  // y += factor * x
  void (*softcap)(const float* x, float cap, uint64_t n, float* y);
  void (*activation)(uint32_t kind, const float* x, uint64_t n, float* y);  // not GELU_ERF
  // One head: pairs (i, i + half) or (2i, 2i + 1); x and y may be one.
  void (*rope_halves)(const float* x, const float* cosine, const float* sine, uint32_t half, float* y);
  void (*rope_pairs)(const float* x, const float* cosine, const float* sine, uint32_t half, float* y);
  void (*to_f16)(const float* x, uint64_t n, uint16_t* y);
  void (*softmax)(const float* x, uint64_t n, float* y);
  float (*max)(const float* x, uint64_t n);
  void (*attend)(AttentionArgs* args);
  // (o, m, l) becomes the fold of itself and a later chunk; both not empty.
  void (*attention_fold)(float* o, float* m, float* l, const float* o2, float m2, float l2, uint32_t dv);
  const TileKernels* tiles;  // NULL: prompt tokens run on the kernels above
};

const Kernels* scalar_kernels();
#if defined(__x86_64__)
const Kernels* avx2_kernels();
const Kernels* avx_vnni_kernels();
const Kernels* avx512_vnni_kernels();
const Kernels* amx_kernels();
#endif

}  // namespace gainz::onednn
