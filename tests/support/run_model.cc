#include "support/run_model.h"

#include <cmath>

namespace gainz::test {
namespace {

void keep_line(void* ctx, uint32_t level, const char* text) {
  if (level > uint32_t(LogLevel::warning)) return;
  static_cast<ModelHost*>(ctx)->log.push_back((level == 0 ? "error " : "warning ") + std::string(text));
}

// One chunk [first, first + count) of a sequence whose pages lie one after another from first_page.
Status run_chunk(Model& model, const std::vector<int32_t>& ids, size_t first, size_t count, const RunOptions& options,
                 std::vector<float>& out) {
  const ModelInfo& info = model.info();
  std::vector<int32_t> positions(count);
  std::vector<uint32_t> slots(count), rows, table(options.max_pages, GAINZ_SCRATCH_PAGE);
  const bool is_last = first + count == ids.size();
  for (size_t i = 0; i < count; ++i) {
    positions[i] = int32_t(first + i);
    slots[i] = options.first_page * GAINZ_PAGE_TOKENS + uint32_t(first + i);
    if (options.every_row || (is_last && i + 1 == count)) rows.push_back(uint32_t(i));
  }
  for (size_t p = 0; p * GAINZ_PAGE_TOKENS < first + count; ++p) table[p] = options.first_page + uint32_t(p);
  const std::vector<uint8_t> phases(count, GAINZ_PHASE_PROMPT);
  const std::vector<uint32_t> offsets{0, uint32_t(count)}, lengths{uint32_t(first + count)};
  const std::vector<std::span<const uint32_t>> all_slots(info.page_groups.size(), slots),
      all_tables(info.page_groups.size(), table);
  const size_t at = out.size();
  out.resize(at + rows.size() * info.vocab_size);
  std::vector<float> hidden(rows.size() * info.embedding_length);
  StepArrays step;
  step.tokens = std::span(ids).subspan(first, count);
  step.positions = positions;
  step.phases = phases;
  step.query_offsets = offsets;
  step.context_lengths = lengths;
  step.output_rows = rows;
  step.slots = all_slots;
  step.page_tables = all_tables;
  step.page_table_stride = options.max_pages;
  step.logits = out.data() + at;
  step.hidden = options.hidden == nullptr ? nullptr : hidden.data();
  GAINZ_TRY(model.begin(step));
  for (;;) {
    GAINZ_ASSIGN(const bool done, model.advance());
    if (done) break;
  }
  if (options.hidden != nullptr) options.hidden->insert(options.hidden->end(), hidden.begin(), hidden.end());
  return {};
}

}  // namespace

ModelHost::ModelHost(uint32_t num_threads, bool with_built_plugins) : host(services), plugins(host) {
  services.hook_ctx = this;
  services.log_hook = keep_line;
  services.num_threads = num_threads;
  if (num_threads > 1) {
    auto pool = ThreadPool::create(num_threads);
    if (pool.ok()) services.pool = std::move(*pool);
  }
  if (with_built_plugins) plugins.read_folders(plugin_folder());
}

std::string ModelHost::plugin_folder() { return GAINZ_BUILD_DIR "/lib/gainz/plugins"; }

Result<std::unique_ptr<Model>> load_model(ModelHost& host, const std::string& path, const std::string& backend,
                                          const std::string& fallback) {
  ModelOptions options;
  options.path = path;
  options.backend = backend;
  options.fallback = fallback;
  return Model::load(host.services, host.plugins, options);
}

Status prepare_model(Model& model, const RunOptions& options) {
  const std::vector<uint32_t> num_pages(model.info().page_groups.size(), options.max_pages + options.first_page);
  const gainz_bucket bucket{sizeof(gainz_bucket), options.max_tokens, 1, options.max_tokens, options.max_pages, 0};
  return model.prepare(options.kv_type, options.kv_type, num_pages, bucket);
}

Result<std::vector<float>> run_model(Model& model, const std::vector<int32_t>& ids, const RunOptions& options) {
  std::vector<float> out;
  const size_t chunk = options.chunk == 0 ? ids.size() : options.chunk;
  for (size_t first = 0; first < ids.size(); first += chunk)
    GAINZ_TRY(run_chunk(model, ids, first, std::min(chunk, ids.size() - first), options, out));
  return out;
}

double relative_l2(const float* a, const float* b, size_t count) {
  double difference = 0, size = 0;
  for (size_t i = 0; i < count; ++i) {
    difference += (double(a[i]) - double(b[i])) * (double(a[i]) - double(b[i]));
    size += double(b[i]) * double(b[i]);
  }
  return size == 0 ? std::sqrt(difference) : std::sqrt(difference / size);
}

}  // namespace gainz::test
