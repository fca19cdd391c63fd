// log and exp in double from the four exact operations of IEEE 754 alone, so that every machine and every C library gives the
// same bits and with them the same token. (The build forbids contraction into fused multiply-adds.) Errors are a few units in
// the last place. Pure functions; any thread.
#pragma once

#include <bit>
#include <cstdint>

namespace gainz {

inline constexpr double kLn2 = 0x1.62e42fefa39efp-1;
inline constexpr double kLn2High = 0x1.62e42feep-1;  // low 32 bits zero: a product with an exponent is exact
inline constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

// log((1 + s) / (1 - s)) = 2 atanh(s) by its series, for |s| <= 0.1716 (arguments between sqrt(1/2) and sqrt(2)).
inline double log_of_ratio(double s) {
  const double z = s * s;
  double sum = 1.0 / 23;
  for (int odd = 21; odd >= 3; odd -= 2) sum = sum * z + 1.0 / odd;
  return 2 * s + 2 * s * (z * sum);
}

// Natural logarithm of a positive, normal number.
inline double portable_log(double x) {
  constexpr uint64_t kFraction = (uint64_t{1} << 52) - 1;
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & kFraction) | (uint64_t{1023} << 52));  // [1, 2)
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  return exponent * kLn2High + (log_of_ratio((m - 1) / (m + 1)) + exponent * kLn2Low);
}

// -log(1 - v) for v in (0, 1), exact to the last places for tiny v too; never below v but for rounding.
inline double portable_minus_log1m(double v) { return v < 0.25 ? log_of_ratio(v / (2 - v)) : -portable_log(1 - v); }

// e^x for x <= 0; zero below -708, where double would become subnormal.
inline double portable_exp(double x) {
  if (!(x >= -708)) return 0;
  const int n = static_cast<int>(x * (1 / kLn2) - 0.5);  // nearest, as x <= 0
  const double r = (x - n * kLn2High) - n * kLn2Low;     // |r| <= ln(2) / 2
  constexpr double kInverseFactorial[] = {
      1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
      1.0 / 720,        1.0 / 120,       1.0 / 24,       1.0 / 6,       0.5,          1,           1};
  double sum = 0;
  for (const double term : kInverseFactorial) sum = sum * r + term;
  return sum * std::bit_cast<double>(static_cast<uint64_t>(n + 1023) << 52);
}

}  // namespace gainz
