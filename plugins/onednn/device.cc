#include "device.h"

#include <algorithm>

namespace gainz::onednn {

namespace {

struct OpenedModel {
  Model model;
};
struct OpenedKv {
  const OpenedModel* model = nullptr;
  Kv kv;
};
struct OpenedProgram {
  const OpenedModel* model = nullptr;
  const OpenedKv* kv = nullptr;
  std::unique_ptr<Program> program;
};
struct Device {
  gainz_host host{};
  Choice choice;
  const Kernels* kernels = nullptr;
  std::atomic<uint64_t> last_ticket{0};
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

void close(gainz_device* d) {
  if (d == nullptr) return;
  of(d)->programs.clear();
  of(d)->kvs.clear();
  of(d)->models.clear();
  delete of(d);
}

gainz_status describe_device(gainz_device* d, gainz_device_desc* out, gainz_error* error) {
  return sdk::guard(error, [&]() -> Status {
    if (out == nullptr) return missing("out_desc");
    const gainz_device_desc desc = describe(of(d)->choice);
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
    auto model = std::make_unique<OpenedModel>();
    GAINZ_SDK_TRY(model->model.create(Host(&device.host), graph, own, device.choice.use_dnn));
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
  std::erase_if(device.programs, [=](const auto& p) { return p->model == model; });
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
    auto kv = std::make_unique<OpenedKv>();
    kv->model = model;
    GAINZ_SDK_TRY(kv->kv.create(Host(&device.host), model->model.graph(), own));
    *out = reinterpret_cast<gainz_kv*>(kv.get());
    device.kvs.push_back(std::move(kv));
    return {};
  });
}

void kv_destroy(gainz_device* d, gainz_kv* handle) {
  const OpenedKv* kv = find(of(d)->kvs, handle);
  if (kv == nullptr) return;
  std::erase_if(of(d)->programs, [=](const auto& p) { return p->kv == kv; });
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
    const OpenedKv* kv = find(of(d)->kvs, handle);
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
    program->program =
        std::make_unique<Program>(Host(&device.host), *device.kernels, model->model, kv == nullptr ? nullptr : &kv->kv);
    GAINZ_SDK_TRY(program->program->create(own));
    *out = reinterpret_cast<gainz_program*>(program.get());
    device.programs.push_back(std::move(program));
    return {};
  });
}

void program_destroy(gainz_device* d, gainz_program* handle) {
  if (const OpenedProgram* program = find(of(d)->programs, handle)) erase(of(d)->programs, program);
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
    GAINZ_SDK_TRY(program->program->run(own, first_slice, num_slices));
    *out_ticket = of(d)->last_ticket.fetch_add(1) + 1;
    return {};
  });
}

// The work is done when run returns, so every ticket that was given is done.
Status check_ticket(gainz_device* d, uint64_t ticket) {
  if (ticket != 0 && ticket <= of(d)->last_ticket.load()) return {};
  return failure(GAINZ_STATUS_INVALID, "ticket %llu was never given", static_cast<unsigned long long>(ticket));
}
gainz_status poll(gainz_device* d, uint64_t ticket, uint32_t* out_done, gainz_error* error) {
  return sdk::guard(error, [&]() -> Status {
    if (out_done == nullptr) return missing("out_done");
    GAINZ_SDK_TRY(check_ticket(d, ticket));
    *out_done = 1;
    return {};
  });
}
gainz_status wait(gainz_device* d, uint64_t ticket, uint64_t, gainz_error* error) {
  return sdk::guard(error, [&]() -> Status { return check_ticket(d, ticket); });
}
const void* get_extension(gainz_device*, const char*, uint32_t) { return nullptr; }

}  // namespace

Choice choose(Isa bound) {
  Choice choice;
  choice.isa = lowered_isa(bound);
  choice.use_dnn = choice.isa >= Isa::kAvx512Vnni && *DnnLinear::version() != 0;
  choice.brand = cpu_brand();
  choice.isa_text = kernels_of(choice.isa)->isa;
  if (bound == Isa::kAmx && choice.isa != Isa::kAmx && !amx_state().reason.empty())
    choice.isa_text += " (no amx: " + amx_state().reason + ")";
  choice.identity = std::string("onednn-0.1.0-") + kernels_of(choice.isa)->isa;
  if (choice.use_dnn) choice.identity += std::string("-dnnl") + DnnLinear::version();
  return choice;
}

gainz_device_desc describe(const Choice& choice) {
  gainz_device_desc desc{};
  desc.struct_size = sizeof desc;
  desc.kind = GAINZ_DEVICE_CPU;
  desc.flags = GAINZ_DEVICE_SHARES_MEMORY | (kernels_of(choice.isa)->tiles != nullptr ? GAINZ_DEVICE_PHASES_DIFFER : 0u);
  desc.kv_types = 1u << GAINZ_TYPE_F32 | 1u << GAINZ_TYPE_F16 | 1u << GAINZ_TYPE_Q8_0;
  desc.name = choice.brand.c_str();
  desc.isa = choice.isa_text.c_str();
  desc.identity = choice.identity.c_str();
  desc.memory_bytes = memory_total_bytes();
  desc.free_bytes = memory_free_bytes();
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

gainz_device* open_device(const gainz_host& host, Choice choice) {
  auto device = std::make_unique<Device>();
  device->host = host;
  device->kernels = kernels_of(choice.isa);
  device->choice = std::move(choice);
  return reinterpret_cast<gainz_device*>(device.release());
}

}  // namespace gainz::onednn
