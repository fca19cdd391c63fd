#include "device.h"

#include <algorithm>
#include <memory>
#include <mutex>

#include "program.h"

namespace gainz::vulkan {

namespace {

struct OpenedModel {
  explicit OpenedModel(Memory& memory) : model(memory) {}
  Model model;
};
struct OpenedKv {
  OpenedKv(Context& context, Memory& memory) : kv(context, memory) {}
  const OpenedModel* model = nullptr;
  Kv kv;
};
struct OpenedProgram {
  const OpenedModel* model = nullptr;
  const OpenedKv* kv = nullptr;
  std::unique_ptr<Program> program;
};
// Members are destroyed from the last to the first.
struct Device {
  gainz_host host{};
  Context context;
  Memory memory{context};
  Pipelines pipelines{context};
  std::mutex mutex;  // of `programs` and their slots: poll and wait finish steps from any thread
  std::vector<std::unique_ptr<OpenedModel>> models;
  std::vector<std::unique_ptr<OpenedKv>> kvs;
  std::vector<std::unique_ptr<OpenedProgram>> programs;
};

Device* of(gainz_device* d) { return reinterpret_cast<Device*>(d); }

// The object behind a handle, or NULL where the device has none such.
template <class T, class Handle>
T* find(const std::vector<std::unique_ptr<T>>& owned, Handle* handle) {
  for (const auto& object : owned)
    if (static_cast<void*>(object.get()) == static_cast<void*>(handle)) return object.get();
  return nullptr;
}
template <class T>
void erase(std::vector<std::unique_ptr<T>>& owned, const T* object) {
  std::erase_if(owned, [=](const auto& other) { return other.get() == object; });
}

Status missing(const char* what) { return failure(GAINZ_STATUS_INVALID, "%s is NULL or not of this device", what); }

void drop_programs(Device& device, const void* model, const void* kv) {
  const std::lock_guard lock(device.mutex);
  std::erase_if(device.programs, [=](const auto& p) { return p->model == model || (kv != nullptr && p->kv == kv); });
}

void close(gainz_device* d) {
  if (d == nullptr) return;
  of(d)->context.settle();
  delete of(d);
}

gainz_status describe_device(gainz_device* d, gainz_device_desc* out, gainz_error* error) {
  return sdk::guard(error, [&]() -> Status {
    if (out == nullptr) return missing("out_desc");
    const Context& context = of(d)->context;
    gainz_device_desc desc = describe(context.candidate(), context.options().memory_limit_bytes);
    desc.free_bytes = context.free_bytes();
    sdk::fill_struct_raw(out, &desc, sizeof desc);
    return {};
  });
}

gainz_status model_claim(gainz_device*, const gainz_graph* graph, uint8_t* out_claims, gainz_error* error) {
  return sdk::guard(error, [&]() -> Status {
    if (out_claims == nullptr) return missing("out_claims");
    sdk::Graph own;
    GAINZ_SDK_TRY(own.read(graph));
    return claim(own, out_claims);
  });
}

gainz_status model_create(gainz_device* d, const gainz_graph* graph, const gainz_weights* weights, gainz_model** out,
                          gainz_error* error) {
  return sdk::guard(error, [&]() -> Status {
    gainz_weights own{};
    GAINZ_SDK_TRY(sdk::read_struct(weights, &own, "gainz_weights"));
    if (own.map == nullptr || out == nullptr) return missing("gainz_weights.map or out_model");
    Device& device = *of(d);
    auto model = std::make_unique<OpenedModel>(device.memory);
    GAINZ_SDK_TRY(model->model.create(device.context, graph, own));
    *out = reinterpret_cast<gainz_model*>(model.get());
    device.models.push_back(std::move(model));
    return {};
  });
}

// Whatever uses a handle goes before it.
void model_destroy(gainz_device* d, gainz_model* m) {
  Device& device = *of(d);
  const OpenedModel* model = find(device.models, m);
  if (model == nullptr) return;
  device.context.settle();
  drop_programs(device, model, nullptr);
  std::erase_if(device.kvs, [=](const auto& kv) { return kv->model == model; });
  erase(device.models, model);
}

gainz_status model_memory(gainz_device*, gainz_model* m, uint64_t* out_bytes, gainz_error* error) {
  return sdk::guard(error, [&]() -> Status {
    if (m == nullptr || out_bytes == nullptr) return missing("the model or out_bytes");
    *out_bytes = reinterpret_cast<const OpenedModel*>(m)->model.memory_bytes();
    return {};
  });
}

gainz_status kv_create(gainz_device* d, gainz_model* m, const gainz_kv_desc* desc, gainz_kv** out, gainz_error* error) {
  return sdk::guard(error, [&]() -> Status {
    Device& device = *of(d);
    const OpenedModel* model = find(device.models, m);
    gainz_kv_desc own{};
    GAINZ_SDK_TRY(sdk::read_struct(desc, &own, "gainz_kv_desc"));
    if (model == nullptr || out == nullptr) return missing("the model or out_kv");
    auto kv = std::make_unique<OpenedKv>(device.context, device.memory);
    kv->model = model;
    GAINZ_SDK_TRY(kv->kv.create(model->model.graph(), own));
    *out = reinterpret_cast<gainz_kv*>(kv.get());
    device.kvs.push_back(std::move(kv));
    return {};
  });
}

void kv_destroy(gainz_device* d, gainz_kv* handle) {
  const OpenedKv* kv = find(of(d)->kvs, handle);
  if (kv == nullptr) return;
  of(d)->context.settle();
  drop_programs(*of(d), nullptr, kv);
  erase(of(d)->kvs, kv);
}

gainz_status kv_copy_pages(gainz_device* d, gainz_kv* handle, uint32_t group, const gainz_page_copy* copies,
                           uint32_t num_copies, gainz_error* error) {
  return sdk::guard(error, [&]() -> Status {
    OpenedKv* kv = find(of(d)->kvs, handle);
    return kv == nullptr ? missing("the kv") : kv->kv.copy_pages(group, copies, num_copies);
  });
}

gainz_status kv_export_page(gainz_device* d, gainz_kv* handle, uint32_t group, uint32_t page, void* out, uint64_t num_bytes,
                            gainz_error* error) {
  return sdk::guard(error, [&]() -> Status {
    OpenedKv* kv = find(of(d)->kvs, handle);
    return kv == nullptr ? missing("the kv") : kv->kv.export_page(group, page, static_cast<uint8_t*>(out), num_bytes);
  });
}

gainz_status kv_import_page(gainz_device* d, gainz_kv* handle, uint32_t group, uint32_t page, const void* in,
                            uint64_t num_bytes, gainz_error* error) {
  return sdk::guard(error, [&]() -> Status {
    OpenedKv* kv = find(of(d)->kvs, handle);
    return kv == nullptr ? missing("the kv") : kv->kv.import_page(group, page, static_cast<const uint8_t*>(in), num_bytes);
  });
}

gainz_status program_create(gainz_device* d, gainz_model* m, gainz_kv* k, const gainz_bucket* bucket, gainz_program** out,
                            gainz_error* error) {
  return sdk::guard(error, [&]() -> Status {
    Device& device = *of(d);
    const OpenedModel* model = find(device.models, m);
    OpenedKv* kv = find(device.kvs, k);
    gainz_bucket own{};
    GAINZ_SDK_TRY(sdk::read_struct(bucket, &own, "gainz_bucket"));
    if (model == nullptr || out == nullptr) return missing("the model or out_program");
    if (k != nullptr && (kv == nullptr || kv->model != model)) return missing("the kv");
    auto program = std::make_unique<OpenedProgram>();
    program->model = model;
    program->kv = kv;
    program->program = std::make_unique<Program>(device.context, device.memory, device.pipelines, model->model,
                                                 kv == nullptr ? nullptr : &kv->kv);
    GAINZ_SDK_TRY(program->program->create(own));
    *out = reinterpret_cast<gainz_program*>(program.get());
    const std::lock_guard lock(device.mutex);
    device.programs.push_back(std::move(program));
    return {};
  });
}

void program_destroy(gainz_device* d, gainz_program* handle) {
  const OpenedProgram* program = find(of(d)->programs, handle);
  if (program == nullptr) return;
  of(d)->context.settle();
  const std::lock_guard lock(of(d)->mutex);
  erase(of(d)->programs, program);
}

gainz_status program_describe(gainz_device*, gainz_program* handle, gainz_program_info* out, gainz_error* error) {
  return sdk::guard(error, [&]() -> Status {
    if (handle == nullptr || out == nullptr) return missing("the program or out_info");
    gainz_program_info info{};
    info.struct_size = sizeof info;
    reinterpret_cast<const OpenedProgram*>(handle)->program->describe(&info);
    sdk::fill_struct_raw(out, &info, sizeof info);
    return {};
  });
}

gainz_status run(gainz_device* d, gainz_program* handle, const gainz_step* step, uint32_t first_slice, uint32_t num_slices,
                 uint64_t* out_ticket, gainz_error* error) {
  return sdk::guard(error, [&]() -> Status {
    const OpenedProgram* program = find(of(d)->programs, handle);
    if (program == nullptr || out_ticket == nullptr) return missing("the program or out_ticket");
    gainz_step own{};
    GAINZ_SDK_TRY(sdk::read_struct(step, &own, "gainz_step"));
    const std::lock_guard lock(of(d)->mutex);
    return program->program->run(own, first_slice, num_slices, out_ticket);
  });
}

Status check_ticket(gainz_device* d, uint64_t ticket) {
  if (ticket != 0 && ticket <= of(d)->context.last_ticket()) return {};
  return failure(GAINZ_STATUS_INVALID, "ticket %llu was never given", wide(ticket));
}
void finish(Device& device, uint64_t done) {
  const std::lock_guard lock(device.mutex);
  for (const auto& program : device.programs) program->program->finish(done);
}

gainz_status poll(gainz_device* d, uint64_t ticket, uint32_t* out_done, gainz_error* error) {
  return sdk::guard(error, [&]() -> Status {
    if (out_done == nullptr) return missing("out_done");
    GAINZ_SDK_TRY(check_ticket(d, ticket));
    uint64_t done = 0;
    GAINZ_SDK_TRY(of(d)->context.done_ticket(&done));
    if (done >= ticket) finish(*of(d), done);
    *out_done = done >= ticket ? 1 : 0;
    return {};
  });
}
gainz_status wait(gainz_device* d, uint64_t ticket, uint64_t timeout_ns, gainz_error* error) {
  return sdk::guard(error, [&]() -> Status {
    GAINZ_SDK_TRY(check_ticket(d, ticket));
    GAINZ_SDK_TRY(of(d)->context.wait(ticket, timeout_ns));
    finish(*of(d), ticket);
    return {};
  });
}
const void* get_extension(gainz_device*, const char*, uint32_t) { return nullptr; }

}  // namespace

gainz_device_desc describe(const Candidate& candidate, uint64_t memory_limit_bytes) {
  gainz_device_desc desc{};
  desc.struct_size = sizeof desc;
  desc.kind = candidate.kind;
  desc.flags = candidate.is_unified ? GAINZ_DEVICE_SHARES_MEMORY : 0u;
  desc.kv_types = 1u << GAINZ_TYPE_F32 | 1u << GAINZ_TYPE_F16 | 1u << GAINZ_TYPE_Q8_0;
  desc.name = candidate.name.c_str();
  desc.isa = candidate.api_text.c_str();
  desc.identity = candidate.identity.c_str();
  desc.memory_bytes = memory_limit_bytes != 0 ? std::min(memory_limit_bytes, candidate.memory_bytes) : candidate.memory_bytes;
  desc.free_bytes = candidate.free_bytes;
  return desc;
}

gainz_device_api device_table() {
  gainz_device_api api{};
  api.struct_size = sizeof api;
  api.close = close;
  api.describe = describe_device;
  api.model_claim = model_claim;
  api.model_create = model_create;
  api.model_destroy = model_destroy;
  api.model_memory = model_memory;
  api.kv_create = kv_create;
  api.kv_destroy = kv_destroy;
  api.kv_copy_pages = kv_copy_pages;
  api.kv_export_page = kv_export_page;
  api.kv_import_page = kv_import_page;
  api.program_create = program_create;
  api.program_destroy = program_destroy;
  api.program_describe = program_describe;
  api.run = run;
  api.poll = poll;
  api.wait = wait;
  api.get_extension = get_extension;
  return api;
}

Status open_device(const gainz_host& host, uint32_t index, const Options& options, gainz_device** out_device) {
  auto device = std::make_unique<Device>();
  device->host = host;
  GAINZ_SDK_TRY(device->context.create(&device->host, index, options));
  GAINZ_SDK_TRY(device->pipelines.create());
  *out_device = reinterpret_cast<gainz_device*>(device.release());
  return {};
}

}  // namespace gainz::vulkan
