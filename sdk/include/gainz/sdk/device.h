/* device.h: one opened device: what it is and what it does. One in-order queue; all handles of a device die with it. */
#ifndef GAINZ_SDK_DEVICE_H
#define GAINZ_SDK_DEVICE_H

#include "gainz/sdk/kv.h"
#include "gainz/sdk/model.h"
#include "gainz/sdk/program.h"
#include "gainz/sdk/status.h"

GAINZ_SDK_BEGIN

typedef struct gainz_device gainz_device;

#define GAINZ_DEVICE_CPU 1u
#define GAINZ_DEVICE_GPU 2u
#define GAINZ_DEVICE_ACCELERATOR 3u

/* gainz_device_desc.flags */
#define GAINZ_DEVICE_PHASES_DIFFER 1u /* prompt and generated tokens may run on different kernels: page keys hold the phase */
#define GAINZ_DEVICE_BATCH_VARIANT                                                                                            \
  2u                                  /* a row's bits may depend on what shares its batch (the law "same tokens" is not kept) \
                                       */
#define GAINZ_DEVICE_SHARES_MEMORY 4u /* weights and pages lie in host memory and count against it */

/* Owner: the plugin; strings stay valid until the plugin's next device_list, or for an opened device until close. */
typedef struct gainz_device_desc {
  uint32_t struct_size;
  uint32_t kind; /* GAINZ_DEVICE_* */
  uint32_t flags;
  uint32_t kv_types;     /* bit (1 << n) for each supported KV type n of types.h below 32; K and V are chosen separately */
  const char* name;      /* for people: "Intel Xeon" */
  const char* isa;       /* the instruction set or API level in use: "avx512_vnni", "vulkan 1.3" */
  const char* identity;  /* everything that decides which bits a kernel computes; equal strings give equal tokens */
  uint64_t memory_bytes; /* in all; 0: not known */
  uint64_t free_bytes;   /* now; 0: not known */
  uint32_t max_slice_us; /* an estimate for the longest slice; 0: not known */
  uint32_t reserved;
} gainz_device_desc;

/* An option of device_open. The ones that every CPU plugin knows: "isa" (can only lower the choice), "prefill" ("auto",
 * "exact"). */
typedef struct gainz_option {
  uint32_t struct_size;
  uint32_t reserved;
  const char* key;
  const char* value;
} gainz_option;

/* The functions of an opened device. All are required unless marked optional (NULL allowed). */
typedef struct gainz_device_api {
  uint32_t struct_size;
  uint32_t reserved;

  /* Waits for the queue, frees everything that belongs to the device. Never fails. [device-thread] */
  void (*close)(gainz_device* device);
  /* The device as opened, options applied. [any-thread] */
  gainz_status (*describe)(gainz_device* device, gainz_device_desc* out_desc, gainz_error* error);

  /* model.h */
  gainz_status (*model_claim)(gainz_device*, const gainz_graph* graph, uint8_t* out_claims, gainz_error*);
  gainz_status (*model_create)(gainz_device*, const gainz_graph* graph, const gainz_weights* weights, gainz_model** out_model,
                               gainz_error*);
  void (*model_destroy)(gainz_device*, gainz_model* model);
  gainz_status (*model_memory)(gainz_device*, gainz_model* model, uint64_t* out_bytes, gainz_error*);

  /* kv.h */
  gainz_status (*kv_create)(gainz_device*, gainz_model* model, const gainz_kv_desc* desc, gainz_kv** out_kv, gainz_error*);
  void (*kv_destroy)(gainz_device*, gainz_kv* kv);
  gainz_status (*kv_copy_pages)(gainz_device*, gainz_kv* kv, uint32_t group, const gainz_page_copy* copies, uint32_t num_copies,
                                gainz_error*);
  gainz_status (*kv_export_page)(gainz_device*, gainz_kv* kv, uint32_t group, uint32_t page, void* out_bytes,
                                 uint64_t num_bytes, gainz_error*);
  gainz_status (*kv_import_page)(gainz_device*, gainz_kv* kv, uint32_t group, uint32_t page, const void* bytes,
                                 uint64_t num_bytes, gainz_error*);

  /* program.h */
  gainz_status (*program_create)(gainz_device*, gainz_model* model, gainz_kv* kv, const gainz_bucket* bucket,
                                 gainz_program** out_program, gainz_error*);
  void (*program_destroy)(gainz_device*, gainz_program* program);
  gainz_status (*program_describe)(gainz_device*, gainz_program* program, gainz_program_info* out_info, gainz_error*);
  gainz_status (*run)(gainz_device*, gainz_program* program, const gainz_step* step, uint32_t first_slice, uint32_t num_slices,
                      uint64_t* out_ticket, gainz_error*);
  gainz_status (*poll)(gainz_device*, uint64_t ticket, uint32_t* out_done, gainz_error*);
  gainz_status (*wait)(gainz_device*, uint64_t ticket, uint64_t timeout_ns, gainz_error*);

  /* A device extension by name and revision, or NULL. Optional. [any-thread] */
  const void* (*get_extension)(gainz_device*, const char* name, uint32_t revision);
} gainz_device_api;

GAINZ_SDK_END

#endif
