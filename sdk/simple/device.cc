// The tables: query, list, open, and the functions of an opened device.
#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "border.h"
#include "handles.h"
#include "reference/kv.h"

namespace gainz::sdk {

Weight Compute::weight(uint32_t i) const {
  const Value& value = node_->input(i);
  return {value.type, data_[node_->inputs[i]], value.dims[0], value.dims[1], value.dims[2]};
}

gainz_step_pages Compute::pages() const {
  gainz_step_pages pages{};
  const auto* at = reinterpret_cast<const char*>(step_->pages) + node_->attr.attention.group * step_->pages_stride;
  std::memcpy(&pages, at, std::min<uint64_t>(sizeof pages, step_->pages_stride));
  return pages;
}

reference::KvLayer Compute::kv() const { return kv_layers_[node_->index]; }

void Compute::parallel_raw(uint64_t count, uint64_t grain, gainz_parallel_body body, void* arg) const {
  host_->parallel_for(host_->ctx, count, grain, body, arg);
}

void Compute::throw_failed() { throw std::runtime_error("a kernel failed on one of the host's workers"); }

uint64_t SimpleBackend::scratch_bytes(const Node&, const gainz_bucket&) const { return 0; }

Status SimpleBackend::set_option(std::string_view key, std::string_view value) {
  static constexpr std::string_view kIsas[] = {"auto",      "scalar",   "sse2",        "avx2",        "avx_vnni",
                                               "avx2_vnni", "avx512",   "avx512_vnni", "avx512_bf16", "avx512_fp16",
                                               "amx",       "amx_int8", "amx_bf16"};
  const bool isa = key == "isa" && std::find(std::begin(kIsas), std::end(kIsas), value) != std::end(kIsas);
  if (isa || (key == "prefill" && (value == "auto" || value == "exact"))) return {};
  return failure(GAINZ_STATUS_INVALID, "option %.64s = \"%.64s\": no such option or value", std::string(key).c_str(),
                 std::string(value).c_str());
}

namespace {

gainz_device_desc describe_device(const PluginInfo& info) {
  gainz_device_desc desc{};
  desc.struct_size = sizeof desc;
  desc.kind = info.device_kind;
  desc.flags = info.device_flags;
  desc.kv_types = kKvTypes;
  desc.name = info.device_name;
  desc.isa = info.isa;
  desc.identity = info.identity;
  return desc;
}

Status read_host(const gainz_host* host, gainz_host* out) {
  GAINZ_SDK_TRY(read_struct(host, out, "gainz_host"));
  if (out->abi_major != GAINZ_ABI_MAJOR || out->abi_minor != GAINZ_ABI_MINOR) {
    return failure(GAINZ_STATUS_UNSUPPORTED, "the plugin speaks ABI %u.%u and the host %u.%u", GAINZ_ABI_MAJOR, GAINZ_ABI_MINOR,
                   out->abi_major, out->abi_minor);
  }
  if (out->allocate != nullptr && out->release != nullptr && out->parallel_for != nullptr && out->num_workers != nullptr)
    return {};
  return failure(GAINZ_STATUS_INVALID, "gainz_host: allocate, release, parallel_for or num_workers is NULL");
}

void close_device(gainz_device* device) {
  if (device == nullptr) return;
  device->programs.clear();
  device->kvs.clear();
  device->models.clear();
  delete device;
}

// Whatever uses a handle goes before it, so that a host that forgets an order leaves nothing dangling.
void destroy_programs(gainz_device* device, const gainz_model* model, const gainz_kv* kv) {
  std::erase_if(device->programs, [&](const auto& p) { return p->model == model || (kv != nullptr && p->kv == kv); });
}
void destroy_model(gainz_device* device, gainz_model* model) {
  const auto it = find_handle(device->models, model);
  if (it == device->models.end()) return;
  destroy_programs(device, model, nullptr);
  std::erase_if(device->kvs, [&](const auto& kv) { return kv->model == model; });
  device->models.erase(it);
}
void destroy_kv(gainz_device* device, gainz_kv* kv) {
  const auto it = find_handle(device->kvs, kv);
  if (it == device->kvs.end()) return;
  destroy_programs(device, nullptr, kv);
  device->kvs.erase(it);
}
void destroy_program(gainz_device* device, gainz_program* program) {
  const auto it = find_handle(device->programs, program);
  if (it != device->programs.end()) device->programs.erase(it);
}

gainz_status describe(gainz_device* device, gainz_device_desc* out_desc, gainz_error* error) {
  return guard(error, [&]() -> Status {
    if (out_desc == nullptr) return failure(GAINZ_STATUS_INVALID, "describe: out_desc is NULL");
    const gainz_device_desc desc = describe_device(device->info);
    fill_struct_raw(out_desc, &desc, sizeof desc);
    return {};
  });
}

gainz_status model_memory(gainz_device*, gainz_model* model, uint64_t* out_bytes, gainz_error* error) {
  return guard(error, [&]() -> Status {
    if (model == nullptr || out_bytes == nullptr) return failure(GAINZ_STATUS_INVALID, "model_memory: NULL");
    *out_bytes = model->weight_bytes;
    return {};
  });
}

Status check_kv(gainz_device* device, const gainz_kv* kv) {
  return owns(device->kvs, kv) ? Status() : failure(GAINZ_STATUS_INVALID, "no such kv on this device");
}

gainz_status kv_copy(gainz_device* device, gainz_kv* kv, uint32_t group, const gainz_page_copy* copies, uint32_t num_copies,
                     gainz_error* error) {
  return guard(error, [&]() -> Status {
    GAINZ_SDK_TRY(check_kv(device, kv));
    return copy_pages(*kv, group, copies, num_copies);
  });
}
gainz_status kv_export(gainz_device* device, gainz_kv* kv, uint32_t group, uint32_t page, void* out_bytes, uint64_t num_bytes,
                       gainz_error* error) {
  return guard(error, [&]() -> Status {
    uint8_t* bytes = nullptr;
    GAINZ_SDK_TRY(check_kv(device, kv));
    GAINZ_SDK_TRY(find_page(*kv, group, page, out_bytes, num_bytes, &bytes));
    std::memcpy(out_bytes, bytes, num_bytes);
    return {};
  });
}
gainz_status kv_import(gainz_device* device, gainz_kv* kv, uint32_t group, uint32_t page, const void* in_bytes,
                       uint64_t num_bytes, gainz_error* error) {
  return guard(error, [&]() -> Status {
    uint8_t* bytes = nullptr;
    GAINZ_SDK_TRY(check_kv(device, kv));
    GAINZ_SDK_TRY(find_page(*kv, group, page, in_bytes, num_bytes, &bytes));
    std::memcpy(bytes, in_bytes, num_bytes);
    return {};
  });
}

gainz_status program_describe(gainz_device*, gainz_program* program, gainz_program_info* out_info, gainz_error* error) {
  return guard(error, [&]() -> Status {
    if (program == nullptr || out_info == nullptr) return failure(GAINZ_STATUS_INVALID, "program_describe: NULL");
    const gainz_program_info info{sizeof info, static_cast<uint32_t>(program->slice_cost.size()), program->slice_cost.data(),
                                  program->memory.size()};
    fill_struct_raw(out_info, &info, sizeof info);
    return {};
  });
}

gainz_status run(gainz_device* device, gainz_program* program, const gainz_step* step, uint32_t first_slice,
                 uint32_t num_slices, uint64_t* out_ticket, gainz_error* error) {
  return guard(error, [&]() -> Status {
    if (!owns(device->programs, program) || out_ticket == nullptr) {
      return failure(GAINZ_STATUS_INVALID, "run: no such program on this device, or out_ticket is NULL");
    }
    GAINZ_SDK_TRY(run_slices(*device, *program, step, first_slice, num_slices));
    *out_ticket = device->last_ticket.fetch_add(1) + 1;
    return {};
  });
}

// The work is done when run returns, so every ticket that was given is done.
Status check_ticket(const gainz_device* device, uint64_t ticket) {
  if (ticket != 0 && ticket <= device->last_ticket.load()) return {};
  return failure(GAINZ_STATUS_INVALID, "ticket %llu was never given", static_cast<unsigned long long>(ticket));
}
gainz_status poll(gainz_device* device, uint64_t ticket, uint32_t* out_done, gainz_error* error) {
  return guard(error, [&]() -> Status {
    if (out_done == nullptr) return failure(GAINZ_STATUS_INVALID, "poll: out_done is NULL");
    GAINZ_SDK_TRY(check_ticket(device, ticket));
    *out_done = 1;
    return {};
  });
}
gainz_status wait(gainz_device* device, uint64_t ticket, uint64_t, gainz_error* error) {
  return guard(error, [&]() -> Status { return check_ticket(device, ticket); });
}

gainz_device_api device_table() {
  gainz_device_api api{};
  api.struct_size = sizeof api;
  api.close = close_device;
  api.describe = describe;
  api.model_claim = [](gainz_device* d, const gainz_graph* graph, uint8_t* out_claims, gainz_error* e) {
    return guard(e, [&] { return claim(*d, graph, out_claims); });
  };
  api.model_create = [](gainz_device* d, const gainz_graph* graph, const gainz_weights* weights, gainz_model** out,
                        gainz_error* e) { return guard(e, [&] { return create_model(*d, graph, weights, out); }); };
  api.model_destroy = destroy_model;
  api.model_memory = model_memory;
  api.kv_create = [](gainz_device* d, gainz_model* model, const gainz_kv_desc* desc, gainz_kv** out, gainz_error* e) {
    return guard(e, [&] { return create_kv(*d, model, desc, out); });
  };
  api.kv_destroy = destroy_kv;
  api.kv_copy_pages = kv_copy;
  api.kv_export_page = kv_export;
  api.kv_import_page = kv_import;
  api.program_create = [](gainz_device* d, gainz_model* model, gainz_kv* kv, const gainz_bucket* bucket, gainz_program** out,
                          gainz_error* e) { return guard(e, [&] { return create_program(*d, model, kv, bucket, out); }); };
  api.program_destroy = destroy_program;
  api.program_describe = program_describe;
  api.run = run;
  api.poll = poll;
  api.wait = wait;
  return api;
}

Status set_options(SimpleBackend* backend, const gainz_option* options, uint64_t stride, uint32_t num_options) {
  std::vector<std::string> seen;
  for (uint32_t i = 0; i < num_options; ++i) {
    gainz_option option{};
    GAINZ_SDK_TRY(read_element(options, stride, i, &option, "gainz_option"));
    if (option.key == nullptr || option.value == nullptr)
      return failure(GAINZ_STATUS_INVALID, "option %u has no key or no value", i);
    if (std::find(seen.begin(), seen.end(), option.key) != seen.end()) {
      return failure(GAINZ_STATUS_INVALID, "option %.64s is given twice", option.key);
    }
    seen.emplace_back(option.key);
    GAINZ_SDK_TRY(backend->set_option(option.key, option.value));
  }
  return {};
}

}  // namespace

gainz_status query_plugin(const PluginInfo& info, DeviceList list, DeviceOpen open, const gainz_host* host,
                          gainz_plugin* out_plugin, gainz_error* error) noexcept {
  return guard(error, [&]() -> Status {
    gainz_host own{};
    GAINZ_SDK_TRY(read_host(host, &own));
    if (out_plugin == nullptr) return failure(GAINZ_STATUS_INVALID, "query: out_plugin is NULL");
    gainz_plugin plugin{};
    plugin.struct_size = sizeof plugin;
    plugin.abi_major = GAINZ_ABI_MAJOR;
    plugin.abi_minor = GAINZ_ABI_MINOR;
    plugin.name = info.name;
    plugin.version = info.version;
    plugin.vendor = info.vendor;
    plugin.device_list = list;
    plugin.device_open = open;
    fill_struct_raw(out_plugin, &plugin, sizeof plugin);
    return {};
  });
}

gainz_status list_device(const PluginInfo& info, const gainz_host* host, gainz_device_desc* out_devices, uint64_t stride,
                         uint32_t capacity, uint32_t* out_count, gainz_error* error) noexcept {
  return guard(error, [&]() -> Status {
    gainz_host own{};
    GAINZ_SDK_TRY(read_host(host, &own));
    if (out_count == nullptr || (capacity != 0 && (out_devices == nullptr || stride < sizeof(uint32_t)))) {
      return failure(GAINZ_STATUS_INVALID, "device_list: no room is given for what it fills");
    }
    const gainz_device_desc desc = describe_device(info);
    if (capacity != 0) std::memcpy(out_devices, &desc, std::min<uint64_t>(stride, sizeof desc));
    *out_count = 1;
    return {};
  });
}

gainz_status open_device(const PluginInfo& info, MakeBackend make, const gainz_host* host, uint32_t index,
                         const gainz_option* options, uint64_t stride, uint32_t num_options, gainz_device_api* out_api,
                         gainz_device** out_device, gainz_error* error) noexcept {
  return guard(error, [&]() -> Status {
    if (out_api == nullptr || out_device == nullptr)
      return failure(GAINZ_STATUS_INVALID, "device_open: out_api or out_device is NULL");
    if (index != 0) return failure(GAINZ_STATUS_NOT_FOUND, "device_open: device %u of 1", index);
    auto device = std::make_unique<gainz_device>();
    GAINZ_SDK_TRY(read_host(host, &device->host));
    device->info = info;
    device->backend = make();
    GAINZ_SDK_TRY(set_options(device->backend.get(), options, stride, num_options));
    const gainz_device_api api = device_table();
    fill_struct_raw(out_api, &api, sizeof api);
    *out_device = device.release();
    return {};
  });
}

}  // namespace gainz::sdk
