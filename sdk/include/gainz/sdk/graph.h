/* graph.h: a model as a list of nodes over values. Built once by the runtime; the plugin may fuse anything, since only the
 * declared outputs can be observed.
 *
 * Symbols. T tokens, S sequences and R output rows of a step (program.h) are the only sizes that are not known when the graph
 * is built. An activation is a matrix [rows, cols], row-major, where rows is T or R; heads lie side by side in a row: [T,
 * num_heads * head_dim]. Nodes stand in an order in which every input is made before it is used. */
#ifndef GAINZ_SDK_GRAPH_H
#define GAINZ_SDK_GRAPH_H

#include "gainz/sdk/types.h"

GAINZ_SDK_BEGIN

/* gainz_value.kind */
#define GAINZ_VALUE_WEIGHT 1u /* constant; its bytes come from gainz_weights */
#define GAINZ_VALUE_INPUT 2u  /* given with each step in host memory (gainz_step.inputs) */
#define GAINZ_VALUE_NODE 3u   /* made by a node */

/* gainz_value.rows */
#define GAINZ_ROWS_FIXED 0u   /* weights: dims say all */
#define GAINZ_ROWS_TOKENS 1u  /* T */
#define GAINZ_ROWS_OUTPUTS 2u /* R */

typedef struct gainz_value {
  uint32_t struct_size;
  uint32_t kind;
  uint32_t type; /* weights: any; others: F32, or I32 for ids */
  uint32_t rows;
  /* Weights: dims[0] is the row length K (contiguous), dims[1] the number of rows N, dims[2] the number of matrices (experts);
   * unused ones are 1. Others: dims[0] is the number of columns, dims[1] 0 (symbolic), the rest 1. */
  uint64_t dims[4];
  const char* name; /* for messages: "blk.3.ffn_down.weight" */
} gainz_value;

#define GAINZ_NODE_MAX_INPUTS 6u
#define GAINZ_NODE_MAX_OUTPUTS 2u
#define GAINZ_NO_VALUE UINT32_MAX

typedef struct gainz_node {
  uint32_t struct_size;
  uint32_t op; /* GAINZ_OP_* of ops.h */
  uint32_t num_inputs;
  uint32_t num_outputs;
  uint32_t inputs[GAINZ_NODE_MAX_INPUTS];   /* indices of values; GAINZ_NO_VALUE for an optional input that is absent */
  uint32_t outputs[GAINZ_NODE_MAX_OUTPUTS]; /* indices of values */
  const void* attributes;                   /* the op's struct of ops.h, or NULL for an op without one */
  uint32_t layer;                           /* the model's layer, for messages; GAINZ_NO_VALUE outside of layers */
  uint32_t reserved;
} gainz_node;

/* KV pages of layers that share their shape and their window. Page numbers of different groups are unrelated. */
typedef struct gainz_page_group {
  uint32_t struct_size;
  uint32_t num_layers;
  uint32_t num_kv_heads;
  uint32_t k_head_dim;
  uint32_t v_head_dim;
  uint32_t window; /* tokens that a query sees, itself included; 0: all */
} gainz_page_group;

typedef struct gainz_graph {
  uint32_t struct_size;
  uint32_t num_values;
  uint32_t num_nodes;
  uint32_t num_page_groups;
  const gainz_value* values;
  uint64_t value_stride;
  const gainz_node* nodes;
  uint64_t node_stride;
  const gainz_page_group* page_groups;
  uint64_t page_group_stride;
  const uint32_t* inputs;  /* [num_inputs] values of kind INPUT, in the order of gainz_step.inputs */
  const uint32_t* outputs; /* [num_outputs] values that can be observed, in the order of gainz_step.outputs */
  uint32_t num_inputs;
  uint32_t num_outputs;
} gainz_graph;

GAINZ_SDK_END

#endif
