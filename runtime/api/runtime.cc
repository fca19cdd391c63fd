// The C functions on runtime, plugins and devices.
#include "api/runtime.h"

#include <dlfcn.h>
#include <sched.h>
#include <sys/random.h>

#include <algorithm>
#include <filesystem>

#include "api/border.h"
#include "engine/active.h"

using namespace gainz;

namespace {

constexpr uint32_t kMaxThreads = 1024;

uint32_t num_usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

// `gainz/plugins` beside the library that holds this code.
std::string default_plugin_path() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<const void*>(&gainz_version), &info) || !info.dli_fname) return {};
  std::error_code error;
  const auto folder = std::filesystem::absolute(info.dli_fname, error).parent_path();
  return error ? std::string() : (folder / "gainz" / "plugins").string();
}

}  // namespace

namespace gainz {

Result<uint64_t> random_u64() {
  uint64_t value = 0;
  if (getrandom(&value, sizeof(value), 0) != ssize_t(sizeof(value)))
    return Status(Code::internal, "the system gives no random numbers");
  return value;
}

}  // namespace gainz

gainz_runtime::gainz_runtime(const gainz_runtime_config& config) : host(services), registry(host) {
  services.hook_ctx = config.hook_ctx;
  services.allocate_hook = config.allocate;
  services.release_hook = config.release;
  services.log_hook = config.log;
  services.parallel_hook = config.parallel_for;
  services.num_threads = config.num_threads;
  thread_mode = config.thread_mode;
  if (config.cpu_isa) cpu_isa = config.cpu_isa;
}

Result<std::shared_ptr<LoadedModel>> gainz_runtime::find_model(gainz_model_id id) {
  std::lock_guard lock(models_mutex);
  const uint64_t index = (id & UINT32_MAX) - 1;
  if (id == 0 || index >= models.size() || models[index].generation != id >> 32 || !models[index].model)
    return Status(Code::not_found, "model " + std::to_string(id) + ": no such model");
  return models[index].model;
}

gainz_model_id gainz_runtime::add_model(std::shared_ptr<LoadedModel> model) {
  std::lock_guard lock(models_mutex);
  size_t index = 0;
  while (index < models.size() && models[index].model) ++index;
  if (index == models.size()) models.emplace_back();
  models[index].model = std::move(model);
  return uint64_t{++models[index].generation} << 32 | (index + 1);
}

std::shared_ptr<LoadedModel> gainz_runtime::take_model(gainz_model_id id) {
  std::lock_guard lock(models_mutex);
  const uint64_t index = (id & UINT32_MAX) - 1;
  if (id == 0 || index >= models.size() || models[index].generation != id >> 32) return nullptr;
  return std::exchange(models[index].model, nullptr);
}

extern "C" {

const char* gainz_version(void) { return GAINZ_VERSION; }

const char* gainz_code_name(gainz_code code) {
  static constexpr const char* kNames[] = {
      "ok",        "invalid",     "unsupported",    "not_found", "out_of_device_memory", "out_of_host_memory", "busy",
      "cancelled", "device_lost", "limit_exceeded", "internal"};
  return code >= 0 && code <= GAINZ_INTERNAL ? kNames[code] : "unknown";
}

void gainz_free(gainz_runtime*, void* memory) { std::free(memory); }

void gainz_runtime_config_init(gainz_runtime_config* config) {
  if (config) *config = gainz_runtime_config{sizeof(gainz_runtime_config)};
}

gainz_code gainz_runtime_create(const gainz_runtime_config* config, gainz_runtime** out_runtime, char* error,
                                size_t error_bytes) {
  return border(error, error_bytes, [&]() -> Status {
    if (!out_runtime) return {Code::invalid, "out_runtime is NULL"};
    *out_runtime = nullptr;
    gainz_runtime_config full{sizeof(full)};
    if (config) GAINZ_TRY(read_struct(config, full, "gainz_runtime_config"));
    if (full.thread_mode > GAINZ_THREADS_TICK)
      return {Code::invalid, "thread_mode " + std::to_string(full.thread_mode) + " is unknown"};
    if ((full.allocate == nullptr) != (full.release == nullptr)) return {Code::invalid, "allocate and release go together"};
    if (full.num_threads > kMaxThreads)
      return {Code::limit_exceeded,
              "num_threads is " + std::to_string(full.num_threads) + ", at most " + std::to_string(kMaxThreads)};
    if (full.num_threads == 0) full.num_threads = num_usable_cores();
    auto runtime = std::make_unique<gainz_runtime>(full);
    if (!full.parallel_for && full.num_threads > 1) {
      GAINZ_ASSIGN(runtime->services.pool, ThreadPool::create(full.num_threads));
    }
    runtime->registry.read_folders(full.plugin_path ? full.plugin_path : default_plugin_path());
    *out_runtime = runtime.release();
    return {};
  });
}

void gainz_runtime_destroy(gainz_runtime* runtime) {
  if (!runtime) return;
  runtime->models.clear();
  delete runtime;
}

gainz_code gainz_tick(gainz_runtime* runtime, uint64_t budget_us, uint32_t* out_pending, char* error, size_t error_bytes) {
  return border(error, error_bytes, [&]() -> Status {
    if (!runtime) return {Code::invalid, "runtime is NULL"};
    if (runtime->thread_mode != GAINZ_THREADS_TICK) return {Code::invalid, "gainz_tick needs thread_mode GAINZ_THREADS_TICK"};
    const uint64_t now = now_us(),
                   deadline = budget_us > UINT64_MAX - now ? UINT64_MAX : std::max<uint64_t>(now + budget_us, 1);
    uint32_t pending = 0;
    for (size_t i = 0;; ++i) {
      std::shared_ptr<LoadedModel> model;
      {
        std::lock_guard lock(runtime->models_mutex);
        if (i >= runtime->models.size()) break;
        model = runtime->models[i].model;
      }
      if (model && model->engine->tick(deadline)) pending = 1;
    }
    if (out_pending) *out_pending = pending;
    return {};
  });
}

gainz_code gainz_plugin_load(gainz_runtime* runtime, const char* path, char* error, size_t error_bytes) {
  return border(error, error_bytes, [&]() -> Status {
    if (!runtime || !path) return {Code::invalid, "runtime or path is NULL"};
    std::lock_guard lock(runtime->plugins_mutex);
    if (runtime->loading) return {Code::busy, "plugins do not change while a model loads"};
    GAINZ_TRY(runtime->registry.load_path(path));
    runtime->devices = runtime->registry.list_devices();
    return {};
  });
}

gainz_code gainz_devices_refresh(gainz_runtime* runtime, char* error, size_t error_bytes) {
  return border(error, error_bytes, [&]() -> Status {
    if (!runtime) return {Code::invalid, "runtime is NULL"};
    std::lock_guard lock(runtime->plugins_mutex);
    if (runtime->loading) return {Code::busy, "plugins do not change while a model loads"};
    GAINZ_TRY(runtime->registry.load_all());
    runtime->devices = runtime->registry.list_devices();
    return {};
  });
}

uint32_t gainz_plugin_count(gainz_runtime* runtime) {
  if (!runtime) return 0;
  std::lock_guard lock(runtime->plugins_mutex);
  return uint32_t(runtime->registry.entries().size());
}

gainz_code gainz_plugin_get(gainz_runtime* runtime, uint32_t index, gainz_plugin_info* out_info) {
  return border(nullptr, 0, [&]() -> Status {
    if (!runtime) return {Code::invalid, "runtime is NULL"};
    std::lock_guard lock(runtime->plugins_mutex);
    const auto& entries = runtime->registry.entries();
    if (index >= entries.size()) return {Code::not_found, "no such plugin"};
    const PluginEntry& entry = entries[index];
    gainz_plugin_info info{sizeof(info),
                           entry.library ? 1u : 0u,
                           runtime->keep(entry.name),
                           runtime->keep(entry.path),
                           runtime->keep(entry.version),
                           runtime->keep(entry.reason.empty() ? entry.devices_reason : entry.reason)};
    return write_struct(info, out_info, "gainz_plugin_info");
  });
}

uint32_t gainz_device_count(gainz_runtime* runtime) {
  if (!runtime) return 0;
  std::lock_guard lock(runtime->plugins_mutex);
  return uint32_t(runtime->devices.size());
}

gainz_code gainz_device_get(gainz_runtime* runtime, uint32_t index, gainz_device_info* out_info) {
  return border(nullptr, 0, [&]() -> Status {
    if (!runtime) return {Code::invalid, "runtime is NULL"};
    std::lock_guard lock(runtime->plugins_mutex);
    if (index >= runtime->devices.size()) return {Code::not_found, "no such device"};
    const DeviceInfo& device = runtime->devices[index];
    gainz_device_info info{sizeof(info),
                           device.index,
                           runtime->keep(device.backend),
                           runtime->keep(device.name),
                           device_kind_name(device.kind),
                           runtime->keep(device.isa),
                           device.memory_bytes,
                           device.free_bytes};
    return write_struct(info, out_info, "gainz_device_info");
  });
}

}  // extern "C"
