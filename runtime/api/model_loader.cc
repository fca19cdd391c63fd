// Everything behind gainz_model_load: the weights, the tokenizer, the template, how many pages fit, the engine.
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "api/runtime.h"
#include "engine/active.h"
#include "gguf/gguf.h"

namespace gainz {
namespace {

constexpr uint32_t kMaxSequences = 1024, kMaxBatchTokens = 8192, kDefaultSequences = 16, kDefaultBatchTokens = 512;
constexpr uint32_t kMinRows = 32;  // of outputs in a step
constexpr uint32_t kMaxContext = 1u << 24;

Result<uint32_t> kv_type_number(const std::string& name) {
  if (name == "f32") return GAINZ_TYPE_F32;
  if (name == "f16") return GAINZ_TYPE_F16;
  if (name == "q8_0") return GAINZ_TYPE_Q8_0;
  return Status(Code::invalid, "kv_type \"" + name + "\" is unknown; there are f32, f16, q8_0");
}

uint64_t free_host_bytes() {
  std::FILE* file = std::fopen("/proc/meminfo", "r");
  if (!file) return 0;
  char line[128];
  unsigned long long kib = 0;
  while (std::fgets(line, sizeof(line), file))
    if (std::sscanf(line, "MemAvailable: %llu kB", &kib) == 1) break;
  std::fclose(file);
  return uint64_t{kib} * 1024;
}

// How the pages of the groups follow from a number of blocks.
struct PagePlan {
  std::vector<gainz_page_group> groups;
  uint32_t k_type, v_type, max_sequences, batch_tokens, context_blocks;

  uint32_t num_pages(const gainz_page_group& group, uint64_t num_blocks) const {
    uint64_t pages = num_blocks;
    if (group.window != 0) {  // windows of all sequences, one prefill chunk, and a quarter of the rest for cached prefixes
      const uint64_t per_sequence = group.window / kPageTokens + 2, chunk = batch_tokens / kPageTokens + 1;
      pages = std::min(pages, max_sequences * per_sequence + chunk + num_blocks / 4);
    }
    return uint32_t(pages + 1);  // scratch
  }
  uint64_t bytes(uint64_t num_blocks) const {
    uint64_t sum = 0;
    for (const auto& group : groups) sum += gainz_page_bytes(&group, k_type, v_type) * num_pages(group, num_blocks);
    return sum;
  }
  // The most blocks, at most `wanted`, within the budget.
  uint64_t fit(uint64_t wanted, uint64_t budget_bytes) const {
    uint64_t low = 0, high = wanted;
    while (low < high) {
      const uint64_t middle = (low + high + 1) / 2;
      if (bytes(middle) <= budget_bytes)
        low = middle;
      else
        high = middle - 1;
    }
    return low;
  }
};

Result<uint64_t> choose_blocks(const PagePlan& plan, const gainz_model_config& config, const DeviceInfo& device,
                               uint32_t context) {
  const uint64_t one = plan.context_blocks;
  if (config.kv_memory_bytes != 0) {
    const uint64_t blocks = plan.fit(uint64_t{one} * plan.max_sequences, config.kv_memory_bytes);
    if (blocks < one)
      return Status(Code::limit_exceeded, "the pages of one context of " + std::to_string(context) + " tokens need " +
                                              std::to_string(plan.bytes(one)) + " bytes, kv_memory_bytes is " +
                                              std::to_string(config.kv_memory_bytes));
    return blocks;
  }
  const uint64_t free_bytes = (device.flags & GAINZ_DEVICE_SHARES_MEMORY) ? free_host_bytes() : device.free_bytes;
  const uint64_t wanted = std::max(one, one * plan.max_sequences / 2);
  if (free_bytes == 0) return wanted;
  const uint64_t blocks = plan.fit(wanted, free_bytes / 2);
  if (blocks < one)
    return Status(Code::out_of_device_memory, "the pages of one context of " + std::to_string(context) + " tokens need " +
                                                  std::to_string(plan.bytes(one)) + " bytes, half of the free memory is " +
                                                  std::to_string(free_bytes / 2) + "; choose a smaller context");
  return blocks;
}

Result<uint32_t> choose_context(const gainz_model_config& config, const ModelInfo& info) {
  if (config.context == 0) return std::min(info.context_length, GAINZ_DEFAULT_CONTEXT);
  if (config.context > std::min(info.context_length, kMaxContext))
    return Status(Code::limit_exceeded, "context is " + std::to_string(config.context) + ", the model was made for " +
                                            std::to_string(info.context_length));
  return config.context;
}

}  // namespace

Result<EngineOptions> choose_options(const gainz_model_config& config, const Model& model, std::string& out_k,
                                     std::string& out_v) {
  const ModelInfo& info = model.info();
  EngineOptions options;
  GAINZ_ASSIGN(options.context, choose_context(config, info));
  SchedulerLimits& limits = options.limits;
  limits.max_sequences = config.max_sequences ? config.max_sequences : kDefaultSequences;
  limits.batch_tokens = config.batch_tokens ? config.batch_tokens : std::max(kDefaultBatchTokens, limits.max_sequences);
  if (limits.max_sequences > kMaxSequences)
    return Status(Code::limit_exceeded,
                  "max_sequences is " + std::to_string(limits.max_sequences) + ", at most " + std::to_string(kMaxSequences));
  if (limits.batch_tokens > kMaxBatchTokens || limits.batch_tokens < limits.max_sequences)
    return Status(Code::invalid, "batch_tokens is " + std::to_string(limits.batch_tokens) + ", it must be max_sequences (" +
                                     std::to_string(limits.max_sequences) + ") to " + std::to_string(kMaxBatchTokens));
  limits.max_rows = std::min(std::max(kMinRows, limits.max_sequences), limits.batch_tokens);
  limits.phases_differ = (model.device().flags & GAINZ_DEVICE_PHASES_DIFFER) != 0;
  out_k = config.kv_type ? config.kv_type : model.device().backend == "reference" ? "f32" : "f16";
  out_v = config.kv_type_v ? config.kv_type_v : out_k;
  GAINZ_ASSIGN(options.k_type, kv_type_number(out_k));
  GAINZ_ASSIGN(options.v_type, kv_type_number(out_v));
  for (const uint32_t type : {options.k_type, options.v_type})
    if (!model.supports_kv_type(type))
      return Status(Code::unsupported,
                    "backend " + model.device().backend + " has no pages of type " + (type == options.k_type ? out_k : out_v));
  for (const auto& group : info.page_groups)
    if (gainz_page_bytes(&group, options.k_type, options.v_type) == 0 ||
        gainz_kv_row_bytes(options.k_type, group.k_head_dim) == 0 || gainz_kv_row_bytes(options.v_type, group.v_head_dim) == 0)
      return Status(Code::unsupported, "kv_type " + out_k + "/" + out_v + " does not fit heads of " +
                                           std::to_string(group.k_head_dim) + " and " + std::to_string(group.v_head_dim));
  const uint32_t context_blocks = (options.context + kPageTokens - 1) / kPageTokens;
  const PagePlan plan{info.page_groups,     options.k_type,      options.v_type,
                      limits.max_sequences, limits.batch_tokens, context_blocks};
  GAINZ_ASSIGN(const uint64_t num_blocks, choose_blocks(plan, config, model.device(), options.context));
  for (const auto& group : info.page_groups) options.page_groups.push_back({plan.num_pages(group, num_blocks), group.window});
  options.prefix_cache = config.no_prefix_cache == 0;
  GAINZ_ASSIGN(options.secret, random_u64());
  return options;
}

namespace {

Status read_text_parts(LoadedModel& loaded, const Gguf& file) {
  if (const auto bos = loaded.tokenizer->bos()) loaded.bos_text = loaded.tokenizer->token_text(*bos);
  if (const auto eos = loaded.tokenizer->eos()) loaded.eos_text = loaded.tokenizer->token_text(*eos);
  if (!file.has("tokenizer.chat_template")) return {};
  GAINZ_ASSIGN(const std::string_view source, file.string("tokenizer.chat_template"));
  auto parsed = ChatTemplate::parse(source);
  if (parsed.ok())
    loaded.chat_template = *parsed;
  else
    loaded.template_status = Status(parsed.status().code(), "tokenizer.chat_template: " + parsed.status().message());
  return {};
}

ModelOptions read_options(const gainz_runtime& runtime, const gainz_model_config& config) {
  ModelOptions options;
  options.path = config.path;
  options.use_mmap = config.no_mmap == 0;
  if (config.backend) options.backend = config.backend;
  if (config.fallback) options.fallback = config.fallback;
  if (!runtime.cpu_isa.empty()) options.device_options.emplace_back("isa", runtime.cpu_isa);
  if (config.prefill) options.device_options.emplace_back("prefill", config.prefill);
  if (config.progress)
    options.progress = [ctx = config.progress_ctx, progress = config.progress](const char* stage, double fraction) {
      return progress(ctx, stage, fraction) == 0;
    };
  return options;
}

void fill_info(LoadedModel& l, const Gguf& file) {
  const Model& model = l.engine->model();
  const EngineOptions& options = l.engine->options();
  const ModelInfo& m = model.info();
  l.architecture = m.architecture;
  l.name = m.name;
  l.backend = model.device().backend;
  l.device = model.device().name;
  l.isa = model.device().isa;
  const std::string_view kind = l.tokenizer->kind();
  l.tokenizer_kind = kind == "gpt2"    ? "bpe"
                     : kind == "llama" ? "spm"
                     : kind == "t5"    ? "unigram"
                     : kind == "bert"  ? "wordpiece"
                                       : std::string(kind);
  gainz_model_info& info = l.info;
  info.struct_size = sizeof(info);
  info.vocab_size = m.vocab_size;
  info.path = l.path.c_str();
  info.architecture = l.architecture.c_str();
  info.name = l.name.c_str();
  info.backend = l.backend.c_str();
  info.device = l.device.c_str();
  info.isa = l.isa.c_str();
  info.kv_type = l.kv_type.c_str();
  info.kv_type_v = l.kv_type_v.c_str();
  info.tokenizer = l.tokenizer_kind.c_str();
  info.context = options.context;
  info.context_length = m.context_length;
  info.num_layers = m.num_layers;
  info.embedding_length = m.embedding_length;
  info.num_tensors = m.num_tensors;
  info.num_parameters = m.num_parameters;
  info.file_bytes = file.size_bytes();
  info.weight_bytes = model.weight_bytes();
  info.weight_bytes_per_token = m.weight_bytes_per_token;
  info.ops_per_token = m.ops_per_token;
  for (size_t g = 0; g < m.page_groups.size(); ++g) {
    const uint64_t bytes = gainz_page_bytes(&m.page_groups[g], options.k_type, options.v_type);
    info.kv_bytes += bytes * options.page_groups[g].num_pages;
    info.kv_bytes_per_token += bytes / kPageTokens;
  }
  info.weight_bytes += l.draft_weight_bytes;
  info.kv_bytes += l.draft_kv_bytes;
  info.draft_path = l.draft_path.c_str();
  info.num_scalar_nodes = model.num_scalar_nodes();
  info.has_chat_template = l.chat_template != nullptr;
  info.max_sequences = options.limits.max_sequences;
  info.batch_tokens = options.limits.batch_tokens;
}

}  // namespace

Result<std::unique_ptr<Model>> load_weights(gainz_runtime& runtime, const gainz_model_config& config) {
  std::lock_guard lock(runtime.plugins_mutex);
  if (runtime.loading)
    return Status(Code::busy, std::string(config.path) + ": another load's progress callback cannot load a model");
  struct Loading {
    bool& flag;
    ~Loading() { flag = false; }
  } loading{runtime.loading};
  runtime.loading = true;
  return Model::load(runtime.services, runtime.registry, read_options(runtime, config));
}

Result<std::shared_ptr<LoadedModel>> load_model(gainz_runtime& runtime, const gainz_model_config& config) {
  if (!config.path) return Status(Code::invalid, "gainz_model_config.path is NULL");
  gainz_speculation speculation{sizeof(speculation), GAINZ_SPECULATION_AUTO, 0, 0};
  GAINZ_TRY(read_speculation(config.speculation, speculation));
  const uint64_t begin = now_us();
  auto loaded = std::make_shared<LoadedModel>();
  loaded->path = config.path;
  loaded->speculation = speculation;
  GAINZ_ASSIGN(std::unique_ptr<Model> model, load_weights(runtime, config));
  const auto file = model->file();
  GAINZ_ASSIGN(loaded->tokenizer, Tokenizer::create(file));
  if (loaded->tokenizer->vocab_size() > int64_t{model->info().vocab_size})
    return Status(Code::invalid, loaded->path + ": the tokenizer has " + std::to_string(loaded->tokenizer->vocab_size()) +
                                     " tokens, the model " + std::to_string(model->info().vocab_size));
  GAINZ_TRY(read_text_parts(*loaded, *file));
  GAINZ_ASSIGN(const EngineOptions options, choose_options(config, *model, loaded->kv_type, loaded->kv_type_v));
  std::unique_ptr<DraftModel> draft;
  if (config.draft_path) {
    GAINZ_ASSIGN(draft, load_draft(runtime, config, options, *loaded));
  }
  GAINZ_ASSIGN(loaded->engine,
               Engine::create(runtime.services, std::move(model), loaded->tokenizer, runtime.hub, options, std::move(draft)));
  if (config.progress && config.progress(config.progress_ctx, "ready", 1.0) != 0)
    return Status(Code::cancelled, loaded->path + ": loading was stopped");
  if (runtime.thread_mode == GAINZ_THREADS_OWN) GAINZ_TRY(loaded->engine->start());
  fill_info(*loaded, *file);
  loaded->info.load_seconds = double(now_us() - begin) / 1e6;
  return loaded;
}

}  // namespace gainz
