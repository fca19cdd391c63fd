#include <cstdlib>
#include <filesystem>

#include "probe/probe.h"

namespace gainz::probe {
namespace {

constexpr size_t kMaxModels = 3;

std::string plugin_path() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  return (program.parent_path().parent_path() / "lib" / "gainz" / "plugins").string();
}

}  // namespace

Session::Session() = default;

Session::~Session() {
  close_models();
  for (auto& [threads, runtime] : runtimes_) gainz_runtime_destroy(runtime);
}

void Session::close_models() {
  for (auto& [key, open] : models_) (void)gainz_model_unload(open.runtime, open.id, nullptr, 0);
  models_.clear();
}

Result<std::shared_ptr<const Gguf>> Session::metadata(const std::string& path) {
  if (const auto it = files_.find(path); it != files_.end()) return it->second;
  GgufOptions options;
  options.metadata_only = true;
  GAINZ_ASSIGN(auto file, Gguf::open(path, options));
  files_[path] = file;
  return file;
}

Result<std::shared_ptr<const Tokenizer>> Session::tokenizer(const std::string& path) {
  if (const auto it = tokenizers_.find(path); it != tokenizers_.end()) return it->second;
  GAINZ_ASSIGN(const auto file, metadata(path));
  GAINZ_ASSIGN(auto made, Tokenizer::create(file));
  tokenizers_[path] = made;
  return made;
}

Result<std::shared_ptr<const ChatTemplate>> Session::chat_template(const std::string& source) {
  if (const auto it = templates_.find(source); it != templates_.end()) return it->second;
  GAINZ_ASSIGN(auto made, ChatTemplate::parse(source));
  if (templates_.size() > 64) templates_.clear();
  templates_[source] = made;
  return made;
}

Status Session::read_model_key(Fields& fields, ModelKey& key) {
  GAINZ_TRY(fields.string("model", key.path));
  if (key.path.empty()) return {Code::invalid, "model is missing"};
  GAINZ_TRY(fields.string("backend", key.backend));
  GAINZ_TRY(fields.string("kv_type", key.kv_type));
  GAINZ_TRY(fields.string("kv_type_v", key.kv_type_v));
  GAINZ_TRY(fields.string("prefill", key.prefill));
  GAINZ_TRY(fields.string("draft_model", key.draft_model));
  GAINZ_TRY(fields.integer("threads", key.threads));
  GAINZ_TRY(fields.integer("chunk", key.chunk));
  GAINZ_TRY(fields.integer("fill", key.fill));
  if (key.chunk == 0 || key.chunk > 4096)
    return {Code::limit_exceeded, "chunk is " + std::to_string(key.chunk) + ", it must be 1 to 4096"};
  if (key.fill > 63) return {Code::limit_exceeded, "fill is " + std::to_string(key.fill) + ", at most 63"};
  return {};
}

Result<Session::OpenModel> Session::model(const ModelKey& key) {
  if (const auto it = models_.find(key); it != models_.end()) return it->second;
  if (models_.size() >= kMaxModels) close_models();
  char error[1024];
  gainz_runtime*& runtime = runtimes_[key.threads];
  if (!runtime) {
    gainz_runtime_config config;
    gainz_runtime_config_init(&config);
    const std::string plugins = plugin_path();
    config.plugin_path = plugins.c_str();
    config.num_threads = key.threads;
    config.cpu_isa = std::getenv("GAINZ_CPU_ISA");
    if (config.cpu_isa && !*config.cpu_isa) config.cpu_isa = nullptr;
    if (const gainz_code code = gainz_runtime_create(&config, &runtime, error, sizeof(error)); code != GAINZ_OK)
      return Status(Code(code), error);
  }
  gainz_model_config config;
  gainz_model_config_init(&config);
  config.path = key.path.c_str();
  if (!key.backend.empty()) config.backend = key.backend.c_str();
  if (!key.kv_type.empty()) config.kv_type = key.kv_type.c_str();
  if (!key.kv_type_v.empty()) config.kv_type_v = key.kv_type_v.c_str();
  if (!key.prefill.empty()) config.prefill = key.prefill.c_str();
  if (!key.draft_model.empty()) config.draft_path = key.draft_model.c_str();
  config.max_sequences = key.fill + 1;
  config.batch_tokens = key.chunk + key.fill;  // the others take one token each
  OpenModel open{runtime};
  open.info.struct_size = sizeof(open.info);
  if (const gainz_code code = gainz_model_load(runtime, &config, &open.id, error, sizeof(error)); code != GAINZ_OK)
    return Status(Code(code), error);
  (void)gainz_model_get(runtime, open.id, &open.info);
  models_[key] = open;
  return open;
}

}  // namespace gainz::probe
