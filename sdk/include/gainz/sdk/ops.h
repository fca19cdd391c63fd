/* ops.h: the operations, their inputs, outputs and attributes. The normative meaning of each, with the order of its sums and
 * the source of its formula, is the scalar kernel of the same name in sdk/reference.
 *
 * Notation: x[T, D] is an activation in f32; w[N, K] a weight of any type, N rows of K; `?` an optional input. Step arrays
 * (tokens, positions, pages ...) are those of gainz_step and are read without being named as inputs. "Rows" is T or R, as the
 * input has. */
#ifndef GAINZ_SDK_OPS_H
#define GAINZ_SDK_OPS_H

#include "gainz/sdk/abi.h"

/* inputs w[V, D]; output [T, D]: row tokens[t] of w. No attributes. */
#define GAINZ_OP_EMBED 1u
/* inputs x[rows, G * D], w?[D] f32; output like x: each run of D columns over its root mean square, times w. gainz_norm_attr.
 */
#define GAINZ_OP_RMSNORM 2u
/* inputs x[rows, D], w?[D] f32, b?[D] f32; output like x. gainz_norm_attr with num_groups 1. */
#define GAINZ_OP_LAYERNORM 3u
/* inputs x[rows, K], w[N, K], b?[N] f32; output [rows, N]: x times w transposed, plus b. No attributes. */
#define GAINZ_OP_LINEAR 4u
/* inputs x[T, H * D], factors?[rotary_dim / 2] f32; output like x, rotated by positions. gainz_rope_attr. */
#define GAINZ_OP_ROPE 5u
/* inputs k[T, Hkv * Dk], v[T, Hkv * Dv]; no output: stores both at pages[group].slots. gainz_attention_attr (group, layer). */
#define GAINZ_OP_KV_WRITE 6u
/* input q[T, H * Dk]; output [T, H * Dv]: causal attention over the sequence's pages. gainz_attention_attr. Reads what a
 * KV_WRITE of the same group and layer stored in this step; that node comes before it. */
#define GAINZ_OP_ATTENTION 7u
/* input x; output like x. gainz_activation_attr. */
#define GAINZ_OP_ACTIVATION 8u
/* inputs gate[rows, F], up[rows, F]; output [rows, F]: activation(gate) * up. gainz_activation_attr. */
#define GAINZ_OP_GATED_ACTIVATION 9u
/* inputs a, b of one shape; output a + b. No attributes. */
#define GAINZ_OP_ADD 10u
/* inputs a[rows, D], b of the same shape or a weight b[D] in f32; output a * b. No attributes. */
#define GAINZ_OP_MUL 11u
/* input x; output x * scale. gainz_scale_attr. */
#define GAINZ_OP_SCALE 12u
/* input x; output scale * tanh(x / scale). gainz_scale_attr. */
#define GAINZ_OP_SOFTCAP 13u
/* input x[T, E]; outputs ids[T, k] i32, weights[T, k] f32: the k largest, best first, ties to the lower id.
 * gainz_moe_route_attr. */
#define GAINZ_OP_MOE_ROUTE 14u
/* inputs x[T, K] or x[T, k * K], ids[T, k] i32, w[E, N, K], weights?[T, k]; output [T, k * N], or with weights [T, N]: their
 * weighted sum. Row j of a token goes through expert ids[t, j]. gainz_moe_linear_attr. */
#define GAINZ_OP_MOE_LINEAR 15u
/* input x[T, D]; output [R, D]: row output_rows[r] of x. No attributes. */
#define GAINZ_OP_GATHER_ROWS 16u
/* input x[R, V]; output like x, minus infinity where the row's bit in logit_masks is 0; all pass where the step has no masks.
 * No attributes. */
#define GAINZ_OP_LOGIT_MASK 17u
/* input x[R, V]; outputs values[R, k] f32 and ids[R, k] i32, best first, ties to the lower id. gainz_top_k_attr. */
#define GAINZ_OP_TOP_K 18u
#define GAINZ_OP_COUNT 19u

typedef struct gainz_norm_attr {
  uint32_t struct_size;
  uint32_t num_groups; /* G: heads that are normalised apart; 1 for a whole row */
  float epsilon;
} gainz_norm_attr;

#define GAINZ_ROPE_INTERLEAVED 1u /* pairs (2i, 2i + 1) */
#define GAINZ_ROPE_HALVES 2u      /* pairs (i, i + rotary_dim / 2) */

/* theta_i = position * base^(-2i / rotary_dim), then per pair divided by factors[i] when given, then scaled: linear by
 * freq_scale; YaRN (Peng et al. 2023, section 3.4) when yarn_mix is not 0, which blends theta * freq_scale and theta by a ramp
 * between the pairs that turn yarn_beta_fast and yarn_beta_slow times in original_context, and multiplies cosine and sine by
 * magnitude. */
typedef struct gainz_rope_attr {
  uint32_t struct_size;
  uint32_t mode; /* GAINZ_ROPE_* */
  uint32_t num_heads;
  uint32_t head_dim;
  uint32_t rotary_dim; /* leading columns of a head that turn; even; the rest is copied */
  uint32_t original_context;
  float base;
  float freq_scale; /* 1: none */
  float yarn_mix;   /* 0: no YaRN */
  float yarn_beta_fast;
  float yarn_beta_slow;
  float magnitude; /* 1: none */
} gainz_rope_attr;

/* For query head h the KV head is h / (num_heads / num_kv_heads). A query at position p sees positions max(0, p - window + 1)
 * to p of its sequence. score = softcap(scale * q.k); the result is the softmax-weighted sum of v. */
typedef struct gainz_attention_attr {
  uint32_t struct_size;
  uint32_t group; /* page group */
  uint32_t layer; /* within the group */
  uint32_t num_heads;
  uint32_t num_kv_heads;
  uint32_t k_head_dim;
  uint32_t v_head_dim;
  uint32_t window; /* 0: all */
  float scale;
  float softcap; /* 0: none */
} gainz_attention_attr;

#define GAINZ_ACTIVATION_SILU 1u      /* x / (1 + e^-x) */
#define GAINZ_ACTIVATION_GELU_TANH 2u /* the tanh form */
#define GAINZ_ACTIVATION_GELU_ERF 3u  /* the exact form */
#define GAINZ_ACTIVATION_RELU 4u
#define GAINZ_ACTIVATION_RELU2 5u /* relu squared */

typedef struct gainz_activation_attr {
  uint32_t struct_size;
  uint32_t kind; /* GAINZ_ACTIVATION_* */
} gainz_activation_attr;

typedef struct gainz_scale_attr {
  uint32_t struct_size;
  float scale;
} gainz_scale_attr;

/* Softmax over all experts, then the k largest; with normalize their weights are divided by their sum; then times scale. */
typedef struct gainz_moe_route_attr {
  uint32_t struct_size;
  uint32_t num_chosen; /* k */
  uint32_t normalize;  /* 0 or 1 */
  float scale;
} gainz_moe_route_attr;

typedef struct gainz_moe_linear_attr {
  uint32_t struct_size;
  uint32_t num_chosen;     /* k */
  uint32_t rows_per_token; /* 1: x[T, K] is shared by a token's experts; k: x[T, k * K] */
} gainz_moe_linear_attr;

typedef struct gainz_top_k_attr {
  uint32_t struct_size;
  uint32_t num_chosen; /* k */
} gainz_top_k_attr;

#endif
