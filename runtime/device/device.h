// Device: one opened device of a plugin. Every call's answer becomes a Status that names backend and function; "device lost" is
// sticky. Owner: the models on it (shared). Threads: as the tags in gainz/sdk/device.h; callers keep [device-thread] calls
// apart.
#pragma once

#include <utility>

#include "device/plugin_call.h"
#include "device/plugin_library.h"

namespace gainz {

using DeviceOptions = std::vector<std::pair<std::string, std::string>>;

class Device {
 public:
  static Result<std::shared_ptr<Device>> open(std::shared_ptr<PluginLibrary> plugin, uint32_t index,
                                              const DeviceOptions& options);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceInfo& info() const { return info_; }
  const gainz_device_api& api() const { return api_; }
  gainz_device* handle() const { return handle_; }
  bool lost() const { return lost_; }

  // device.call("kv_create", device.api().kv_create, model, &desc, &kv)
  template <class... Parameters, class... Arguments>
  Status call(const char* what, gainz_status (*function)(gainz_device*, Parameters...), Arguments... arguments) {
    if (lost_) return {Code::device_lost, "backend " + info_.backend + ": the device was lost"};
    Status status = call_plugin([&](gainz_error* error) { return function(handle_, arguments..., error); },
                                [&] { return "backend " + info_.backend + ", " + what; });
    if (status.code() == Code::device_lost) lost_ = true;
    return status;
  }

 private:
  Device() = default;
  std::shared_ptr<PluginLibrary> plugin_;
  gainz_device_api api_{};
  gainz_device* handle_ = nullptr;
  DeviceInfo info_;
  bool lost_ = false;
};

}  // namespace gainz
