/* types.h: element types. The numbers are those of GGUF's tensor types, so a weight's type travels unchanged from the file. */
#ifndef GAINZ_SDK_TYPES_H
#define GAINZ_SDK_TYPES_H

#include "gainz/sdk/abi.h"

#define GAINZ_TYPE_F32 0u
#define GAINZ_TYPE_F16 1u
#define GAINZ_TYPE_Q4_0 2u
#define GAINZ_TYPE_Q4_1 3u
#define GAINZ_TYPE_Q5_0 6u
#define GAINZ_TYPE_Q5_1 7u
#define GAINZ_TYPE_Q8_0 8u
#define GAINZ_TYPE_Q2_K 10u
#define GAINZ_TYPE_Q3_K 11u
#define GAINZ_TYPE_Q4_K 12u
#define GAINZ_TYPE_Q5_K 13u
#define GAINZ_TYPE_Q6_K 14u
#define GAINZ_TYPE_IQ4_NL 20u
#define GAINZ_TYPE_IQ4_XS 23u
#define GAINZ_TYPE_I32 26u
#define GAINZ_TYPE_BF16 30u
#define GAINZ_TYPE_MXFP4 39u

/* The layout of a block of each type, and what it means, is in sdk/reference/dequantize.h. */

#endif
