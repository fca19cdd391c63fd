// Gumbel noise from a counter-based generator: a pure function of (seed, position, token id). No state, so a token drawn alone,
// in a batch, after a replay or by speculation sees the same noise.
//
// Construction. mix() is the finalizer of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
// OOPSLA 2014, with Stafford's variant 13 constants), a bijection of 64 bits; gamma is its golden-ratio increment.
//   row key = mix(mix(seed + gamma) + position)              distinct for every position of a seed
//   word    = mix(row key + (id + 1) * gamma)                number id of the SplitMix64 stream that starts at the row key
//   v       = ((word >> 12) + 1/2) * 2^-52                   in (0, 1), never an end
//   noise   = -log(-log(1 - v))                              Gumbel(0, 1), finest where it is largest
// The arg-max of log-probability plus this noise is a draw from the distribution (Gumbel-max trick; Maddison, Tarlow, Minka,
// "A* sampling", NIPS 2014). The logarithms are portable_math.h's, so all machines agree on every bit. Any thread.
#pragma once

#include <bit>
#include <cstdint>

#include "sampler/portable_math.h"

namespace gainz {

class GumbelRow {
 public:
  GumbelRow(uint64_t seed, uint64_t position) : key_(mix(mix(seed + kGamma) + position)) {}

  static constexpr double kMaxNoise = 53 * kLn2 + 1e-9;  // no noise is larger

  uint64_t word(int32_t id) const { return mix(key_ + (static_cast<uint64_t>(id) + 1) * kGamma); }
  static double noise(uint64_t word) {
    const double v = (static_cast<double>(word >> 12) + 0.5) * 0x1p-52;
    return -portable_log(portable_minus_log1m(v));
  }
  // Not less than noise(word), and cheap: -log(1 - v) >= v >= 2^-(leading zeros + 1).
  static double noise_bound(uint64_t word) { return (std::countl_zero(word | (uint64_t{1} << 11)) + 1) * kLn2 + 1e-9; }
  double noise_of(int32_t id) const { return noise(word(id)); }

 private:
  static constexpr uint64_t kGamma = 0x9e3779b97f4a7c15;
  static constexpr uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  uint64_t key_;
};

}  // namespace gainz
