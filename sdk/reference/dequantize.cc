#include "dequantize.h"

#include "dequantize_blocks.h"
#include "gainz/sdk/types.h"

namespace gainz::reference {

TypeTraits type_traits(uint32_t type) {
  switch (type) {
    case GAINZ_TYPE_F32:
      return {"F32", 1, 4};
    case GAINZ_TYPE_F16:
      return {"F16", 1, 2};
    case GAINZ_TYPE_Q4_0:
      return {"Q4_0", 32, 18};
    case GAINZ_TYPE_Q4_1:
      return {"Q4_1", 32, 20};
    case GAINZ_TYPE_Q5_0:
      return {"Q5_0", 32, 22};
    case GAINZ_TYPE_Q5_1:
      return {"Q5_1", 32, 24};
    case GAINZ_TYPE_Q8_0:
      return {"Q8_0", 32, 34};
    case GAINZ_TYPE_Q2_K:
      return {"Q2_K", 256, 84};
    case GAINZ_TYPE_Q3_K:
      return {"Q3_K", 256, 110};
    case GAINZ_TYPE_Q4_K:
      return {"Q4_K", 256, 144};
    case GAINZ_TYPE_Q5_K:
      return {"Q5_K", 256, 176};
    case GAINZ_TYPE_Q6_K:
      return {"Q6_K", 256, 210};
    case GAINZ_TYPE_IQ4_NL:
      return {"IQ4_NL", 32, 18};
    case GAINZ_TYPE_IQ4_XS:
      return {"IQ4_XS", 256, 136};
    case GAINZ_TYPE_I32:
      return {"I32", 1, 4};
    case GAINZ_TYPE_BF16:
      return {"BF16", 1, 2};
    case GAINZ_TYPE_MXFP4:
      return {"MXFP4", 32, 17};
    default:
      return {nullptr, 0, 0};
  }
}

uint64_t row_bytes(uint32_t type, uint64_t n) {
  const TypeTraits traits = type_traits(type);
  if (traits.name == nullptr || n % traits.block_elements != 0) return 0;
  return n / traits.block_elements * traits.block_bytes;
}

bool dequantize_row(uint32_t type, const void* blocks, float* out, uint64_t n) {
  const TypeTraits traits = type_traits(type);
  if (traits.name == nullptr || n % traits.block_elements != 0) return false;
  const auto* in = static_cast<const uint8_t*>(blocks);
  const uint64_t num_blocks = n / traits.block_elements;
  switch (type) {
    case GAINZ_TYPE_F32:
      std::memcpy(out, in, n * sizeof(float));
      return true;
    case GAINZ_TYPE_F16:
      blocks::f16(in, out, num_blocks);
      return true;
    case GAINZ_TYPE_BF16:
      blocks::bf16(in, out, num_blocks);
      return true;
    case GAINZ_TYPE_Q4_0:
      blocks::q4_0(in, out, num_blocks);
      return true;
    case GAINZ_TYPE_Q4_1:
      blocks::q4_1(in, out, num_blocks);
      return true;
    case GAINZ_TYPE_Q5_0:
      blocks::q5_0(in, out, num_blocks);
      return true;
    case GAINZ_TYPE_Q5_1:
      blocks::q5_1(in, out, num_blocks);
      return true;
    case GAINZ_TYPE_Q8_0:
      blocks::q8_0(in, out, num_blocks);
      return true;
    case GAINZ_TYPE_IQ4_NL:
      blocks::iq4_nl(in, out, num_blocks);
      return true;
    case GAINZ_TYPE_MXFP4:
      blocks::mxfp4(in, out, num_blocks);
      return true;
    case GAINZ_TYPE_Q2_K:
      blocks::q2_k(in, out, num_blocks);
      return true;
    case GAINZ_TYPE_Q3_K:
      blocks::q3_k(in, out, num_blocks);
      return true;
    case GAINZ_TYPE_Q4_K:
      blocks::q4_k(in, out, num_blocks);
      return true;
    case GAINZ_TYPE_Q5_K:
      blocks::q5_k(in, out, num_blocks);
      return true;
    case GAINZ_TYPE_Q6_K:
      blocks::q6_k(in, out, num_blocks);
      return true;
    case GAINZ_TYPE_IQ4_XS:
      blocks::iq4_xs(in, out, num_blocks);
      return true;
    default:
      return false;
  }
}

}  // namespace gainz::reference
