// A backend to copy. Its own kernel is LINEAR on F32 and Q8_0 weights; every other node goes to the SDK's scalar kernels.
// To claim LINEAR alone, let supports() return is_mine(node): the host then runs the rest, or refuses, as its user chose.
//
// P is the folder in which the SDK is installed:
//   g++ -std=c++20 -O3 -ffp-contract=off -fPIC -shared -fvisibility=hidden -I$P/include my_plugin.cc -o my_plugin.so \
//       -L$P/lib -lgainz_simple_backend -lgainz_sdk_reference -Wl,--exclude-libs,ALL
// Then put my_plugin.so and my_plugin.plugin.toml into one folder and name it to gainz.
#include <cstring>

#include "gainz/sdk/reference/dot.h"
#include "gainz/sdk/reference/half.h"
#include "gainz/sdk/simple_backend.h"

namespace {

using gainz::sdk::Compute;
using gainz::sdk::Node;

constexpr uint64_t kQ8Values = 32;  // of a Q8_0 block
constexpr uint64_t kQ8Bytes = 34;   // d as f16, then 32 signed codes

bool is_mine(const Node& node) {
  return node.op == GAINZ_OP_LINEAR && (node.input(1).type == GAINZ_TYPE_F32 || node.input(1).type == GAINZ_TYPE_Q8_0);
}

// [dot]
// x . w in f32 for one row of Q8_0 blocks: each block's sum, times its scale, added in rising order. The order depends on the
// row alone, so a token's bits do not depend on what shares its batch.
float dot_q8_0(const float* x, const uint8_t* w, uint64_t k) {
  float total = 0.0f;
  for (uint64_t b = 0; b < k / kQ8Values; ++b, x += kQ8Values, w += kQ8Bytes) {
    uint16_t d = 0;
    std::memcpy(&d, w, sizeof d);
    float codes[kQ8Values];
    for (uint64_t i = 0; i < kQ8Values; ++i) codes[i] = static_cast<float>(static_cast<int8_t>(w[2 + i]));
    total += gainz::reference::f16_to_f32(d) * gainz::reference::dot(x, codes, kQ8Values);
  }
  return total;
}
// [/dot]

struct MyBackend : gainz::sdk::SimpleBackend {
  static constexpr gainz::sdk::PluginInfo kInfo{.name = "my_plugin",
                                                .version = "0.1.0",
                                                .vendor = "me",
                                                .device_name = "CPU (my plugin)",
                                                .isa = "scalar",
                                                .identity = "my_plugin 0.1.0"};

  // [supports]
  bool supports(const Node& node) const override { return is_mine(node) || gainz::sdk::reference_supports(node); }

  uint64_t scratch_bytes(const Node& node, const gainz_bucket& bucket) const override {
    return is_mine(node) ? 0 : gainz::sdk::reference_scratch_bytes(node, bucket);
  }

  void compute(const Node& node, Compute& c) const override {
    if (is_mine(node)) {
      linear(c);
    } else {
      gainz::sdk::reference_compute(node, c);
    }
  }
  // [/supports]

  // [linear]
  // out[rows, N] = x[rows, K] w[N, K] transposed, plus bias[N]
  static void linear(Compute& c) {
    const gainz::sdk::Weight w = c.weight(1);
    const float* x = c.input(0);
    const float* bias = c.input(2);  // nullptr where there is none
    float* out = c.output(0);
    const uint64_t row_bytes = w.type == GAINZ_TYPE_F32 ? w.k * sizeof(float) : w.k / kQ8Values * kQ8Bytes;
    c.parallel_for(w.n, 16, [&](uint64_t begin, uint64_t end, uint32_t /*worker*/) {
      for (uint64_t n = begin; n < end; ++n) {
        const uint8_t* row = static_cast<const uint8_t*>(w.data) + n * row_bytes;
        for (uint64_t r = 0; r < c.rows(); ++r) {
          const float* x_row = x + r * w.k;
          const float product = w.type == GAINZ_TYPE_F32
                                    ? gainz::reference::dot(x_row, reinterpret_cast<const float*>(row), w.k)
                                    : dot_q8_0(x_row, row, w.k);
          out[r * w.n + n] = bias != nullptr ? product + bias[n] : product;
        }
      }
    });
  }
  // [/linear]
};

}  // namespace

GAINZ_SIMPLE_PLUGIN(MyBackend)
