/* model.h: handing a graph and its weights to a device.
 *
 * model_claim [device-thread]: sets out_claims[i] of node i ([num_nodes]) to 1 where the device will run it. Claims are
 * binding. KV_WRITE and ATTENTION of a page group are claimed together or not at all. Quick: no weight is read. What is left is
 * run by the host on the scalar kernels or refused, as its user chose. Errors: INVALID (a broken graph), UNSUPPORTED with a
 * reason when nothing can be claimed.
 *
 * model_create [device-thread]: takes a graph of which every node is claimed, pulls each weight once and packs it as it likes.
 * The graph is borrowed for the call; a plugin copies what it keeps. Errors: OUT_OF_*_MEMORY (needed and available named),
 * CANCELLED, UNSUPPORTED. model_destroy [device-thread]: after its programs and KVs. model_memory [any-thread]: bytes held for
 * the model on the device.
 *
 * Several models may be open on one device. */
#ifndef GAINZ_SDK_MODEL_H
#define GAINZ_SDK_MODEL_H

#include "gainz/sdk/graph.h"
#include "gainz/sdk/status.h"

GAINZ_SDK_BEGIN

typedef struct gainz_model gainz_model;

/* The bytes of the weights. Owner: the host; borrowed for model_create, but see map. */
typedef struct gainz_weights {
  uint32_t struct_size;
  uint32_t reserved;
  void* ctx;

  /* *out_bytes becomes the whole tensor of graph value `value`: dims[2] matrices of dims[1] rows of dims[0] elements in blocks
   * of its type, packed; at least 32-byte aligned only if the file is. The bytes stay valid until released; what is never
   * released stays valid until model_destroy has returned, so a plugin may use file pages in place. Errors: INVALID (no such
   * weight), and those of the file. [any-thread, during model_create] */
  gainz_status (*map)(void* ctx, uint32_t value, const void** out_bytes, uint64_t* out_num_bytes, gainz_error* error);
  /* The plugin has its own copy and will not look at the bytes again; the host may give the pages back. [any-thread, during
   * model_create] */
  void (*release)(void* ctx, uint32_t value);
  /* Progress in bytes packed so far; not 0 asks the plugin to stop with CANCELLED. May be NULL. [any-thread, during
   * model_create] */
  int32_t (*progress)(void* ctx, uint64_t done_bytes, uint64_t total_bytes);
} gainz_weights;

GAINZ_SDK_END

#endif
