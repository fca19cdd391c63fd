// The draft model of a model: loaded beside it, with pages for as many sequences, refused where its vocabulary is another one.
#include <algorithm>

#include "api/runtime.h"

namespace gainz {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text.substr(0, 40)) out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  return out + '"';
}

// Every token of the one must be the same token of the other, or a drafted id would mean another text.
Status compare_vocabularies(const Tokenizer& target, const Tokenizer& draft) {
  const int32_t size = std::max(target.vocab_size(), draft.vocab_size());
  for (int32_t id = 0; id < size; ++id) {
    const std::string_view a = target.token_text(id), b = draft.token_text(id);
    if (a != b || target.is_special(id) != draft.is_special(id))
      return {Code::invalid, "token " + std::to_string(id) + " is " + quoted(a) + (target.is_special(id) ? " (special)" : "") +
                                 " in the model and " + quoted(b) + (draft.is_special(id) ? " (special)" : "") +
                                 " in the draft model"};
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<DraftModel>> load_draft(gainz_runtime& runtime, const gainz_model_config& config,
                                               const EngineOptions& target, LoadedModel& loaded) {
  gainz_model_config own = config;
  own.path = config.draft_path;
  own.backend = config.draft_backend ? config.draft_backend : config.backend;
  own.kv_memory_bytes = 0;
  own.max_sequences = target.limits.max_sequences;
  own.batch_tokens = target.limits.batch_tokens;
  const std::string name = "draft model " + std::string(config.draft_path) + ": ";
  const auto named = [&name](const Status& status) { return Status(status.code(), name + status.message()); };
  auto model = load_weights(runtime, own);
  if (!model.ok()) return named(model.status());
  auto tokenizer = Tokenizer::create((*model)->file());
  if (!tokenizer.ok()) return named(tokenizer.status());
  if (const Status same = compare_vocabularies(*loaded.tokenizer, **tokenizer); !same.ok()) return named(same);
  if (int64_t{(*model)->info().vocab_size} < loaded.tokenizer->vocab_size())
    return named({Code::invalid, "it has " + std::to_string((*model)->info().vocab_size) + " rows for a vocabulary of " +
                                     std::to_string(loaded.tokenizer->vocab_size())});
  own.context = std::min(target.context, (*model)->info().context_length);
  std::string k_type, v_type;
  auto options = choose_options(own, **model, k_type, v_type);
  if (!options.ok()) return named(options.status());
  options->limits.max_rows = options->limits.max_sequences;
  loaded.draft_path = config.draft_path;
  loaded.draft_weight_bytes = (*model)->weight_bytes();
  const auto& groups = (*model)->info().page_groups;
  for (size_t g = 0; g < groups.size(); ++g)
    loaded.draft_kv_bytes += gainz_page_bytes(&groups[g], options->k_type, options->v_type) * options->page_groups[g].num_pages;
  return DraftModel::create(runtime.services, std::move(model).value(), *options);
}

}  // namespace gainz
