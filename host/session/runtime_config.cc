#include "session/runtime_config.h"

#include <fmt/format.h>

#include "base/text.h"
#include "config/speculation.h"

namespace gainz::host {
namespace {

// nullptr, the runtime's default, for a setting that says so.
const char* or_null(const std::string& text, std::string_view standard) { return text == standard ? nullptr : text.c_str(); }

}  // namespace

Failure failure_of(gainz_code code, const char* sentence) {
  const std::string text = printable(sentence);
  return Failure{text.empty() ? fmt::format("the runtime answered \"{}\"", gainz_code_name(code)) : text};
}

Result<gainz_runtime*> make_runtime(const Settings& settings, LogSink& log) {
  gainz_runtime_config config;
  gainz_runtime_config_init(&config);
  config.hook_ctx = &log;
  config.log = LogSink::hook;
  config.num_threads = static_cast<uint32_t>(settings.integer(key("threads")));
  config.plugin_path = or_null(settings.text(key("plugin_path")), "");
  config.cpu_isa = or_null(settings.text(key("cpu_isa")), "auto");
  gainz_runtime* runtime = nullptr;
  char error[kErrorBytes] = "";
  const gainz_code code = gainz_runtime_create(&config, &runtime, error, sizeof error);
  if (code != GAINZ_OK) return failure_of(code, error);
  return runtime;
}

gainz_model_config model_config_of(const std::string& path, const Settings& settings) {
  gainz_model_config config;
  gainz_model_config_init(&config);
  config.path = path.c_str();
  config.context = static_cast<uint32_t>(settings.integer(key("context")));
  config.backend = or_null(settings.text(key("backend")), "auto");
  config.fallback = settings.text(key("fallback")).c_str();
  config.prefill = settings.text(key("prefill")).c_str();
  config.kv_type = or_null(settings.text(key("kv_type")), "auto");
  config.kv_type_v = or_null(settings.text(key("kv_type_v")), "auto");
  config.max_sequences = static_cast<uint32_t>(settings.integer(key("max_sequences")));
  config.batch_tokens = static_cast<uint32_t>(settings.integer(key("batch_tokens")));
  config.kv_memory_bytes = static_cast<uint64_t>(settings.integer(key("kv_memory_bytes")));
  config.no_mmap = settings.boolean(key("mmap")) ? 0 : 1;
  config.no_prefix_cache = settings.boolean(key("prefix_cache")) ? 0 : 1;
  const Result<gainz_speculation> speculation = parse_speculation(settings.text(key("speculation")));
  if (speculation.ok()) config.speculation = *speculation;  // it was checked when it was set
  config.draft_path = or_null(settings.text(key("draft_model")), "");
  config.draft_backend = or_null(settings.text(key("draft_backend")), "");
  return config;
}

}  // namespace gainz::host
