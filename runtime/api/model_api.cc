// The C functions on models, text, requests and events.
#include <chrono>
#include <cstdlib>
#include <thread>

#include "api/border.h"
#include "api/runtime.h"

using namespace gainz;

namespace {

constexpr uint32_t kTokenizeFlags = GAINZ_TEXT_PARSE_SPECIAL | GAINZ_TEXT_ADD_SPECIAL;
constexpr uint32_t kDetokenizeFlags = GAINZ_TEXT_SKIP_SPECIAL | GAINZ_TEXT_RAW;

// A copy that gainz_free frees, with a zero after it.
Status hand_out(const void* data, size_t num_bytes, void** out) {
  char* copy = static_cast<char*>(std::malloc(num_bytes + 1));
  if (!copy) return {Code::out_of_host_memory, "out of host memory"};
  if (num_bytes > 0) std::memcpy(copy, data, num_bytes);
  copy[num_bytes] = 0;
  *out = copy;
  return {};
}

Status hand_out_text(const std::string& text, char** out_text, size_t* out_bytes) {
  if (!out_text || !out_bytes) return {Code::invalid, "out_text or out_bytes is NULL"};
  void* copy = nullptr;
  GAINZ_TRY(hand_out(text.data(), text.size(), &copy));
  *out_text = static_cast<char*>(copy);
  *out_bytes = text.size();
  return {};
}

}  // namespace

extern "C" {

void gainz_model_config_init(gainz_model_config* config) {
  if (!config) return;
  *config = gainz_model_config{sizeof(gainz_model_config)};
  config->speculation.struct_size = sizeof(gainz_speculation);
}

void gainz_sampling_init(gainz_sampling* sampling) {
  if (!sampling) return;
  *sampling = gainz_sampling{sizeof(gainz_sampling)};
  sampling->temperature = 1;
  sampling->top_p = 1;
  sampling->typical_p = 1;
  sampling->repetition_penalty = 1;
  sampling->max_tokens = -1;
  sampling->logprobs = -1;
}

void gainz_request_config_init(gainz_request_config* config) {
  if (!config) return;
  *config = gainz_request_config{sizeof(gainz_request_config)};
  gainz_sampling_init(&config->sampling);
  config->prompt_logprobs = -1;
  config->speculation.struct_size = sizeof(gainz_speculation);
}

gainz_code gainz_model_load(gainz_runtime* runtime, const gainz_model_config* config, gainz_model_id* out_model, char* error,
                            size_t error_bytes) {
  return border(error, error_bytes, [&]() -> Status {
    if (!runtime || !out_model) return {Code::invalid, "runtime or out_model is NULL"};
    *out_model = 0;
    gainz_model_config full{};
    GAINZ_TRY(read_struct(config, full, "gainz_model_config"));
    GAINZ_ASSIGN(auto model, load_model(*runtime, full));
    *out_model = runtime->add_model(std::move(model));
    return {};
  });
}

gainz_code gainz_model_unload(gainz_runtime* runtime, gainz_model_id id, char* error, size_t error_bytes) {
  return border(error, error_bytes, [&]() -> Status {
    if (!runtime) return {Code::invalid, "runtime is NULL"};
    auto model = runtime->take_model(id);
    if (!model) return {Code::not_found, "model " + std::to_string(id) + ": no such model"};
    // Calls that found it a moment ago (a submit, a tick) finish first, so that it is this thread that ends its requests.
    while (model.use_count() > 1) std::this_thread::sleep_for(std::chrono::microseconds(100));
    return {};
  });
}

gainz_code gainz_model_get(gainz_runtime* runtime, gainz_model_id id, gainz_model_info* out_info) {
  return border(nullptr, 0, [&]() -> Status {
    if (!runtime) return {Code::invalid, "runtime is NULL"};
    GAINZ_ASSIGN(const auto model, runtime->find_model(id));
    return write_struct(model->info, out_info, "gainz_model_info");
  });
}

gainz_code gainz_model_get_stats(gainz_runtime* runtime, gainz_model_id id, gainz_model_stats* out_stats) {
  return border(nullptr, 0, [&]() -> Status {
    if (!runtime) return {Code::invalid, "runtime is NULL"};
    GAINZ_ASSIGN(const auto model, runtime->find_model(id));
    return write_struct(model->engine->stats(), out_stats, "gainz_model_stats");
  });
}

gainz_code gainz_inspect(gainz_runtime* runtime, const char* path, char** out_json, size_t* out_bytes, char* error,
                         size_t error_bytes) {
  return border(error, error_bytes, [&]() -> Status {
    if (!runtime || !path) return {Code::invalid, "runtime or path is NULL"};
    GAINZ_ASSIGN(const std::string json, inspect_file(path));
    return hand_out_text(json, out_json, out_bytes);
  });
}

gainz_code gainz_tokenize(gainz_runtime* runtime, gainz_model_id id, const char* text, size_t text_bytes, uint32_t flags,
                          int32_t** out_ids, size_t* out_num_ids, char* error, size_t error_bytes) {
  return border(error, error_bytes, [&]() -> Status {
    if (!runtime || (!text && text_bytes > 0) || !out_ids || !out_num_ids)
      return {Code::invalid, "runtime, text, out_ids or out_num_ids is NULL"};
    if (flags & ~kTokenizeFlags) return {Code::invalid, "flags has unknown bits: " + std::to_string(flags)};
    GAINZ_ASSIGN(const auto model, runtime->find_model(id));
    GAINZ_ASSIGN(const auto ids,
                 model->tokenizer->encode(std::string_view(text ? text : "", text_bytes),
                                          (flags & GAINZ_TEXT_PARSE_SPECIAL) != 0, (flags & GAINZ_TEXT_ADD_SPECIAL) != 0));
    void* copy = nullptr;
    GAINZ_TRY(hand_out(ids.data(), ids.size() * sizeof(int32_t), &copy));
    *out_ids = static_cast<int32_t*>(copy);
    *out_num_ids = ids.size();
    return {};
  });
}

gainz_code gainz_detokenize(gainz_runtime* runtime, gainz_model_id id, const int32_t* ids, size_t num_ids, uint32_t flags,
                            char** out_text, size_t* out_bytes, char* error, size_t error_bytes) {
  return border(error, error_bytes, [&]() -> Status {
    if (!runtime || (!ids && num_ids > 0)) return {Code::invalid, "runtime or ids is NULL"};
    if (flags & ~kDetokenizeFlags) return {Code::invalid, "flags has unknown bits: " + std::to_string(flags)};
    GAINZ_ASSIGN(const auto model, runtime->find_model(id));
    const bool skip_special = (flags & GAINZ_TEXT_SKIP_SPECIAL) != 0;
    GAINZ_ASSIGN(const std::string text, (flags & GAINZ_TEXT_RAW) != 0
                                             ? model->tokenizer->decode_raw({ids, num_ids}, skip_special)
                                             : model->tokenizer->decode({ids, num_ids}, skip_special));
    return hand_out_text(text, out_text, out_bytes);
  });
}

gainz_code gainz_apply_template(gainz_runtime* runtime, gainz_model_id id, const char* messages_json, const char* tools_json,
                                const char* vars_json, uint32_t add_generation_prompt, char** out_text, size_t* out_bytes,
                                char* error, size_t error_bytes) {
  return border(error, error_bytes, [&]() -> Status {
    if (!runtime) return {Code::invalid, "runtime is NULL"};
    GAINZ_ASSIGN(const auto model, runtime->find_model(id));
    GAINZ_ASSIGN(const RenderedText rendered,
                 render_chat(*model, messages_json, tools_json, vars_json, add_generation_prompt != 0));
    return hand_out_text(rendered.text, out_text, out_bytes);
  });
}

gainz_code gainz_submit(gainz_runtime* runtime, const gainz_request_config* config, gainz_request_id* out_request, char* error,
                        size_t error_bytes) {
  return border(error, error_bytes, [&]() -> Status {
    if (!runtime || !out_request) return {Code::invalid, "runtime or out_request is NULL"};
    *out_request = 0;
    gainz_request_config full{};
    GAINZ_TRY(read_struct(config, full, "gainz_request_config"));
    GAINZ_ASSIGN(const auto model, runtime->find_model(full.model));
    GAINZ_ASSIGN(Request request, build_request(*model, full));
    const gainz_request_id id = runtime->hub.open(full.model);
    request.id = id;
    try {
      const Status status = model->engine->submit(std::move(request));
      if (!status.ok()) {
        runtime->hub.close(id);
        return status;
      }
    } catch (...) {
      runtime->hub.close(id);
      throw;
    }
    *out_request = id;
    return {};
  });
}

gainz_code gainz_cancel(gainz_runtime* runtime, gainz_request_id request) {
  return border(nullptr, 0, [&]() -> Status {
    if (!runtime) return {Code::invalid, "runtime is NULL"};
    const gainz_model_id id = runtime->hub.model_of(request);
    if (id == 0) return {Code::not_found, "no such request"};
    if (const auto model = runtime->find_model(id); model.ok()) (*model)->engine->cancel(request);
    return {};
  });
}

gainz_code gainz_poll(gainz_runtime* runtime, gainz_request_id request, int32_t timeout_ms, const gainz_event** out_event) {
  return border(nullptr, 0, [&]() -> Status {
    if (!runtime || !out_event) return {Code::invalid, "runtime or out_event is NULL"};
    *out_event = nullptr;
    const gainz_code code = runtime->hub.poll(request, runtime->thread_mode == GAINZ_THREADS_TICK ? 0 : timeout_ms, out_event);
    return code == GAINZ_OK ? Status() : Status(Code(code), "");
  });
}

void gainz_event_release(gainz_runtime* runtime, const gainz_event* event) {
  if (runtime) runtime->hub.release(event);
}

}  // extern "C"
