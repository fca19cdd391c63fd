#include "device/device.h"

namespace gainz {

Result<std::shared_ptr<Device>> Device::open(std::shared_ptr<PluginLibrary> plugin, uint32_t index,
                                             const DeviceOptions& options) {
  std::vector<gainz_option> list;
  for (const auto& [key, value] : options) list.push_back({sizeof(gainz_option), 0, key.c_str(), value.c_str()});
  std::shared_ptr<Device> device(new Device);
  device->api_.struct_size = sizeof(gainz_device_api);
  const std::string what = "backend " + plugin->name() + ": opening device " + std::to_string(index);
  gainz_device* handle = nullptr;
  GAINZ_TRY(call_plugin(
      [&](gainz_error* error) {
        return plugin->table().device_open(plugin->host().table(), index, list.data(), sizeof(gainz_option),
                                           uint32_t(list.size()), &device->api_, &handle, error);
      },
      [&] { return what; }));
  const gainz_device_api& api = device->api_;
  if (!handle || api.struct_size != sizeof(api))
    return Status(Code::invalid, what + ": answered OK with no device or a table of another size");
  if (!api.close || !api.describe || !api.model_claim || !api.model_create || !api.model_destroy || !api.model_memory ||
      !api.kv_create || !api.kv_destroy || !api.kv_copy_pages || !api.kv_export_page || !api.kv_import_page ||
      !api.program_create || !api.program_destroy || !api.program_describe || !api.run || !api.poll || !api.wait) {
    if (api.close) call_plugin_quietly([&] { api.close(handle); });
    return Status(Code::invalid, what + ": a required function is missing from its table");
  }
  device->handle_ = handle;
  device->plugin_ = plugin;
  device->info_.backend = plugin->name();
  gainz_device_desc desc{};
  desc.struct_size = sizeof(desc);
  GAINZ_TRY(device->call("describe", api.describe, &desc));
  GAINZ_ASSIGN(device->info_, check_device_desc(desc, plugin->name(), index));
  return device;
}

Device::~Device() {
  if (handle_) call_plugin_quietly([this] { api_.close(handle_); });
}

}  // namespace gainz
