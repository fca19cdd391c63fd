// F: 8 floats in plain C++, for any CPU. Everything is local to the including file.
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

namespace gainz::onednn {
namespace {

constexpr uint32_t W = 8;
struct F {
  float v[W];
};

template <class Op>
inline F each(Op op) {
  F r;
  for (uint32_t i = 0; i < W; ++i) r.v[i] = op(i);
  return r;
}
inline F set1(float x) {
  return each([=](uint32_t) { return x; });
}
inline F load_n(const float* p, uint64_t n) {
  F r = set1(0);
  for (uint64_t i = 0; i < n; ++i) r.v[i] = p[i];
  return r;
}
inline F load(const float* p) { return load_n(p, W); }
inline void store_n(float* p, const F& x, uint64_t n) {
  for (uint64_t i = 0; i < n; ++i) p[i] = x.v[i];
}
inline void store(float* p, const F& x) { store_n(p, x, W); }
inline F add(const F& a, const F& b) {
  return each([&](uint32_t i) { return a.v[i] + b.v[i]; });
}
inline F sub(const F& a, const F& b) {
  return each([&](uint32_t i) { return a.v[i] - b.v[i]; });
}
inline F mul(const F& a, const F& b) {
  return each([&](uint32_t i) { return a.v[i] * b.v[i]; });
}
inline F div(const F& a, const F& b) {
  return each([&](uint32_t i) { return a.v[i] / b.v[i]; });
}
inline F fma(const F& a, const F& b, const F& c) {
  return each([&](uint32_t i) { return c.v[i] + a.v[i] * b.v[i]; });
}
inline F fnma(const F& a, const F& b, const F& c) {
  return each([&](uint32_t i) { return c.v[i] - a.v[i] * b.v[i]; });
}
inline F max(const F& a, const F& b) {
  return each([&](uint32_t i) { return a.v[i] > b.v[i] ? a.v[i] : b.v[i]; });
}
inline F min(const F& a, const F& b) {
  return each([&](uint32_t i) { return a.v[i] < b.v[i] ? a.v[i] : b.v[i]; });
}
inline F abs(const F& a) {
  return each([&](uint32_t i) { return fabsf(a.v[i]); });
}
inline F round(const F& a) {
  return each([&](uint32_t i) { return nearbyintf(a.v[i]); });
}
inline F select_lt(const F& a, const F& b, const F& x, const F& y) {
  return each([&](uint32_t i) { return a.v[i] < b.v[i] ? x.v[i] : y.v[i]; });
}
inline float power_of_2(int32_t n) {
  const uint32_t bits = static_cast<uint32_t>(n + 127) << 23;
  float r;
  memcpy(&r, &bits, sizeof r);
  return r;
}
inline F times_2n(const F& x, const F& n) {  // NaN in n comes with NaN in x; the power is then any
  return each([&](uint32_t i) {
    const int32_t whole = n.v[i] >= -252.0f && n.v[i] <= 252.0f ? static_cast<int32_t>(n.v[i]) : 0, half = whole >> 1;
    return x.v[i] * power_of_2(half) * power_of_2(whole - half);
  });
}
inline float hsum(const F& x) { return ((x.v[0] + x.v[4]) + (x.v[2] + x.v[6])) + ((x.v[1] + x.v[5]) + (x.v[3] + x.v[7])); }
inline float hmax(const F& x) {
  float r = x.v[0];
  for (uint32_t i = 1; i < W; ++i) r = x.v[i] > r ? x.v[i] : r;
  return r;
}
inline float f16_to_f32(uint16_t h) {
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16, exponent = h >> 10 & 31u, fraction = h & 0x3ffu;
  uint32_t bits = sign | (exponent + 112) << 23 | fraction << 13;
  float r;
  if (exponent == 31) bits = sign | 0x7f800000u | fraction << 13 | (fraction ? 0x400000u : 0u);
  if (exponent == 0) {
    r = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -r : r;
  }
  memcpy(&r, &bits, sizeof r);
  return r;
}
inline uint16_t f32_to_f16(float x) {  // to nearest, ties to even
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  const uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u | (magnitude >> 13 & 0x3ffu));
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {
    float value;
    memcpy(&value, &magnitude, sizeof value);
    return static_cast<uint16_t>(sign | static_cast<uint32_t>(nearbyintf(value * 0x1p24f)));
  }
  return static_cast<uint16_t>(sign | ((magnitude + 0xfffu + (magnitude >> 13 & 1u) - 0x38000000u) >> 13));
}
inline F load_f16(const uint16_t* p) {
  return each([&](uint32_t i) { return f16_to_f32(p[i]); });
}
inline void store_f16(uint16_t* p, const F& x) {
  for (uint32_t i = 0; i < W; ++i) p[i] = f32_to_f16(x.v[i]);
}
inline F load_bf16(const uint16_t* p) {
  return each([&](uint32_t i) {
    const uint32_t bits = static_cast<uint32_t>(p[i]) << 16;
    float r;
    memcpy(&r, &bits, sizeof r);
    return r;
  });
}
inline F load_i8(const int8_t* p) {
  return each([&](uint32_t i) { return static_cast<float>(p[i]); });
}
inline F load_u8(const uint8_t* p) {
  return each([&](uint32_t i) { return static_cast<float>(p[i]); });
}
inline F keep_lanes(const F& x, int32_t base, int32_t first, int32_t last, const F& fill) {
  return each([&](uint32_t i) {
    const int32_t lane = base + static_cast<int32_t>(i);
    return lane >= first && lane < last ? x.v[i] : fill.v[i];
  });
}
inline uint32_t max_abs_bits32(const float* x) {
  uint32_t r = 0;
  for (uint32_t i = 0; i < 32; ++i) {
    uint32_t bits;
    memcpy(&bits, x + i, sizeof bits);
    bits &= 0x7fffffffu;
    r = bits > r ? bits : r;
  }
  return r;
}
inline void round_to_i8(const float* x, float factor, int8_t* q, int32_t* lo, int32_t* hi) {
  int32_t sums[2] = {0, 0};
  for (uint32_t i = 0; i < 32; ++i) {
    const float y = nearbyintf(x[i] * factor);
    q[i] = static_cast<int8_t>(y >= 127.0f ? 127 : y > -127.0f ? static_cast<int>(y) : -127);  // NaN: -127
    sums[i / 16] += q[i];
  }
  *lo = sums[0];
  *hi = sums[1];
}
inline void load_pairs(const float* p, F* even, F* odd) {
  *even = each([&](uint32_t i) { return p[2 * i]; });
  *odd = each([&](uint32_t i) { return p[2 * i + 1]; });
}
inline void store_pairs(float* p, const F& even, const F& odd) {
  for (uint32_t i = 0; i < W; ++i) {
    p[2 * i] = even.v[i];
    p[2 * i + 1] = odd.v[i];
  }
}

}  // namespace
}  // namespace gainz::onednn
