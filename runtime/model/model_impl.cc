#include "model/model_impl.h"

#include <algorithm>

#include "gainz/sdk/reference_backend.h"
#include "model/op_name.h"

namespace gainz {
namespace {

constexpr size_t kCanaryBytes = 64;  // behind the claims, to see a plugin that writes beyond them
constexpr uint8_t kCanary = 0xA5;

uint64_t add_capped(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

}  // namespace

ModelImpl::~ModelImpl() { parts_.clear(); }  // before the devices

Result<std::unique_ptr<Model>> ModelImpl::create(const Services& services, const LoadedFile& loaded,
                                                 std::shared_ptr<PluginLibrary> plugin, const ModelOptions& options) {
  std::unique_ptr<ModelImpl> model(new ModelImpl(services, loaded));
  GAINZ_ASSIGN(model->device_, Device::open(plugin, 0, options.device_options));
  GAINZ_ASSIGN(const std::vector<uint8_t> claims, model->claim(options));
  if (model->num_scalar_nodes_ != 0) GAINZ_TRY(model->open_fallback(plugin->host()));
  GAINZ_TRY(model->pack(options, claims));
  return std::unique_ptr<Model>(std::move(model));
}

Result<std::vector<uint8_t>> ModelImpl::claim(const ModelOptions& options) {
  const gainz_graph& graph = *loaded_.blueprint->graph.view();
  const std::string& backend = device_->info().backend;
  std::vector<uint8_t> claims(graph.num_nodes + kCanaryBytes, 0);
  std::fill(claims.begin() + graph.num_nodes, claims.end(), kCanary);
  GAINZ_TRY(device_->call("model_claim", device_->api().model_claim, &graph, claims.data()));
  if (std::any_of(claims.begin() + graph.num_nodes, claims.end(), [](uint8_t c) { return c != kCanary; }))
    return Status(Code::internal,
                  "backend " + backend + ", model_claim: it wrote beyond the " + std::to_string(graph.num_nodes) + " claims");
  claims.resize(graph.num_nodes);
  GAINZ_TRY(check_claims(graph, claims, backend));
  num_scalar_nodes_ = num_unclaimed(claims);
  if (num_scalar_nodes_ == graph.num_nodes)
    return Status(Code::unsupported, "backend " + backend + " takes no node of this model");
  if (num_scalar_nodes_ != 0 && options.fallback != "scalar")
    return Status(Code::unsupported, unclaimed_text(graph, claims, backend));
  return claims;
}

Status ModelImpl::open_fallback(const PluginHost& host) {
  GAINZ_ASSIGN(auto library, PluginLibrary::from_query(gainz_reference_query, "(scalar fallback)", host));
  GAINZ_ASSIGN(fallback_, Device::open(library, 0, {}));
  return {};
}

Status ModelImpl::pack(const ModelOptions& options, std::span<const uint8_t> claims) {
  const Blueprint& blueprint = *loaded_.blueprint;
  std::vector<Part> parts = partition(*blueprint.graph.view(), claims);
  uint64_t total_bytes = 0;
  for (const Part& part : parts)
    for (const uint32_t v : part.whole_values)
      total_bytes += blueprint.tensors[v] == nullptr ? 0 : blueprint.tensors[v]->data.size();
  PackingProgress progress(options.progress, total_bytes);
  const auto order = std::make_shared<TicketOrder>(), fallback_order = std::make_shared<TicketOrder>();
  for (Part& part : parts) {
    std::vector<const GgufTensor*> tensors;
    for (const uint32_t v : part.whole_values) tensors.push_back(blueprint.tensors[v]);
    const bool is_scalar = part.is_scalar;
    const Weights weights(std::move(tensors), options.use_mmap, progress);
    if (!progress.report(0)) return {Code::cancelled, "loading the model was stopped"};
    auto runner =
        PartRunner::create(std::move(part), is_scalar ? fallback_ : device_, is_scalar ? fallback_order : order, weights);
    if (!runner.ok()) return progress.is_stopped() ? Status(Code::cancelled, "loading the model was stopped") : runner.status();
    progress.part_done(weights.total_bytes());
    weight_bytes_ = add_capped(weight_bytes_, (*runner)->weight_bytes());
    parts_.push_back(std::move(*runner));
  }
  return progress.report(0) ? Status() : Status(Code::cancelled, "loading the model was stopped");
}

bool ModelImpl::supports_kv_type(uint32_t type) const {
  if (type >= 32) return false;
  for (const auto& runner : parts_) {
    const Device& owner = runner->part().is_scalar ? *fallback_ : *device_;
    if (!runner->part().groups.empty() && (owner.info().kv_types >> type & 1u) == 0) return false;
  }
  return true;
}

Status ModelImpl::prepare(uint32_t k_type, uint32_t v_type, std::span<const uint32_t> num_pages, const gainz_bucket& bucket) {
  if (is_prepared_) return {Code::invalid, "a model is prepared once"};
  if (num_pages.size() != loaded_.info.page_groups.size())
    return {Code::invalid, std::to_string(num_pages.size()) + " page counts for " +
                               std::to_string(loaded_.info.page_groups.size()) + " page groups"};
  if (bucket.max_tokens == 0 || bucket.max_sequences == 0 || bucket.max_output_rows > bucket.max_tokens ||
      bucket.max_pages_per_sequence == 0)
    return {Code::invalid, "a bucket of " + std::to_string(bucket.max_tokens) + " tokens, " +
                               std::to_string(bucket.max_sequences) + " sequences, " + std::to_string(bucket.max_output_rows) +
                               " output rows and " + std::to_string(bucket.max_pages_per_sequence) + " pages a sequence"};
  bucket_ = bucket;
  bucket_.struct_size = sizeof(bucket_);
  for (const auto& runner : parts_) GAINZ_TRY(runner->prepare(k_type, v_type, num_pages, bucket_));
  GAINZ_TRY(make_buffers());
  num_slices_ = 0;
  for (const auto& runner : parts_) num_slices_ += runner->num_slices();
  is_prepared_ = true;
  return {};
}

// Buffers by the order of parts: a value's memory is free again after the last part that reads it.
Status ModelImpl::make_buffers() {
  const gainz_graph& graph = *loaded_.blueprint->graph.view();
  std::vector<size_t> last_reader(graph.num_values, 0);
  for (size_t p = 0; p < parts_.size(); ++p)
    for (const uint32_t v : parts_[p]->part().inputs) last_reader[parts_[p]->part().whole_values[v]] = p;
  for (uint32_t o = 0; o < graph.num_outputs; ++o) last_reader[graph.outputs[o]] = parts_.size();
  struct Slot {
    uint64_t num_bytes;
    size_t free_after;
  };
  std::vector<Slot> slots;
  cuts_.assign(graph.num_values, {});
  for (size_t p = 0; p < parts_.size(); ++p) {
    for (const uint32_t local : parts_[p]->part().outputs) {
      const uint32_t v = parts_[p]->part().whole_values[local];
      const gainz_value& value = graph.values[v];
      const uint64_t num_rows = value.rows == GAINZ_ROWS_TOKENS ? bucket_.max_tokens : bucket_.max_output_rows;
      const uint64_t row_bytes = value.dims[0] * sizeof(float), num_bytes = row_bytes * std::max<uint64_t>(num_rows, 1);
      cuts_[v].row_bytes = row_bytes;
      const bool crosses = std::any_of(parts_.begin() + std::ptrdiff_t(p), parts_.end(), [v](const auto& reader) {
        const Part& part = reader->part();
        return std::any_of(part.inputs.begin(), part.inputs.end(), [&](uint32_t in) { return part.whole_values[in] == v; });
      });
      if (!crosses) continue;  // an output of the model goes straight to the caller
      size_t s = 0;
      while (s < slots.size() && (slots[s].num_bytes != num_bytes || slots[s].free_after >= p)) ++s;
      if (s == slots.size()) {
        slots.push_back({num_bytes, 0});
        GAINZ_ASSIGN(Memory memory, Memory::create(services_, num_bytes));
        buffers_.push_back(std::move(memory));
      }
      slots[s].free_after = last_reader[v];
      cuts_[v].data = buffers_[s].data();
    }
  }
  return {};
}

Status ModelImpl::copy_pages(uint32_t group, std::span<const gainz_page_copy> copies) {
  if (!is_prepared_ || group >= loaded_.info.page_groups.size())
    return {Code::invalid, "no pages of group " + std::to_string(group)};
  if (copies.empty()) return {};
  for (const auto& runner : parts_) GAINZ_TRY(runner->copy_pages(group, copies));
  return {};
}

Status ModelImpl::check_step(const StepArrays& s) const {
  if (!is_prepared_) return {Code::invalid, "a step before prepare()"};
  const size_t num_tokens = s.tokens.size(), num_sequences = s.context_lengths.size(), num_rows = s.output_rows.size();
  if (num_tokens == 0 || num_tokens > bucket_.max_tokens || num_sequences == 0 || num_sequences > bucket_.max_sequences ||
      num_rows > bucket_.max_output_rows)
    return {Code::invalid, "a step of " + std::to_string(num_tokens) + " tokens, " + std::to_string(num_sequences) +
                               " sequences and " + std::to_string(num_rows) + " output rows; at most " +
                               std::to_string(bucket_.max_tokens) + ", " + std::to_string(bucket_.max_sequences) + " and " +
                               std::to_string(bucket_.max_output_rows)};
  const size_t num_groups = loaded_.info.page_groups.size();
  bool fits = s.positions.size() == num_tokens && s.phases.size() == num_tokens &&
              s.query_offsets.size() == num_sequences + 1 && s.slots.size() == num_groups &&
              s.page_tables.size() == num_groups && s.page_table_stride <= bucket_.max_pages_per_sequence;
  for (size_t g = 0; fits && g < num_groups; ++g)
    fits = s.slots[g].size() == num_tokens && s.page_tables[g].size() >= num_sequences * s.page_table_stride;
  if (!fits) return {Code::invalid, "the arrays of a step do not fit each other"};
  for (size_t t = 0; t < num_tokens; ++t)
    if (s.tokens[t] < 0 || uint32_t(s.tokens[t]) >= loaded_.info.vocab_size)
      return {Code::invalid, "token " + std::to_string(s.tokens[t]) + " is not in the vocabulary of " +
                                 std::to_string(loaded_.info.vocab_size)};
  for (size_t r = 0; r < num_rows; ++r)
    if (s.output_rows[r] >= num_tokens || (r > 0 && s.output_rows[r] <= s.output_rows[r - 1]))
      return {Code::invalid, "output rows do not rise, or lie beyond the tokens"};
  bool rising = s.query_offsets[0] == 0 && s.query_offsets[num_sequences] == num_tokens;
  for (size_t i = 0; rising && i < num_sequences; ++i) rising = s.query_offsets[i] < s.query_offsets[i + 1];
  return rising ? Status() : Status(Code::invalid, "query offsets do not rise from 0 to the number of tokens");
}

void ModelImpl::fill_part(PartRunner& runner, const StepArrays& s) {
  gainz_step& step = runner.step;
  step.num_tokens = uint32_t(s.tokens.size());
  step.num_sequences = uint32_t(s.context_lengths.size());
  step.num_output_rows = uint32_t(s.output_rows.size());
  step.tokens = s.tokens.data();
  step.positions = s.positions.data();
  step.phases = s.phases.data();
  step.query_offsets = s.query_offsets.data();
  step.context_lengths = s.context_lengths.data();
  step.output_rows = s.output_rows.data();
  const Part& part = runner.part();
  for (size_t g = 0; g < part.groups.size(); ++g) {
    const uint32_t whole = part.whole_groups[g];
    runner.pages[g].slots = s.slots[whole].data();
    runner.pages[g].page_table = s.page_tables[whole].data();
    runner.pages[g].page_table_stride = s.page_table_stride;
  }
  const gainz_graph& graph = *loaded_.blueprint->graph.view();
  const auto place = [&](gainz_buffer& buffer, uint32_t v) {
    buffer.data = cuts_[v].data;
    buffer.row_stride_bytes = cuts_[v].row_bytes;
    if (v == graph.outputs[0] && s.logits != nullptr) buffer.data = s.logits;
    if (v == graph.outputs[1] && s.hidden != nullptr) buffer.data = s.hidden;
  };
  for (size_t i = 0; i < part.inputs.size(); ++i) place(runner.inputs[i], part.whole_values[part.inputs[i]]);
  for (size_t i = 0; i < part.outputs.size(); ++i) place(runner.outputs[i], part.whole_values[part.outputs[i]]);
}

Status ModelImpl::begin(const StepArrays& step) {
  is_running_ = false;
  GAINZ_TRY(check_step(step));
  for (const auto& runner : parts_) fill_part(*runner, step);
  part_ = 0;
  slice_ = 0;
  is_running_ = true;
  return {};
}

Result<bool> ModelImpl::advance() {
  if (!is_running_) return Status(Code::invalid, "no step has begun");
  is_running_ = false;  // until the slice went well
  GAINZ_TRY(parts_[part_]->run_slice(slice_));
  if (++slice_ == parts_[part_]->num_slices()) {
    slice_ = 0;
    ++part_;
  }
  is_running_ = part_ < parts_.size();
  return !is_running_;
}

}  // namespace gainz
