#include "conform/compare.h"

#include <cmath>
#include <cstring>

namespace gainz::conform {

const std::vector<uint32_t> kWeightTypes = {GAINZ_TYPE_F32,  GAINZ_TYPE_F16,    GAINZ_TYPE_BF16,   GAINZ_TYPE_Q8_0,
                                            GAINZ_TYPE_Q4_0, GAINZ_TYPE_Q4_1,   GAINZ_TYPE_Q5_0,   GAINZ_TYPE_Q5_1,
                                            GAINZ_TYPE_Q2_K, GAINZ_TYPE_Q3_K,   GAINZ_TYPE_Q4_K,   GAINZ_TYPE_Q5_K,
                                            GAINZ_TYPE_Q6_K, GAINZ_TYPE_IQ4_NL, GAINZ_TYPE_IQ4_XS, GAINZ_TYPE_MXFP4};

const char* type_name(uint32_t type) {
  switch (type) {
    case GAINZ_TYPE_F32:
      return "f32";
    case GAINZ_TYPE_F16:
      return "f16";
    case GAINZ_TYPE_BF16:
      return "bf16";
    case GAINZ_TYPE_Q8_0:
      return "q8_0";
    case GAINZ_TYPE_Q4_0:
      return "q4_0";
    case GAINZ_TYPE_Q4_1:
      return "q4_1";
    case GAINZ_TYPE_Q5_0:
      return "q5_0";
    case GAINZ_TYPE_Q5_1:
      return "q5_1";
    case GAINZ_TYPE_Q2_K:
      return "q2_k";
    case GAINZ_TYPE_Q3_K:
      return "q3_k";
    case GAINZ_TYPE_Q4_K:
      return "q4_k";
    case GAINZ_TYPE_Q5_K:
      return "q5_k";
    case GAINZ_TYPE_Q6_K:
      return "q6_k";
    case GAINZ_TYPE_IQ4_NL:
      return "iq4_nl";
    case GAINZ_TYPE_IQ4_XS:
      return "iq4_xs";
    case GAINZ_TYPE_MXFP4:
      return "mxfp4";
    default:
      return "unknown";
  }
}

double op_bound(uint32_t weight_type) {
  switch (weight_type) {
    case GAINZ_TYPE_F32:
    case GAINZ_TYPE_F16:
    case GAINZ_TYPE_BF16:
      return 0.006;
    default:
      return 0.015;
  }
}

double model_bound(uint32_t weight_type) { return op_bound(weight_type) * 4; }

void require_near(const std::vector<std::vector<float>>& rows, const std::vector<std::vector<float>>& truth, double bound,
                  const char* what) {
  GAINZ_REQUIRE(rows.size() == truth.size(), "%s: %zu rows instead of %zu", what, rows.size(), truth.size());
  for (size_t r = 0; r < rows.size(); ++r) {
    double difference = 0, size = 0;
    for (size_t i = 0; i < truth[r].size(); ++i) {
      const float a = rows[r][i], b = truth[r][i];
      if (std::isinf(b) || std::isnan(b)) {
        GAINZ_REQUIRE(std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b)),
                      "%s: row %zu column %zu is %g instead of %g", what, r, i, double{a}, double{b});
        continue;
      }
      GAINZ_REQUIRE(std::isfinite(a), "%s: row %zu column %zu is %g instead of %g", what, r, i, double{a}, double{b});
      difference += (double{a} - double{b}) * (double{a} - double{b});
      size += double{b} * double{b};
    }
    const double error = size > 0 ? std::sqrt(difference / size) : std::sqrt(difference);
    GAINZ_REQUIRE(error <= bound, "%s: row %zu is off by %.3g of its size, the bound is %.3g", what, r, error, bound);
  }
}

void require_same(const std::vector<std::vector<float>>& rows, const std::vector<std::vector<float>>& truth, const char* what) {
  GAINZ_REQUIRE(rows.size() == truth.size(), "%s: %zu rows instead of %zu", what, rows.size(), truth.size());
  for (size_t r = 0; r < rows.size(); ++r)
    for (size_t i = 0; i < truth[r].size(); ++i)
      GAINZ_REQUIRE(std::memcmp(&rows[r][i], &truth[r][i], sizeof(float)) == 0, "%s: row %zu column %zu is %.9g, then %.9g",
                    what, r, i, double{truth[r][i]}, double{rows[r][i]});
}

}  // namespace gainz::conform
