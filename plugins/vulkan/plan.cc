#include "plan.h"

#include <algorithm>
#include <cstring>

#include "emit.h"
#include "reference/rope.h"

namespace gainz::vulkan {

namespace {

constexpr uint64_t kMaxArenaBytes = 1ull << 40;
constexpr uint64_t kMaxStepWords = 1ull << 30;

// Gives each value its storage, and each storage its offset by liveness over the works.
class Placer {
 public:
  Placer(const Context& context, const Model& model, const gainz_bucket& bucket, Plan* plan)
      : context_(context), model_(model), graph_(model.graph()), bucket_(bucket), plan_(*plan) {}

  Status make() {
    plan_.places.resize(graph_.values.size());
    GAINZ_SDK_TRY(lay_out_step());
    for (const uint32_t v : graph_.inputs) add_storage(v, BufferRef::kStep);
    for (uint32_t w = 0; w < model_.works().size(); ++w) place_work(model_.works()[w], w);
    return place_storages();
  }

 private:
  bool is_output(uint32_t v) const { return std::count(graph_.outputs.begin(), graph_.outputs.end(), v) != 0; }

  uint32_t add_storage(uint32_t v, BufferRef::Where where, uint64_t stride = 0) {
    const auto s = static_cast<uint32_t>(plan_.storages.size());
    const sdk::Value& value = graph_.values[v];
    plan_.storages.push_back({where, value.rows, stride != 0 ? stride : value.cols()});
    plan_.places[v] = {s, 0};
    return s;
  }
  void touch(uint32_t v, uint32_t w) {
    if (plan_.places[v].storage == kNone) return;
    Storage& s = plan_.storages[plan_.places[v].storage];
    s.first = std::min(s.first, w);
    s.last = std::max(s.last, w);
  }

  void place_work(const Work& work, uint32_t w) {
    const auto place = [&](uint32_t v) { add_storage(v, is_output(v) ? BufferRef::kOutputs : BufferRef::kArena); };
    for (uint32_t i = 0; i < work.node->num_inputs; ++i)
      if (work.node->has_input(i)) touch(work.node->inputs[i], w);
    if (work.residual != kNone) touch(work.residual, w);
    if (work.linears.size() > 1 && work.gated == nullptr) {
      uint64_t stride = 0;
      for (const sdk::Node* linear : work.linears) stride += linear->output(0).cols();
      const uint32_t s = add_storage(work.linears[0]->outputs[0], BufferRef::kArena, stride);
      uint32_t column = 0;
      for (const sdk::Node* linear : work.linears) {
        plan_.places[linear->outputs[0]] = {s, column};
        column += static_cast<uint32_t>(linear->output(0).cols());
        touch(linear->outputs[0], w);
      }
      return;
    }
    if (work.node->num_outputs == 0) return;
    place(work.output());
    touch(work.output(), w);
    if (work.node->num_outputs == 2) {
      place(work.node->outputs[1]);
      touch(work.node->outputs[1], w);
    }
    if (work.node->op == GAINZ_OP_MOE_LINEAR && work.node->has_input(3)) {
      // Rows of each choice, until they are summed; found behind the values.
      plan_.storages.push_back({BufferRef::kArena, work.node->output(0).rows,
                                uint64_t{work.node->attr.moe_linear.num_chosen} * work.node->output(0).cols()});
      plan_.storages.back().first = plan_.storages.back().last = w;
      plan_.places.push_back({static_cast<uint32_t>(plan_.storages.size() - 1), 0});
    }
  }

  uint64_t rows_of(uint32_t domain) const {
    return domain == GAINZ_ROWS_OUTPUTS ? bucket_.max_output_rows : bucket_.max_tokens;
  }

  Status place_storages() {
    std::vector<Storage*> alive;  // of the arena, by offset
    std::vector<Storage*> order;
    for (Storage& s : plan_.storages) order.push_back(&s);
    std::stable_sort(order.begin(), order.end(), [](const Storage* a, const Storage* b) { return a->first < b->first; });
    for (Storage* s : order) {
      const unsigned __int128 bytes = static_cast<unsigned __int128>(rows_of(s->domain)) * s->stride * 4;
      if (bytes > kMaxArenaBytes)
        return failure(GAINZ_STATUS_LIMIT_EXCEEDED, "a step of %u tokens needs a buffer beyond %llu bytes", bucket_.max_tokens,
                       wide(kMaxArenaBytes));
      s->size = round_up(std::max<uint64_t>(4, static_cast<uint64_t>(bytes)), context_.offset_alignment());
      if (s->where == BufferRef::kStep) {
        s->offset = plan_.step.num_words * 4;
        plan_.step.num_words += s->size / 4;
        s->size = std::min(s->size, s->size);
        continue;
      }
      if (s->where == BufferRef::kOutputs) {
        s->offset = plan_.output_bytes;
        plan_.output_bytes += s->size;
        continue;
      }
      std::erase_if(alive, [&](const Storage* other) { return other->last < s->first; });
      uint64_t offset = 0;
      auto at = alive.begin();
      for (; at != alive.end() && (*at)->offset < offset + s->size; ++at)
        offset = std::max(offset, (*at)->offset + (*at)->size);
      s->offset = offset;
      alive.insert(std::find_if(alive.begin(), alive.end(), [&](const Storage* o) { return o->offset >= offset; }), s);
      plan_.arena_bytes = std::max(plan_.arena_bytes, offset + s->size);
    }
    if (plan_.arena_bytes > kMaxArenaBytes || plan_.output_bytes > kMaxArenaBytes || plan_.step.num_words > kMaxStepWords)
      return failure(GAINZ_STATUS_LIMIT_EXCEEDED, "the scratch of this bucket is beyond %llu bytes", wide(kMaxArenaBytes));
    return {};
  }

  // Arrays in the order of StepLayout, each at a multiple of 64 words.
  Status lay_out_step() {
    StepLayout& step = plan_.step;
    uint64_t at = kHeaderWords;
    const auto take = [&](uint64_t words) {
      const uint64_t begin = round_up(at, 64);
      at = begin + words;
      return static_cast<uint32_t>(std::min<uint64_t>(begin, UINT32_MAX));
    };
    step.tokens = take(bucket_.max_tokens);
    step.positions = take(bucket_.max_tokens);
    step.sequences = take(bucket_.max_tokens);
    step.output_rows = take(bucket_.max_output_rows);
    step.groups.resize(graph_.groups.size());
    for (StepLayout::Group& g : step.groups) {
      g.slots = take(bucket_.max_tokens);
      g.table = take(uint64_t{bucket_.max_sequences} * bucket_.max_pages_per_sequence);
    }
    for (const sdk::Node& node : graph_.nodes) {
      if (node.op == GAINZ_OP_LOGIT_MASK)
        step.mask_words = std::max<uint32_t>(step.mask_words, static_cast<uint32_t>(parts_of(node.input(0).cols(), 32)));
      if (node.op == GAINZ_OP_ROPE) add_rope(node);
    }
    step.masks = take(uint64_t{step.mask_words} * bucket_.max_output_rows);
    for (RopeTable& table : plan_.ropes) table.offset = take(uint64_t{bucket_.max_tokens} * table.attr.rotary_dim);
    step.num_words = round_up(at, context_.offset_alignment() / 4);
    if (step.num_words <= kMaxStepWords && step.num_words * 4 <= context_.max_range_bytes()) return {};
    return failure(GAINZ_STATUS_LIMIT_EXCEEDED, "the arrays of a step of this bucket are %llu bytes, the device shows %llu",
                   wide(step.num_words * 4), wide(context_.max_range_bytes()));
  }

  void add_rope(const sdk::Node& node) {
    const uint32_t factors = node.has_input(1) ? node.inputs[1] : kNone;
    if (find_rope(plan_, node) != nullptr) return;
    RopeTable table;
    table.attr = node.attr.rope;
    table.factors = factors;
    table.inverse.resize(node.attr.rope.rotary_dim / 2);
    reference::rope_frequencies(table.attr, factors == kNone ? nullptr : model_.factors(factors).data(), table.inverse.data());
    plan_.ropes.push_back(std::move(table));
  }

  const Context& context_;
  const Model& model_;
  const sdk::Graph& graph_;
  const gainz_bucket& bucket_;
  Plan& plan_;
};

bool overlap(const BufferRef& a, const BufferRef& b) {
  if (a.where != b.where || a.where == BufferRef::kNowhere || (!a.written && !b.written)) return false;
  if (a.where == BufferRef::kFixed && a.range != b.range) return false;
  return a.offset < b.offset + b.size && b.offset < a.offset + a.size;
}

// A dispatch waits where something since the last wait touches what it touches.
void set_barriers(Plan* plan) {
  size_t since = 0;
  for (size_t d = 0; d < plan->dispatches.size(); ++d) {
    Dispatch& dispatch = plan->dispatches[d];
    for (size_t e = since; e < d && !dispatch.barrier; ++e) {
      const Dispatch& earlier = plan->dispatches[e];
      if (earlier.work == dispatch.work) continue;
      for (const BufferRef& a : earlier.buffers)
        for (const BufferRef& b : dispatch.buffers) dispatch.barrier = dispatch.barrier || overlap(a, b);
    }
    if (dispatch.barrier) since = d;
  }
}

uint64_t cost_of(const Dispatch& dispatch) {
  uint64_t bytes = 1u << 14;
  for (const BufferRef& ref : dispatch.buffers)
    if (ref.where == BufferRef::kFixed && !ref.written) bytes += ref.size;
  return bytes >> 10;
}

void cut_slices(const std::vector<Work>& works, const std::vector<uint32_t>& first_dispatch, Plan* plan) {
  uint32_t layer = GAINZ_NO_VALUE;
  for (size_t w = 0; w < works.size(); ++w) {
    const bool next = works[w].layer != GAINZ_NO_VALUE && (layer == GAINZ_NO_VALUE || works[w].layer > layer);
    if (w == 0 || (next && layer != GAINZ_NO_VALUE)) plan->slices.push_back(first_dispatch[w]);
    if (next) layer = works[w].layer;
  }
  plan->slices.push_back(static_cast<uint32_t>(plan->dispatches.size()));
  for (size_t s = 0; s + 1 < plan->slices.size(); ++s) {
    uint64_t cost = 0;
    for (uint32_t d = plan->slices[s]; d < plan->slices[s + 1]; ++d)
      if (plan->dispatches[d].tiles_above == 0) cost += cost_of(plan->dispatches[d]);
    plan->slice_cost.push_back(static_cast<uint32_t>(std::clamp<uint64_t>(cost, 1, UINT32_MAX)));
  }
}

}  // namespace

uint32_t Dispatch::groups_y(uint32_t num_rows) const {
  if (num_rows <= first_row) return 0;
  uint32_t here = std::min(num_rows - first_row, part_rows) * multiple;
  if (tiles_above != 0) here %= tiles_above;
  return whole_tiles ? here / tile : (here + tile - 1) / tile;
}

const RopeTable* find_rope(const Plan& plan, const sdk::Node& node) {
  const uint32_t factors = node.has_input(1) ? node.inputs[1] : kNone;
  for (const RopeTable& table : plan.ropes) {
    gainz_rope_attr a = table.attr, b = node.attr.rope;
    a.num_heads = b.num_heads = a.mode = b.mode = a.head_dim = b.head_dim = 0;
    if (table.factors == factors && std::memcmp(&a, &b, sizeof a) == 0) return &table;
  }
  return nullptr;
}

Status Plan::make(const Context& context, const Model& model, const Kv* kv, const gainz_bucket& bucket) {
  GAINZ_SDK_TRY(Placer(context, model, bucket, this).make());
  std::vector<uint32_t> first_dispatch;
  Emitter emitter(context, model, kv, bucket, this);
  for (const Work& work : model.works()) {
    first_dispatch.push_back(static_cast<uint32_t>(dispatches.size()));
    GAINZ_SDK_TRY(emitter.emit(work));
  }
  set_barriers(this);
  cut_slices(model.works(), first_dispatch, this);
  step.counts = static_cast<uint32_t>(step.num_words);
  step.num_words += dispatches.size() * 3;
  return {};
}

}  // namespace gainz::vulkan
