/* program.h: running steps.
 *
 * program_create [device-thread]: fixes the maxima of a bucket and does all planning, allocation, recording or capturing. The
 * program keeps using its model and kv. Errors: OUT_OF_*_MEMORY, LIMIT_EXCEEDED, UNSUPPORTED. program_describe [any-thread].
 * run [device-thread]: queues slices [first_slice, first_slice + num_slices) of a step and gives a ticket; tickets of a device
 * rise. The slices of a step run in order, each once, with the same step; a new step begins with slice 0, and a step that is
 * not finished may be dropped by beginning another. run neither allocates nor waits for the device; a CPU may do the work
 * before it returns. poll [any-thread]: *out_done is 1 when the ticket and all before it are done. wait [any-thread]: until
 * then; BUSY after timeout_ns. The step and all its arrays stay valid and unchanged until the ticket of its last slice is done.
 * Errors of the work itself come from run, poll or wait: DEVICE_LOST, OUT_OF_DEVICE_MEMORY, INTERNAL. A step beyond its bucket
 * is INVALID and changes nothing. */
#ifndef GAINZ_SDK_PROGRAM_H
#define GAINZ_SDK_PROGRAM_H

#include "gainz/sdk/kv.h"

GAINZ_SDK_BEGIN

typedef struct gainz_program gainz_program;

/* The maxima of the steps that a program will run. */
typedef struct gainz_bucket {
  uint32_t struct_size;
  uint32_t max_tokens;             /* T */
  uint32_t max_sequences;          /* S */
  uint32_t max_output_rows;        /* R */
  uint32_t max_pages_per_sequence; /* columns of a page table */
  uint32_t uniform_query_length;   /* every sequence has this many tokens in a step; 0: any */
} gainz_bucket;

/* Owner: the program; valid until it is destroyed. */
typedef struct gainz_program_info {
  uint32_t struct_size;
  uint32_t num_slices;        /* at least 1 */
  const uint32_t* slice_cost; /* [num_slices] in units of equal time, estimated; NULL: all equal */
  uint64_t memory_bytes;      /* scratch that the program holds */
} gainz_program_info;

#define GAINZ_PHASE_PROMPT 0u
#define GAINZ_PHASE_GENERATED 1u

/* Page data of one group for a step. */
typedef struct gainz_step_pages {
  uint32_t struct_size;
  uint32_t reserved;
  const uint32_t* slots;      /* [T] where each token's K and V go */
  const uint32_t* page_table; /* [S, page_table_stride]: page of positions 16 j to 16 j + 15 in column j; scratch where the
                                 window has passed */
  uint64_t page_table_stride; /* elements */
} gainz_step_pages;

/* A matrix in host memory, row-major. */
typedef struct gainz_buffer {
  uint32_t struct_size;
  uint32_t reserved;
  void* data;                /* outputs: NULL if not wanted, and then it need not be computed */
  uint64_t row_stride_bytes; /* rows are contiguous inside */
} gainz_buffer;

/* Everything that differs from run to run. Tokens of a sequence are consecutive: rows query_offsets[s] to query_offsets[s + 1]
 * - 1 hold its positions context_lengths[s] - n to context_lengths[s] - 1. A sequence appears once. */
typedef struct gainz_step {
  uint32_t struct_size;
  uint32_t num_tokens;             /* T */
  uint32_t num_sequences;          /* S */
  uint32_t num_output_rows;        /* R */
  const int32_t* tokens;           /* [T] ids, each in the vocabulary */
  const int32_t* positions;        /* [T] */
  const uint8_t* phases;           /* [T] GAINZ_PHASE_* */
  const uint32_t* query_offsets;   /* [S + 1], from 0 to T */
  const uint32_t* context_lengths; /* [S] tokens in context, those of this step included */
  const uint32_t* output_rows;     /* [R] rows of T, rising */
  const gainz_step_pages* pages;   /* [num_page_groups] */
  uint64_t pages_stride;
  const uint32_t* logit_masks; /* [R, logit_mask_stride] bit v of a row: token v is allowed; NULL: no masks */
  uint64_t logit_mask_stride;  /* words */
  const gainz_buffer* inputs;  /* [graph.num_inputs] */
  const gainz_buffer* outputs; /* [graph.num_outputs] */
  uint64_t buffer_stride;
} gainz_step;

GAINZ_SDK_END

#endif
