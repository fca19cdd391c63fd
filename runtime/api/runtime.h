// gainz_runtime: what stands behind the C handle: services, plugins, models, requests.
// Owner: the embedding program. Threads: any; models_mutex guards the tables, plugins_mutex the registry and lists.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "api/event_hub.h"
#include "device/plugin_registry.h"
#include "engine/engine.h"
#include "gainz/gainz.h"
#include "template/chat_template.h"
#include "tokenizer/tokenizer.h"

namespace gainz {

// A model with its engine and what the API needs beside them. Texts of `info` point into it.
struct LoadedModel {
  std::string path, kv_type, kv_type_v;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::shared_ptr<const ChatTemplate> chat_template;  // null: none, or template_status says why it cannot be used
  Status template_status;
  std::string bos_text, eos_text, architecture, name, backend, device, isa, tokenizer_kind;
  std::string draft_path;                               // "": none
  uint64_t draft_weight_bytes = 0, draft_kv_bytes = 0;  // counted in info
  gainz_speculation speculation{};                      // what a request gets that names none; mode is not DEFAULT
  gainz_model_info info{};
  std::unique_ptr<Engine> engine;
};

}  // namespace gainz

struct gainz_runtime {
  explicit gainz_runtime(const gainz_runtime_config& config);

  gainz::Services services;
  gainz::PluginHost host;
  gainz::PluginRegistry registry;
  gainz::EventHub hub;
  uint32_t thread_mode = GAINZ_THREADS_OWN;
  std::string cpu_isa;

  std::recursive_mutex plugins_mutex;  // a model's load holds it, and its progress callback may ask for devices
  bool loading = false;                // such a load: nobody changes the plugins under it
  std::vector<gainz::DeviceInfo> devices;
  std::set<std::string> texts;  // what infos point to; each text once

  struct ModelSlot {
    uint32_t generation = 0;
    std::shared_ptr<gainz::LoadedModel> model;
  };
  std::mutex models_mutex;
  std::vector<ModelSlot> models;

  const char* keep(const std::string& text) { return texts.insert(text).first->c_str(); }
  gainz::Result<std::shared_ptr<gainz::LoadedModel>> find_model(gainz_model_id id);
  gainz_model_id add_model(std::shared_ptr<gainz::LoadedModel> model);
  std::shared_ptr<gainz::LoadedModel> take_model(gainz_model_id id);
};

namespace gainz {

// model_loader.cc: everything behind gainz_model_load but the table.
Result<std::shared_ptr<LoadedModel>> load_model(gainz_runtime& runtime, const gainz_model_config& config);
Result<std::unique_ptr<Model>> load_weights(gainz_runtime& runtime, const gainz_model_config& config);
// How much of it an engine can serve: context, batches, pages. out_k, out_v: the names of the KV types.
Result<EngineOptions> choose_options(const gainz_model_config& config, const Model& model, std::string& out_k,
                                     std::string& out_v);
// draft_loader.cc: the model of config.draft_path. Errors name the first token in which the vocabularies differ.
Result<std::unique_ptr<DraftModel>> load_draft(gainz_runtime& runtime, const gainz_model_config& config,
                                               const EngineOptions& target, LoadedModel& loaded);
// A caller's settings over those in `out`. Errors name the field.
Status read_speculation(const gainz_speculation& settings, gainz_speculation& out);
// request_builder.cc: checks and tokenizes.
Result<Request> build_request(const LoadedModel& model, const gainz_request_config& config);
Result<RenderedText> render_chat(const LoadedModel& model, const char* messages_json, const char* tools_json,
                                 const char* vars_json, bool add_generation_prompt);
// A caller's sampling, checked; a seed is drawn if it has none. Errors name the field.
Result<SamplingParams> read_sampling(const gainz_sampling& sampling, uint32_t vocab_size);
// Rendered text as ids: only what the template itself wrote may become control tokens.
Result<std::vector<int32_t>> encode_rendered(const Tokenizer& tokenizer, const RenderedText& rendered);
// inspect.cc
Result<std::string> inspect_file(const std::string& path);
// 64 random bits from the system.
Result<uint64_t> random_u64();

}  // namespace gainz
