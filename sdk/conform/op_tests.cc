// Ops: every op alone against the scalar kernel, on odd shapes, empty and extreme numbers, with canaries around what is
// written. Attention and the writing of pages are judged in kv_tests.cc and program_tests.cc, where there are pages.
#include "conform/compare.h"
#include "conform/op_cases.h"
#include "gainz/sdk/reference_backend.h"

namespace gainz::conform {
namespace {

std::vector<float> joined(const std::vector<std::vector<float>>& rows) {
  std::vector<float> out;
  for (const auto& row : rows) out.insert(out.end(), row.begin(), row.end());
  return out;
}

void judge_op(Trial& trial, uint32_t op, uint32_t type) {
  const Plugin plugin(trial.host, trial.subject.path), scalar(trial.host, gainz_reference_query);
  const Device device(plugin, trial.subject.options, trial.subject.device), truth(scalar);
  size_t num_done = 0, num_skipped = 0;
  std::string reason;
  for (const OpCase& one : cases_of(op, type, trial.random)) {
    GraphBuilder graph;
    one.build(graph);
    std::vector<std::vector<std::vector<float>>> outputs;
    try {
      outputs = run_ops(device, graph, one.step);
    } catch (const Unsupported& e) {
      ++num_skipped;
      reason = one.what + ": " + e.what();
      continue;
    }
    const auto expected = run_ops(truth, graph, one.step);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const bool is_ids = graph.values()[graph.outputs()[i]].type == GAINZ_TYPE_I32;
      if (is_ids || one.bound == 0)
        require_same(outputs[i], expected[i], one.what.c_str());
      else if (one.is_product)
        require_near({joined(outputs[i])}, {joined(expected[i])}, one.bound, one.what.c_str());
      else
        require_near(outputs[i], expected[i], one.bound, one.what.c_str());
    }
    ++num_done;
  }
  if (num_done == 0) unsupported("%s", reason.c_str());
  if (num_skipped > 0)
    trial.note("%zu of %zu shapes are not claimed (%s)", num_skipped, num_done + num_skipped, reason.c_str());
}

}  // namespace

void add_op_tests(std::vector<Test>& tests) {
  struct Op {
    uint32_t op;
    const char* name;
    bool by_type;
  };
  constexpr Op kOps[] = {{GAINZ_OP_EMBED, "embed", true},
                         {GAINZ_OP_RMSNORM, "rmsnorm", false},
                         {GAINZ_OP_LAYERNORM, "layernorm", false},
                         {GAINZ_OP_LINEAR, "linear", true},
                         {GAINZ_OP_ROPE, "rope", false},
                         {GAINZ_OP_ACTIVATION, "activation", false},
                         {GAINZ_OP_GATED_ACTIVATION, "gated_activation", false},
                         {GAINZ_OP_ADD, "add", false},
                         {GAINZ_OP_MUL, "mul", false},
                         {GAINZ_OP_SCALE, "scale", false},
                         {GAINZ_OP_SOFTCAP, "softcap", false},
                         {GAINZ_OP_MOE_ROUTE, "moe_route", false},
                         {GAINZ_OP_MOE_LINEAR, "moe_linear", true},
                         {GAINZ_OP_GATHER_ROWS, "gather_rows", false},
                         {GAINZ_OP_LOGIT_MASK, "logit_mask", false},
                         {GAINZ_OP_TOP_K, "top_k", false}};
  for (const Op& op : kOps) {
    for (const uint32_t type : op.by_type ? kWeightTypes : std::vector<uint32_t>{GAINZ_TYPE_F32}) {
      const std::string name = std::string("ops.") + op.name + (op.by_type ? std::string(".") + type_name(type) : "");
      tests.push_back({name, "as the scalar kernel, within the bound of its type",
                       [op = op.op, type](Trial& trial) { judge_op(trial, op, type); }, 60});
    }
  }
}

}  // namespace gainz::conform
