#include "conform/op_runner.h"

#include <algorithm>
#include <cstring>

namespace gainz::conform {
namespace {

constexpr uint8_t kCanary = 0xC5;
constexpr size_t kGap = 64;  // bytes between rows, and before and behind them

void require_ok(gainz_status status, const char* what, const ErrorText& error) {
  GAINZ_REQUIRE(status == GAINZ_STATUS_OK, "%s: status %d: %s", what, status, error.text().c_str());
}

void require_claimed(const Device& device, GraphBuilder& graph) {
  std::vector<uint8_t> claims(graph.nodes().size() + 16, 0);
  std::fill(claims.begin() + static_cast<ptrdiff_t>(graph.nodes().size()), claims.end(), kCanary);
  ErrorText error;
  const gainz_status status = device->model_claim(device.get(), graph.graph(), claims.data(), error.get());
  if (status == GAINZ_STATUS_UNSUPPORTED) unsupported("not claimed: %s", error.text().c_str());
  require_ok(status, "model_claim", error);
  for (size_t i = graph.nodes().size(); i < claims.size(); ++i)
    GAINZ_REQUIRE(claims[i] == kCanary, "model_claim wrote beyond the claims");
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    GAINZ_REQUIRE(claims[i] <= 1, "model_claim: claim %zu is %u", i, claims[i]);
    if (claims[i] == 0) unsupported("not claimed");
  }
}

// What belongs to a device, given back in the right order.
struct Handles {
  const Device& device;
  gainz_model* model = nullptr;
  gainz_program* program = nullptr;
  ~Handles() {
    if (program) device->program_destroy(device.get(), program);
    if (model) device->model_destroy(device.get(), model);
  }
};

struct Output {
  std::vector<uint8_t> bytes;
  size_t row_bytes = 0, num_rows = 0;
  size_t stride() const { return row_bytes + kGap; }
  uint8_t* first() { return bytes.data() + kGap; }
};

std::vector<std::vector<float>> rows_of(Output& output, size_t index) {
  std::vector<bool> is_row(output.bytes.size(), false);
  std::vector<std::vector<float>> rows;
  for (size_t r = 0; r < output.num_rows; ++r) {
    const size_t at = kGap + r * output.stride();
    std::fill_n(is_row.begin() + static_cast<ptrdiff_t>(at), output.row_bytes, true);
    std::memcpy(rows.emplace_back(output.row_bytes / 4).data(), output.bytes.data() + at, output.row_bytes);
  }
  for (size_t i = 0; i < output.bytes.size(); ++i)
    GAINZ_REQUIRE(is_row[i] || output.bytes[i] == kCanary,
                  "output %zu: a byte was written outside of its rows, %zu bytes from their beginning", index, i - kGap);
  return rows;
}

}  // namespace

std::vector<std::vector<std::vector<float>>> run_ops(const Device& device, GraphBuilder& graph, const OpStep& given) {
  require_claimed(device, graph);
  Handles handles{device};
  ErrorText error;
  require_ok(device->model_create(device.get(), graph.graph(), graph.weights(), &handles.model, error.get()), "model_create",
             error);
  const auto num_rows = static_cast<uint32_t>(given.output_rows.size());
  const gainz_bucket bucket{sizeof bucket, given.num_tokens, 1, std::max(1u, num_rows), 0, 0};
  require_ok(device->program_create(device.get(), handles.model, nullptr, &bucket, &handles.program, error.get()),
             "program_create", error);
  gainz_program_info info{};
  info.struct_size = sizeof info;
  require_ok(device->program_describe(device.get(), handles.program, &info, error.get()), "program_describe", error);

  std::vector<int32_t> tokens = given.tokens, positions;
  tokens.resize(given.num_tokens, 0);
  for (uint32_t i = 0; i < given.num_tokens; ++i) positions.push_back(static_cast<int32_t>(given.first_position + i));
  const std::vector<uint8_t> phases(given.num_tokens, given.phase);
  const uint32_t offsets[2] = {0, given.num_tokens}, context = given.first_position + given.num_tokens;
  std::vector<gainz_buffer> inputs, outputs;
  std::vector<std::vector<float>> input_data = given.inputs;
  for (size_t i = 0; i < graph.inputs().size(); ++i)
    inputs.push_back({sizeof(gainz_buffer), 0, input_data[i].data(), graph.values()[graph.inputs()[i]].dims[0] * 4});
  std::vector<Output> taken(graph.outputs().size());
  for (size_t i = 0; i < taken.size(); ++i) {
    const gainz_value& value = graph.values()[graph.outputs()[i]];
    taken[i].row_bytes = value.dims[0] * 4;
    taken[i].num_rows = value.rows == GAINZ_ROWS_TOKENS ? given.num_tokens : num_rows;
    taken[i].bytes.assign(taken[i].num_rows * taken[i].stride() + kGap, kCanary);
    outputs.push_back({sizeof(gainz_buffer), 0, taken[i].first(), taken[i].stride()});
  }
  gainz_step step{};
  step.struct_size = sizeof step;
  step.num_tokens = given.num_tokens;
  step.num_sequences = 1;
  step.num_output_rows = num_rows;
  step.tokens = tokens.data();
  step.positions = positions.data();
  step.phases = phases.data();
  step.query_offsets = offsets;
  step.context_lengths = &context;
  step.output_rows = given.output_rows.data();
  step.logit_masks = given.logit_masks.empty() ? nullptr : given.logit_masks.data();
  step.logit_mask_stride = given.mask_words;
  step.inputs = inputs.data();
  step.outputs = outputs.data();
  step.buffer_stride = sizeof(gainz_buffer);
  uint64_t ticket = 0;
  require_ok(device->run(device.get(), handles.program, &step, 0, info.num_slices, &ticket, error.get()), "run", error);
  require_ok(device->wait(device.get(), ticket, UINT64_MAX, error.get()), "wait", error);
  std::vector<std::vector<std::vector<float>>> out;
  for (size_t i = 0; i < taken.size(); ++i) out.push_back(rows_of(taken[i], i));
  return out;
}

}  // namespace gainz::conform
