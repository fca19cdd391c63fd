// Programs: scratch planned by liveness, slices of a layer each, and the run of a step.
#include <algorithm>
#include <cstring>

#include "border.h"
#include "handles.h"

namespace gainz::sdk {

static constexpr uint32_t kMaxBucket = 1u << 20;  // tokens, sequences, rows, pages
static constexpr uint64_t kMaxActivationBytes = 1ull << 46;

static uint64_t round_up(uint64_t bytes) { return (bytes + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment; }

// Where each activation lies, so that two lie on each other only if no node needs both.
class ScratchPlan {
 public:
  ScratchPlan(const Graph& graph, const gainz_bucket& bucket)
      : graph_(graph), bucket_(bucket), offsets(graph.values.size(), 0) {}

  Status make() {
    std::vector<uint32_t> last_use(graph_.values.size(), 0);
    for (const Node& node : graph_.nodes) {
      for (uint32_t i = 0; i < node.num_inputs; ++i) {
        if (node.has_input(i)) last_use[node.inputs[i]] = node.index;
      }
    }
    for (uint32_t v : graph_.inputs) GAINZ_SDK_TRY(place(v));
    for (const Node& node : graph_.nodes) {
      for (uint32_t i = 0; i < node.num_outputs; ++i) {
        last_use[node.outputs[i]] = std::max(last_use[node.outputs[i]], node.index);
        GAINZ_SDK_TRY(place(node.outputs[i]));
      }
      std::erase_if(live_, [&](const Block& block) { return last_use[block.value] <= node.index; });
    }
    return {};
  }

 private:
  struct Block {
    uint64_t begin, end;
    uint32_t value;
  };
  const Graph& graph_;
  const gainz_bucket& bucket_;
  std::vector<Block> live_;  // by rising begin

  // The first gap between the live blocks that is large enough.
  Status place(uint32_t v) {
    const Value& value = graph_.values[v];
    const uint64_t rows = value.rows == GAINZ_ROWS_TOKENS ? bucket_.max_tokens : bucket_.max_output_rows;
    const uint64_t bytes = round_up(std::max<uint64_t>(1, rows * value.cols() * 4));
    uint64_t begin = 0;
    auto it = live_.begin();
    for (; it != live_.end() && it->begin - begin < bytes; ++it) begin = it->end;
    live_.insert(it, Block{begin, begin + bytes, v});
    offsets[v] = begin;
    total = std::max(total, begin + bytes);
    if (total <= kMaxActivationBytes) return {};
    return failure(GAINZ_STATUS_LIMIT_EXCEEDED, "program_create: activations of more than %llu bytes",
                   static_cast<unsigned long long>(kMaxActivationBytes));
  }

 public:
  std::vector<uint64_t> offsets;  // [num_values]
  uint64_t total = 0;
};

// Multiplications per row, roughly.
static uint64_t node_cost(const Node& node) {
  switch (node.op) {
    case GAINZ_OP_LINEAR:
      return node.input(1).dims[0] * node.input(1).dims[1];
    case GAINZ_OP_MOE_LINEAR:
      return node.input(2).dims[0] * node.input(2).dims[1] * node.attr.moe_linear.num_chosen;
    case GAINZ_OP_ATTENTION:
      return node.input(0).cols() * 512;
    default:
      return node.num_outputs != 0 ? node.output(0).cols() * 8 : node.input(0).cols() * 8;
  }
}

// A slice is a run of nodes of one layer.
static void cut_slices(gainz_program* program) {
  const std::vector<Node>& nodes = program->model->graph.nodes;
  uint64_t cost = 0;
  for (uint32_t n = 0; n < nodes.size(); ++n) {
    if (n == 0 || nodes[n].layer != nodes[n - 1].layer) {
      program->slice_begin.push_back(n);
      program->slice_cost.push_back(0);
      cost = 0;
    }
    cost += node_cost(nodes[n]);
    program->slice_cost.back() = static_cast<uint32_t>(std::min<uint64_t>(1 + cost / 1024, UINT32_MAX));
  }
  program->slice_begin.push_back(static_cast<uint32_t>(nodes.size()));
}

static void find_checks(gainz_program* program) {
  const Graph& graph = program->model->graph;
  program->checked_groups.assign(graph.groups.size(), 0);
  program->kv_layers.resize(graph.nodes.size());
  for (const Node& node : graph.nodes) {
    if (node.op == GAINZ_OP_EMBED || node.op == GAINZ_OP_LOGIT_MASK || node.op == GAINZ_OP_MOE_LINEAR) {
      program->checked_nodes.push_back(node.index);
    }
    if (node.op != GAINZ_OP_KV_WRITE && node.op != GAINZ_OP_ATTENTION) continue;
    const gainz_attention_attr& attr = node.attr.attention;
    const uint8_t level = node.op == GAINZ_OP_ATTENTION ? 2 : 1;
    program->checked_groups[attr.group] = std::max(program->checked_groups[attr.group], level);
    program->kv_layers[node.index] = reference::kv_layer(program->kv->pages[attr.group].data(), graph.groups[attr.group],
                                                         program->kv->k_type, program->kv->v_type, attr.layer);
  }
}

static Status plan_memory(gainz_device& device, gainz_program* program) {
  const Graph& graph = program->model->graph;
  ScratchPlan plan(graph, program->bucket);
  GAINZ_SDK_TRY(plan.make());
  program->num_workers = std::max(1u, device.host.num_workers(device.host.ctx));
  for (const Node& node : graph.nodes) {
    program->scratch_stride = std::max(program->scratch_stride, round_up(device.backend->scratch_bytes(node, program->bucket)));
  }
  if (program->scratch_stride > kMaxActivationBytes / program->num_workers) {
    return failure(GAINZ_STATUS_LIMIT_EXCEEDED, "program_create: %llu bytes of scratch for each of %u workers",
                   static_cast<unsigned long long>(program->scratch_stride), program->num_workers);
  }
  GAINZ_SDK_TRY(program->memory.allocate(device.host, plan.total + program->scratch_stride * program->num_workers,
                                         "a program's scratch"));
  program->scratch = reinterpret_cast<char*>(program->memory.data()) + plan.total;
  program->data.resize(graph.values.size(), nullptr);
  for (uint32_t v = 0; v < graph.values.size(); ++v) {
    const bool weight = graph.values[v].kind == GAINZ_VALUE_WEIGHT;
    program->data[v] = weight ? const_cast<void*>(program->model->weights[v]) : program->memory.data() + plan.offsets[v];
  }
  return {};
}

Status create_program(gainz_device& device, gainz_model* model, gainz_kv* kv, const gainz_bucket* bucket,
                      gainz_program** out_program) {
  if (out_program == nullptr || !owns(device.models, model)) {
    return failure(GAINZ_STATUS_INVALID, "program_create: no such model, or out_program is NULL");
  }
  const bool kv_fits = kv == nullptr ? !model->graph.has_kv() : owns(device.kvs, kv) && kv->model == model;
  if (!kv_fits) return failure(GAINZ_STATUS_INVALID, "program_create: the kv is none of this model");
  auto program = std::make_unique<gainz_program>();
  GAINZ_SDK_TRY(read_struct(bucket, &program->bucket, "gainz_bucket"));
  const gainz_bucket& b = program->bucket;
  if (b.max_tokens == 0 || b.max_sequences == 0 || b.max_output_rows > b.max_tokens || b.uniform_query_length > b.max_tokens ||
      (model->graph.has_kv() && b.max_pages_per_sequence == 0)) {
    return failure(GAINZ_STATUS_INVALID,
                   "program_create: a bucket of %u tokens, %u sequences, %u output rows, %u pages a sequence", b.max_tokens,
                   b.max_sequences, b.max_output_rows, b.max_pages_per_sequence);
  }
  if (b.max_tokens > kMaxBucket || b.max_sequences > kMaxBucket || b.max_pages_per_sequence > kMaxBucket) {
    return failure(GAINZ_STATUS_LIMIT_EXCEEDED, "program_create: a bucket beyond %u tokens, sequences or pages", kMaxBucket);
  }
  program->model = model;
  program->kv = kv;
  cut_slices(program.get());
  find_checks(program.get());
  GAINZ_SDK_TRY(plan_memory(device, program.get()));
  device.programs.push_back(std::move(program));
  *out_program = device.programs.back().get();
  return {};
}

// Runs the nodes of one call.
class ProgramRunner {
 public:
  ProgramRunner(gainz_device& device, gainz_program& program, const gainz_step& step)
      : device_(device), program_(program), step_(step) {
    compute_.step_ = &step;
    compute_.host_ = &device.host;
    compute_.data_ = program.data.data();
    compute_.kv_layers_ = program.kv_layers.data();
    compute_.scratch_ = program.scratch;
    compute_.scratch_stride_ = program.scratch_stride;
    compute_.num_workers_ = program.num_workers;
  }

  Status load_inputs() {
    const Graph& graph = program_.model->graph;
    for (uint32_t i = 0; i < graph.inputs.size(); ++i) GAINZ_SDK_TRY(copy(step_.inputs, i, graph.inputs[i], true));
    for (uint32_t i = 0; i < graph.outputs.size(); ++i) {  // an output that is an input goes straight through
      if (graph.values[graph.outputs[i]].kind == GAINZ_VALUE_INPUT)
        GAINZ_SDK_TRY(copy(step_.outputs, i, graph.outputs[i], false));
    }
    return {};
  }

  Status run(const Node& node) {
    const Value& rows_of = node.num_outputs != 0 ? node.output(0) : node.input(0);
    compute_.node_ = &node;
    compute_.rows_ = num_rows(rows_of);
    if (compute_.rows_ != 0) device_.backend->compute(node, compute_);
    const Graph& graph = program_.model->graph;
    for (uint32_t o = 0; o < node.num_outputs; ++o) {
      for (uint32_t i = 0; i < graph.outputs.size(); ++i) {
        if (graph.outputs[i] == node.outputs[o]) GAINZ_SDK_TRY(copy(step_.outputs, i, node.outputs[o], false));
      }
    }
    return {};
  }

 private:
  uint64_t num_rows(const Value& value) const {
    return value.rows == GAINZ_ROWS_TOKENS ? step_.num_tokens : step_.num_output_rows;
  }

  // Between the caller's rows and our dense ones.
  Status copy(const gainz_buffer* buffers, uint32_t i, uint32_t v, bool in) {
    gainz_buffer buffer{};
    GAINZ_SDK_TRY(read_element(buffers, step_.buffer_stride, i, &buffer, "gainz_buffer"));
    if (buffer.data == nullptr) return {};
    const uint64_t bytes = program_.model->graph.values[v].cols() * 4;
    for (uint64_t r = 0; r < num_rows(program_.model->graph.values[v]); ++r) {
      char* theirs = static_cast<char*>(buffer.data) + r * buffer.row_stride_bytes;
      char* ours = static_cast<char*>(program_.data[v]) + r * bytes;
      std::memcpy(in ? ours : theirs, in ? theirs : ours, bytes);
    }
    return {};
  }

  gainz_device& device_;
  gainz_program& program_;
  const gainz_step& step_;
  Compute compute_;
};

static Status check_slices(const gainz_program& program, const gainz_step& step, uint32_t first_slice, uint32_t num_slices) {
  const size_t total = program.slice_cost.size();
  if (num_slices == 0 || first_slice >= total || num_slices > total - first_slice) {
    return failure(GAINZ_STATUS_INVALID, "run: slices %u and %u more of %zu", first_slice, num_slices, total);
  }
  if (first_slice == 0) return {};
  if (first_slice != program.next_slice) {
    return failure(GAINZ_STATUS_INVALID, "run: slice %u where slice %u is next", first_slice, program.next_slice);
  }
  if (step.num_tokens != program.step.num_tokens || step.num_sequences != program.step.num_sequences ||
      step.num_output_rows != program.step.num_output_rows) {
    return failure(GAINZ_STATUS_INVALID, "run: slice %u with another step than slice 0", first_slice);
  }
  return {};
}

Status run_slices(gainz_device& device, gainz_program& program, const gainz_step* step, uint32_t first_slice,
                  uint32_t num_slices) {
  gainz_step own{};
  GAINZ_SDK_TRY(read_struct(step, &own, "gainz_step"));
  GAINZ_SDK_TRY(check_slices(program, own, first_slice, num_slices));
  GAINZ_SDK_TRY(check_step(program, own));
  program.next_slice = 0;  // a step whose work fails is over
  ProgramRunner runner(device, program, own);
  if (first_slice == 0) GAINZ_SDK_TRY(runner.load_inputs());
  const std::vector<Node>& nodes = program.model->graph.nodes;
  for (uint32_t n = program.slice_begin[first_slice]; n < program.slice_begin[first_slice + num_slices]; ++n) {
    GAINZ_SDK_TRY(runner.run(nodes[n]));
  }
  const uint32_t next = first_slice + num_slices;
  program.next_slice = next == program.slice_cost.size() ? 0 : next;
  program.step = own;
  return {};
}

}  // namespace gainz::sdk
