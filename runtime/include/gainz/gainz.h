/* gainz.h: language-model inference as a part of your program.
 *
 * One handle, no globals; no file is opened and no thread started unless a call here says so. Every failure is a status with a
 * sentence; nothing aborts, exits, prints or throws. Two runtimes live in one process without knowing of each other.
 *
 *   gainz_runtime_create -> gainz_model_load -> gainz_submit -> gainz_poll ... GAINZ_EVENT_DONE -> gainz_runtime_destroy
 *
 * Threads: every function may be called from any thread, concurrently, except where its comment says otherwise; destroy comes
 * last. Ids are 64 bit and carry a generation: a stale one is answered with GAINZ_NOT_FOUND. 0 is never an id. Structs begin
 * with struct_size; fill them with their _init function, then change what you need. They only grow at the end. `error` is your
 * buffer of `error_bytes` for one zero-terminated UTF-8 sentence; NULL and 0 if you do not want it. Memory that a function
 * hands out says who frees it; text goes back by gainz_free. */
#ifndef GAINZ_GAINZ_H
#define GAINZ_GAINZ_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define GAINZ_API
#else
#define GAINZ_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define GAINZ_VERSION "0.1.0"

typedef int32_t gainz_code;
#define GAINZ_OK 0
#define GAINZ_INVALID 1     /* your mistake or a hostile input */
#define GAINZ_UNSUPPORTED 2 /* well-formed, but not done here */
#define GAINZ_NOT_FOUND 3   /* a file, a name, a stale id */
#define GAINZ_OUT_OF_DEVICE_MEMORY 4
#define GAINZ_OUT_OF_HOST_MEMORY 5
#define GAINZ_BUSY 6 /* try again later; gainz_poll: nothing yet */
#define GAINZ_CANCELLED 7
#define GAINZ_DEVICE_LOST 8
#define GAINZ_LIMIT_EXCEEDED 9 /* a stated limit, for example the context */
#define GAINZ_INTERNAL 10

typedef struct gainz_runtime gainz_runtime;
typedef uint64_t gainz_model_id;
typedef uint64_t gainz_request_id;

/* ---- runtime ---- */

#define GAINZ_THREADS_OWN 0u /* the runtime makes an engine thread for each model and num_threads - 1 workers */
#define GAINZ_THREADS_TICK \
  1u /* no engine thread: work happens inside gainz_tick (workers as above; num_threads 1 makes no thread at all) */

#define GAINZ_LOG_LEVEL_ERROR 0u
#define GAINZ_LOG_LEVEL_WARNING 1u
#define GAINZ_LOG_LEVEL_INFO 2u
#define GAINZ_LOG_LEVEL_DEBUG 3u

typedef struct gainz_runtime_config {
  uint32_t struct_size;
  uint32_t thread_mode;
  uint32_t num_threads; /* threads that compute, the engine's included; 0: one for each core that this process may use */
  uint32_t reserved;
  void* hook_ctx; /* first argument of the hooks below; each hook may be NULL */
  void* (*allocate)(void* ctx, size_t size_bytes,
                    size_t alignment); /* large memory: pages, packed weights, scratch; NULL answers fail the call */
  void (*release)(void* ctx, void* memory, size_t size_bytes, size_t alignment);
  void (*log)(void* ctx, uint32_t level, const char* text); /* one line; from any thread */
  /* Runs body over [0, count) in runs of `grain` on your job system and returns when done; replaces the runtime's workers.
   * `worker` must be below num_threads and not be shared by two bodies that run at once. */
  void (*parallel_for)(void* ctx, uint64_t count, uint64_t grain,
                       void (*body)(void* arg, uint64_t begin, uint64_t end, uint32_t worker), void* arg);
  const char* plugin_path; /* folders with plugins, separated by ':'; NULL: `gainz/plugins` beside the library; never the
                              current folder */
  const char* cpu_isa; /* scalar, avx2, avx_vnni, avx512_vnni, amx: an upper bound for CPU plugins; NULL: the best there is */
} gainz_runtime_config;

GAINZ_API const char* gainz_version(void);
GAINZ_API const char* gainz_code_name(gainz_code code); /* "ok", "invalid" ... */
GAINZ_API void gainz_runtime_config_init(gainz_runtime_config* config);
/* Reads the manifests in plugin_path, loads no plugin code. config NULL: all defaults. */
GAINZ_API gainz_code gainz_runtime_create(const gainz_runtime_config* config, gainz_runtime** out_runtime, char* error,
                                          size_t error_bytes);
/* Cancels every request, joins every thread, frees everything. No other call may be running. NULL is fine. */
GAINZ_API void gainz_runtime_destroy(gainz_runtime* runtime);
GAINZ_API void gainz_free(gainz_runtime* runtime, void* memory);
/* GAINZ_THREADS_TICK: works for about budget_us (at least one slice), *out_pending is 1 while requests remain. From one thread
 * at a time. */
GAINZ_API gainz_code gainz_tick(gainz_runtime* runtime, uint64_t budget_us, uint32_t* out_pending, char* error,
                                size_t error_bytes);

/* ---- plugins and devices ---- */

/* Loads one plugin by an explicit path. Its devices are appended to the list. */
GAINZ_API gainz_code gainz_plugin_load(gainz_runtime* runtime, const char* path, char* error, size_t error_bytes);

typedef struct gainz_plugin_info { /* text: valid until gainz_runtime_destroy */
  uint32_t struct_size;
  uint32_t loaded; /* 1: its code is in use; 0: only its manifest was read, or it failed */
  const char* name;
  const char* path;
  const char* version;
  const char* reason; /* why it failed, or its devices could not be listed, or "" */
} gainz_plugin_info;

typedef struct gainz_device_info { /* text: valid until gainz_runtime_destroy */
  uint32_t struct_size;
  uint32_t index;
  const char* backend; /* the plugin's name */
  const char* name;
  const char* kind; /* cpu, gpu, accelerator */
  const char* isa;
  uint64_t memory_bytes; /* 0: not known */
  uint64_t free_bytes;
} gainz_device_info;

/* Loads every plugin found that is not loaded yet and lists devices. A bad plugin is skipped; its reason is in its info and the
 * log. */
GAINZ_API gainz_code gainz_devices_refresh(gainz_runtime* runtime, char* error, size_t error_bytes);
GAINZ_API uint32_t gainz_plugin_count(gainz_runtime* runtime);
GAINZ_API gainz_code gainz_plugin_get(gainz_runtime* runtime, uint32_t index, gainz_plugin_info* out_info);
GAINZ_API uint32_t gainz_device_count(gainz_runtime* runtime);
GAINZ_API gainz_code gainz_device_get(gainz_runtime* runtime, uint32_t index, gainz_device_info* out_info);

/* ---- models ---- */

/* ---- speculation: several guessed tokens are checked in one step; the tokens of an answer never depend on it ---- */

#define GAINZ_DRAFT_NGRAM 0u      /* runs of the prompt and the answer that come back */
#define GAINZ_DRAFT_PREDICTION 1u /* the text the caller expects */
#define GAINZ_DRAFT_CACHE 2u      /* what followed the same prefix before */
#define GAINZ_DRAFT_MODEL 3u      /* a smaller model */
#define GAINZ_DRAFT_NOISE 4u      /* random tokens, for measurements; only if it is named */
#define GAINZ_NUM_DRAFT_KINDS 5u
#define GAINZ_DRAFT_ROOM 8u /* entries in arrays by kind; those that have no kind yet are 0 */
#define GAINZ_MAX_DRAFT_TOKENS 16u

#define GAINZ_SPECULATION_DEFAULT 0u /* of a model: AUTO; of a request: the model's settings */
#define GAINZ_SPECULATION_AUTO 1u    /* as many tokens as the measured step times and acceptances make worth while */
#define GAINZ_SPECULATION_OFF 2u
#define GAINZ_SPECULATION_FIXED 3u /* always `depth` tokens where there is a guess */

typedef struct gainz_speculation {
  uint32_t struct_size;
  uint32_t mode;
  uint32_t kinds; /* bit (1 << GAINZ_DRAFT_*); 0: all but NOISE */
  uint32_t depth; /* drafted tokens in a step, at most GAINZ_MAX_DRAFT_TOKENS. FIXED: always; AUTO: at most (0: no own bound) */
} gainz_speculation;

typedef struct gainz_model_config {
  uint32_t struct_size;
  uint32_t context;      /* tokens of one sequence, prompt and answer; 0: the model's own, but at most GAINZ_DEFAULT_CONTEXT */
  const char* path;      /* GGUF file */
  const char* backend;   /* a plugin's name; NULL or "auto": the first of onednn, then reference, that serves, with a warning in
                            the log if it is not the first */
  const char* fallback;  /* "error" (default) or "scalar": what happens to operations the backend does not claim */
  const char* prefill;   /* "auto" (default) or "exact" */
  const char* kv_type;   /* f32, f16, q8_0 for K (and V); NULL: f16, on reference f32 */
  const char* kv_type_v; /* NULL: as kv_type */
  uint32_t max_sequences;   /* running at once; 0: 16 */
  uint32_t batch_tokens;    /* most tokens of one step, the prefill chunk; 0: 512 */
  uint64_t kv_memory_bytes; /* for pages; 0: room for max_sequences half-full contexts, at least one full one, within half of
                               the free memory */
  uint32_t no_mmap;         /* 1: read the file instead of mapping it */
  uint32_t no_prefix_cache; /* 1: finished sequences leave no pages */
  void* progress_ctx;
  int32_t (*progress)(void* ctx, const char* stage,
                      double fraction); /* not 0: stop the load (GAINZ_CANCELLED); from the loading thread; it may ask for
                                         plugins and devices, but loading any is GAINZ_BUSY */
  gainz_speculation speculation;        /* struct_size 0: all defaults */
  const char* draft_path;               /* GGUF file of a smaller model with the same vocabulary; NULL: none */
  const char* draft_backend;            /* NULL: as backend */
} gainz_model_config;
#define GAINZ_DEFAULT_CONTEXT 4096u

typedef struct gainz_model_info { /* text: valid until the model is unloaded */
  uint32_t struct_size;
  uint32_t vocab_size;
  const char* path;
  const char* architecture;
  const char* name; /* general.name or "" */
  const char* backend;
  const char* device;
  const char* isa;
  const char* kv_type;
  const char* kv_type_v;
  const char* tokenizer;   /* bpe, spm, unigram, wordpiece */
  uint32_t context;        /* served */
  uint32_t context_length; /* trained */
  uint32_t num_layers;
  uint32_t embedding_length;
  uint64_t num_tensors;
  uint64_t num_parameters;
  uint64_t file_bytes;
  uint64_t weight_bytes;           /* on the device */
  uint64_t weight_bytes_per_token; /* read for one generated token */
  uint64_t ops_per_token;          /* multiplications and additions of the linear operations for one token */
  uint64_t kv_bytes;               /* of all pages */
  uint64_t kv_bytes_per_token;
  uint32_t num_scalar_nodes; /* nodes that run on the scalar fallback */
  uint32_t has_chat_template;
  uint32_t max_sequences;
  uint32_t batch_tokens;
  double load_seconds;
  const char* draft_path; /* of the draft model, whose weights and pages are counted above, or "" */
} gainz_model_info;

GAINZ_API void gainz_model_config_init(gainz_model_config* config);
GAINZ_API gainz_code gainz_model_load(gainz_runtime* runtime, const gainz_model_config* config, gainz_model_id* out_model,
                                      char* error, size_t error_bytes);
/* Ends its requests with GAINZ_CANCELLED, waits for the engine, frees everything. */
GAINZ_API gainz_code gainz_model_unload(gainz_runtime* runtime, gainz_model_id model, char* error, size_t error_bytes);
GAINZ_API gainz_code gainz_model_get(gainz_runtime* runtime, gainz_model_id model, gainz_model_info* out_info);

typedef struct gainz_model_stats {
  uint32_t struct_size;
  uint32_t num_running, num_waiting;
  uint32_t reserved;
  uint64_t pages_total, pages_used, pages_cached; /* used: held by sequences; cached: kept for prefixes, free to take */
  uint64_t num_steps, num_prompt_tokens, num_generated_tokens, num_cached_tokens, num_preemptions, num_finished, num_failed,
      num_cancelled;
  uint64_t num_drafted[GAINZ_DRAFT_ROOM], num_accepted[GAINZ_DRAFT_ROOM]; /* tokens, by GAINZ_DRAFT_* */
  uint64_t decode_us;    /* of steps that held generated tokens alone and whose time had been foreseen */
  uint64_t predicted_us; /* what the speculation's model had foreseen for them */
} gainz_model_stats;
GAINZ_API gainz_code gainz_model_get_stats(gainz_runtime* runtime, gainz_model_id model, gainz_model_stats* out_stats);

/* What a file holds, as JSON:
 * {"path","architecture","bytes","metadata":{...},"num_tensors","tensors":[{"name","type","dims","bytes"}]}. Long arrays are
 * cut to their first items with their size beside. *out_json is freed by gainz_free. Loads nothing. */
GAINZ_API gainz_code gainz_inspect(gainz_runtime* runtime, const char* path, char** out_json, size_t* out_bytes, char* error,
                                   size_t error_bytes);

/* ---- text ---- */

#define GAINZ_TEXT_PARSE_SPECIAL 1u /* spellings of control tokens become these tokens: only for text you wrote yourself */
#define GAINZ_TEXT_ADD_SPECIAL 2u   /* begin- and end-of-text tokens as the model wants them */
#define GAINZ_TEXT_SKIP_SPECIAL 4u  /* detokenize: leave control tokens out */
#define GAINZ_TEXT_RAW 8u           /* detokenize: each token's own bytes, which may be a part of a character */
/* *out_ids and *out_text are freed by gainz_free. */
GAINZ_API gainz_code gainz_tokenize(gainz_runtime* runtime, gainz_model_id model, const char* text, size_t text_bytes,
                                    uint32_t flags, int32_t** out_ids, size_t* out_num_ids, char* error, size_t error_bytes);
GAINZ_API gainz_code gainz_detokenize(gainz_runtime* runtime, gainz_model_id model, const int32_t* ids, size_t num_ids,
                                      uint32_t flags, char** out_text, size_t* out_bytes, char* error, size_t error_bytes);
/* Renders the model's chat template. JSON texts are zero-terminated; tools_json and vars_json may be NULL. */
GAINZ_API gainz_code gainz_apply_template(gainz_runtime* runtime, gainz_model_id model, const char* messages_json,
                                          const char* tools_json, const char* vars_json, uint32_t add_generation_prompt,
                                          char** out_text, size_t* out_bytes, char* error, size_t error_bytes);

/* ---- requests ---- */

#define GAINZ_REQUEST_GENERATE 0u
#define GAINZ_REQUEST_EMBED 1u  /* one GAINZ_EVENT_EMBEDDING */
#define GAINZ_REQUEST_LOGITS 2u /* one GAINZ_EVENT_LOGITS for each of `positions` */

#define GAINZ_POOLING_MEAN 0u
#define GAINZ_POOLING_LAST 1u

#define GAINZ_REQUEST_NO_CACHE 1u      /* neither take nor leave prefix pages */
#define GAINZ_REQUEST_PARSE_SPECIAL 2u /* for `prompt` */
#define GAINZ_REQUEST_NO_BOS 4u        /* for `prompt`: do not add begin-of-text */

typedef struct gainz_logit_bias {
  int32_t id;
  float bias;
} gainz_logit_bias;
typedef struct gainz_token_logprob {
  int32_t id;
  float logprob;
} gainz_token_logprob;

/* Applied in this order: logit bias, penalties, min-tokens and ignore-eos masks, temperature, top-k, typical, top-p, min-p,
 * pick. */
typedef struct gainz_sampling {
  uint32_t struct_size;
  float temperature;                                             /* 1; 0: greedy */
  int32_t top_k;                                                 /* 0: off */
  float top_p, min_p, typical_p;                                 /* 1, 0, 1: off */
  float repetition_penalty, presence_penalty, frequency_penalty; /* 1, 0, 0: off */
  int32_t min_tokens;                                            /* at most max_tokens */
  int32_t max_tokens;                                            /* -1: until the context is full; 0 makes none */
  int32_t logprobs;                                              /* -1: none; n: the chosen token's and the n best */
  uint64_t seed;                                                 /* the same seed gives the same tokens; see has_seed */
  uint32_t has_seed;                                             /* 0: a seed is drawn and told in the last event */
  uint32_t ignore_eos;
  const gainz_logit_bias* logit_bias;
  size_t num_logit_bias;
  const char* const* stop; /* texts that end the answer and are not part of it */
  size_t num_stop;
  const int32_t* stop_token_ids;
  size_t num_stop_token_ids;
} gainz_sampling;

typedef struct gainz_request_config {
  uint32_t struct_size;
  uint32_t kind;
  gainz_model_id model;
  uint32_t flags;
  int32_t priority;          /* higher runs first; 0 */
  void* user;                /* comes back in every event */
  const int32_t* prompt_ids; /* exactly one of prompt_ids, prompt and messages_json */
  size_t num_prompt_ids;
  const char* prompt; /* plain text, prompt_bytes long */
  size_t prompt_bytes;
  const char* messages_json; /* a chat, rendered by the model's template; text in it never becomes a control token */
  const char* tools_json;    /* these two only with messages_json */
  const char* vars_json;
  const char* cache_salt; /* pages are shared only between equal salts; NULL: "" */
  gainz_sampling sampling;
  int32_t prompt_logprobs;   /* GENERATE: -1: none; n: one GAINZ_EVENT_PROMPT_LOGPROB for each prompt token but the first */
  uint32_t pooling;          /* EMBED */
  const uint32_t* positions; /* LOGITS: rising indices into the ids */
  size_t num_positions;
  size_t num_generated_ids; /* LOGITS: that many ids at the end are fed one by one as generated tokens */
  uint32_t timeout_ms;      /* 0: none; from submit to the last event */
  uint32_t preempt_after;   /* tests: give the pages up once after this many generated tokens and recompute; 0: never */
  gainz_speculation speculation;
  const char* prediction; /* GENERATE: text that the answer is expected to be like; it only makes the answer come sooner */
  size_t prediction_bytes;
  const int32_t* prediction_ids; /* the same as ids; not both */
  size_t num_prediction_ids;
} gainz_request_config;

GAINZ_API void gainz_sampling_init(gainz_sampling* sampling);
GAINZ_API void gainz_request_config_init(gainz_request_config* config);
/* Everything is copied. Errors that can be known at once are answered here; all others come with the last event.
 * LIMIT_EXCEEDED: the prompt does not fit the context (both named). */
GAINZ_API gainz_code gainz_submit(gainz_runtime* runtime, const gainz_request_config* config, gainz_request_id* out_request,
                                  char* error, size_t error_bytes);
/* The last event comes within one slice. Cancelling what has ended is fine. */
GAINZ_API gainz_code gainz_cancel(gainz_runtime* runtime, gainz_request_id request);

/* ---- events ---- */

#define GAINZ_EVENT_STARTED 1u        /* the prompt's ids are known: num_prompt_tokens */
#define GAINZ_EVENT_TOKEN 2u          /* one generated token: id, text (whole characters, may be empty), logprobs if asked */
#define GAINZ_EVENT_PROMPT_LOGPROB 3u /* position, id, logprobs */
#define GAINZ_EVENT_EMBEDDING 4u      /* values [num_values] */
#define GAINZ_EVENT_LOGITS 5u         /* position, values [vocab_size] */
#define GAINZ_EVENT_DONE 6u /* the last one of a request, exactly once: code, reason, text (held tail), counts and times */

#define GAINZ_FINISH_STOP 1u   /* an end token, a stop text or a stop id */
#define GAINZ_FINISH_LENGTH 2u /* max_tokens or the context */
#define GAINZ_FINISH_CANCELLED 3u
#define GAINZ_FINISH_ERROR 4u /* code and error say why */
#define GAINZ_FINISH_TIMEOUT 5u

typedef struct gainz_event {
  uint32_t struct_size;
  uint32_t kind;
  gainz_request_id request;
  void* user;
  int32_t id; /* token; -1: none */
  uint32_t position;
  const char* text; /* zero-terminated, text_bytes long */
  size_t text_bytes;
  float logprob;
  uint32_t num_top;
  const gainz_token_logprob* top; /* best first */
  const float* values;
  size_t num_values;
  /* GAINZ_EVENT_DONE */
  gainz_code code;
  uint32_t finish_reason;
  const char* error;
  uint32_t num_prompt_tokens, num_cached_tokens, num_generated_tokens, num_preemptions;
  uint64_t seed;
  uint64_t queue_us, prefill_us, decode_us;                               /* submit to start, to the first token, to the last */
  uint32_t num_drafted[GAINZ_DRAFT_ROOM], num_accepted[GAINZ_DRAFT_ROOM]; /* tokens, by GAINZ_DRAFT_* */
} gainz_event;

/* The next event of one request, or of any (request 0), waiting at most timeout_ms (0: not at all; -1: as long as it takes).
 * The event is yours until gainz_event_release. BUSY: nothing in time. NOT_FOUND: the request's last event has been taken. In
 * tick mode it never waits. */
GAINZ_API gainz_code gainz_poll(gainz_runtime* runtime, gainz_request_id request, int32_t timeout_ms,
                                const gainz_event** out_event);
GAINZ_API void gainz_event_release(gainz_runtime* runtime, const gainz_event* event);

#ifdef __cplusplus
}
#endif
#endif
