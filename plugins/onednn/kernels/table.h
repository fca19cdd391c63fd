// The table of one instruction set from the kernels above it; last include of an isa_*.cc.
#pragma once

#include "kernels/attention.h"
#include "kernels/dense.h"

namespace gainz::onednn {
namespace {

constexpr Kernels make_table(const char* isa, const TileKernels* tiles = nullptr) {
  return Kernels{
      .isa = isa,
      .linear = {GAINZ_LINEAR(kP4S), GAINZ_LINEAR(kP4M), GAINZ_LINEAR(kP4K), GAINZ_LINEAR(kP8H), GAINZ_LINEAR(kP8F),
                 GAINZ_LINEAR(kP8FM), GAINZ_LINEAR(kP8G), GAINZ_LINEAR(kP8GM)},
      .dense = {GAINZ_DENSE(kDenseF32), GAINZ_DENSE(kDenseF16), GAINZ_DENSE(kDenseBF16)},
      .quantize = quantize,
      .rmsnorm = rmsnorm,
      .layernorm = layernorm,
      .add = add_rows,
      .mul = mul_rows,
      .scale = scale_row,
      .axpy = axpy,
      .softcap = softcap,
      .activation = activation,
      .rope_halves = rope_halves,
      .rope_pairs = rope_pairs,
      .to_f16 = to_f16,
      .softmax = softmax,
      .max = max_of,
      .attend = attend,
      .attention_fold = attention_fold,
      .tiles = tiles,
  };
}

}  // namespace
}  // namespace gainz::onednn
