// For tests of kernels: the tables of this machine, weights packed from random blocks, quantized activations and their exact
// products.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "cpu.h"
#include "reference/dequantize.h"
#include "support/plugin_harness.h"
#include "weights.h"

namespace gainz::onednn::test {

using gainz::test::GraphBuilder;
using gainz::test::TestHost;

inline std::vector<const Kernels*> tables() {
  std::vector<const Kernels*> found;
  for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvxVnni, Isa::kAvx512Vnni, Isa::kAmx}) {
    if (supports(isa)) {
      found.push_back(kernels_of(isa));
    } else {
      std::printf("left out: this machine lacks instruction set %u of cpu.h\n", static_cast<unsigned>(isa));
    }
  }
  return found;
}

inline const std::vector<uint32_t> kQuantTypes = {
    GAINZ_TYPE_Q4_0, GAINZ_TYPE_Q4_1, GAINZ_TYPE_Q5_0, GAINZ_TYPE_Q5_1,   GAINZ_TYPE_Q8_0,   GAINZ_TYPE_Q2_K, GAINZ_TYPE_Q3_K,
    GAINZ_TYPE_Q4_K, GAINZ_TYPE_Q5_K, GAINZ_TYPE_Q6_K, GAINZ_TYPE_IQ4_NL, GAINZ_TYPE_IQ4_XS, GAINZ_TYPE_MXFP4};

// A weight of random blocks, in GGUF order, in f32 and packed.
struct TestWeight {
  PackedWeight packed;
  std::vector<uint8_t> bytes;
  std::vector<float> values;  // [matrices * rows, columns]

  TestWeight(const TestHost& host, uint32_t type, uint32_t columns, uint32_t rows, uint32_t matrices,
             std::vector<uint8_t> blocks)
      : bytes(std::move(blocks)), values(static_cast<size_t>(columns) * rows * matrices) {
    packed.set_shape(find_type(type), columns, rows, matrices);
    if (!packed.memory.allocate(*host.get(), packed.size_bytes(), "a test").ok()) throw std::bad_alloc();
    packed.pack(bytes.data(), 0, static_cast<uint64_t>(packed.num_panels) * matrices);
    reference::dequantize_row(type, bytes.data(), values.data(), values.size());
  }
  TestWeight(const TestHost& host, uint32_t type, uint32_t columns, uint32_t rows, uint32_t matrices = 1)
      : TestWeight(host, type, columns, rows, matrices, random_blocks(type, columns, rows, matrices)) {}

  static std::vector<uint8_t> random_blocks(uint32_t type, uint64_t columns, uint64_t rows, uint64_t matrices) {
    GraphBuilder graph;
    return graph.weight_bytes(graph.random_weight("w", type, {columns, rows, matrices}, 1.0f));
  }
};

inline std::vector<float> random_floats(size_t n, uint32_t seed, float scale = 1.0f) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 1);
  std::vector<float> out(n);
  for (float& x : out) x = scale * normal(random);
  return out;
}

}  // namespace gainz::onednn::test
