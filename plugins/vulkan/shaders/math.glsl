// Functions whose accuracy must not be left to a driver: tanh, erf, the activations (see sdk/reference/activation.h).

// Lambert's continued fraction near 0, where the quotient of exponentials cancels.
float tanh_exact(float x) {
  const float a = abs(x);
  if (a < 0.6) {
    const float s = x * x;
    return x / (1.0 + s / (3.0 + s / (5.0 + s / (7.0 + s / 9.0))));
  }
  const float t = 1.0 - 2.0 / (exp(2.0 * min(a, 20.0)) + 1.0);
  return x != x ? x : (x < 0.0 ? -t : t);
}

// Abramowitz and Stegun 1964, 7.1.26 (1.5e-7) away from 0, the first terms of the series near it.
float erf_exact(float x) {
  const float a = abs(x);
  if (a < 0.5) {
    const float s = x * x;
    return 1.1283791671 * x * (1.0 - s * (0.3333333333 - s * (0.1 - s * (0.0238095238 - s * (0.0046296296 - s * 0.0007575758)))));
  }
  const float t = 1.0 / (1.0 + 0.3275911 * a);
  const float series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  const float value = 1.0 - series * exp(-a * a);
  return x != x ? x : (x < 0.0 ? -value : value);
}

const uint kSilu = 1, kGeluTanh = 2, kGeluErf = 3, kRelu = 4, kRelu2 = 5;  // GAINZ_ACTIVATION_*

float activate(uint kind, float x) {
  switch (kind) {
    case kSilu:
      return x / (1.0 + exp(-x));
    case kGeluTanh:
      return 0.5 * x * (1.0 + tanh_exact(0.7978845608 * (x + 0.044715 * x * x * x)));
    case kGeluErf:
      return 0.5 * x * (1.0 + erf_exact(x * 0.7071067812));
    case kRelu:
      return max(x, 0.0);
    default: {
      const float positive = max(x, 0.0);
      return positive * positive;
    }
  }
}
