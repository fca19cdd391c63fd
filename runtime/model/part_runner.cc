#include "model/part_runner.h"

#include "model/limits.h"

namespace gainz {

PartRunner::PartRunner(Part part, std::shared_ptr<Device> device, std::shared_ptr<TicketOrder> order)
    : part_(std::move(part)), device_(std::move(device)), order_(std::move(order)) {
  inputs.assign(part_.inputs.size(), {sizeof(gainz_buffer), 0, nullptr, 0});
  outputs.assign(part_.outputs.size(), {sizeof(gainz_buffer), 0, nullptr, 0});
  pages.assign(part_.groups.size(), {sizeof(gainz_step_pages), 0, nullptr, nullptr, 0});
  step.struct_size = sizeof(step);
  step.pages = pages.data();
  step.pages_stride = sizeof(gainz_step_pages);
  step.inputs = inputs.data();
  step.outputs = outputs.data();
  step.buffer_stride = sizeof(gainz_buffer);
}

PartRunner::~PartRunner() {
  const gainz_device_api& api = device_->api();
  if (program_ != nullptr) call_plugin_quietly([&] { api.program_destroy(device_->handle(), program_); });
  if (kv_ != nullptr) call_plugin_quietly([&] { api.kv_destroy(device_->handle(), kv_); });
  if (model_ != nullptr) call_plugin_quietly([&] { api.model_destroy(device_->handle(), model_); });
}

Status PartRunner::fault(const char* function, const std::string& text) const {
  return {Code::internal, "backend " + device_->info().backend + ", " + function + ": " + text};
}

Result<std::unique_ptr<PartRunner>> PartRunner::create(Part part, std::shared_ptr<Device> device,
                                                       std::shared_ptr<TicketOrder> order, const Weights& weights) {
  std::unique_ptr<PartRunner> runner(new PartRunner(std::move(part), std::move(device), std::move(order)));
  Device& d = *runner->device_;
  const gainz_graph graph = runner->part_.graph();
  GAINZ_TRY(d.call("model_create", d.api().model_create, &graph, weights.table(), &runner->model_));
  if (runner->model_ == nullptr) return runner->fault("model_create", "it answered OK without a model");
  GAINZ_TRY(d.call("model_memory", d.api().model_memory, runner->model_, &runner->weight_bytes_));
  return runner;
}

Status PartRunner::create_kv(uint32_t k_type, uint32_t v_type, std::span<const uint32_t> num_pages) {
  if (part_.groups.empty()) return {};
  std::vector<uint32_t> counts;
  for (const uint32_t group : part_.whole_groups) counts.push_back(num_pages[group]);
  const gainz_kv_desc desc{sizeof(gainz_kv_desc), k_type, v_type, uint32_t(counts.size()), counts.data()};
  GAINZ_TRY(device_->call("kv_create", device_->api().kv_create, model_, &desc, &kv_));
  return kv_ == nullptr ? fault("kv_create", "it answered OK without pages") : Status();
}

Status PartRunner::prepare(uint32_t k_type, uint32_t v_type, std::span<const uint32_t> num_pages, const gainz_bucket& bucket) {
  GAINZ_TRY(create_kv(k_type, v_type, num_pages));
  GAINZ_TRY(device_->call("program_create", device_->api().program_create, model_, kv_, &bucket, &program_));
  if (program_ == nullptr) return fault("program_create", "it answered OK without a program");
  gainz_program_info info{};
  info.struct_size = sizeof(info);
  GAINZ_TRY(device_->call("program_describe", device_->api().program_describe, program_, &info));
  if (info.num_slices == 0 || info.num_slices > kMaxProgramSlices)
    return fault("program_describe", "a program of " + std::to_string(info.num_slices) + " slices; allowed are 1 to " +
                                         std::to_string(kMaxProgramSlices));
  num_slices_ = info.num_slices;
  return {};
}

Status PartRunner::copy_pages(uint32_t whole_group, std::span<const gainz_page_copy> copies) {
  for (uint32_t g = 0; g < part_.whole_groups.size(); ++g) {
    if (part_.whole_groups[g] != whole_group) continue;
    GAINZ_TRY(device_->call("kv_copy_pages", device_->api().kv_copy_pages, kv_, g, copies.data(), uint32_t(copies.size())));
  }
  return {};
}

Status PartRunner::run_slice(uint32_t slice) {
  const gainz_device_api& api = device_->api();
  uint64_t ticket = 0;
  GAINZ_TRY(device_->call("run", api.run, program_, &step, slice, 1u, &ticket));
  if (order_->is_any && ticket <= order_->last)
    return fault("run",
                 "it gave the ticket " + std::to_string(ticket) + " after " + std::to_string(order_->last) + "; tickets rise");
  *order_ = {ticket, true};
  for (uint32_t i = 0; i < kMaxSliceWaits; ++i) {
    const Status status = device_->call("wait", api.wait, ticket, kSliceWaitNs);
    if (status.code() != Code::busy) return status;
  }
  return fault("wait", "a slice was not done after " + std::to_string(kMaxSliceWaits) + " waits of a second");
}

}  // namespace gainz
