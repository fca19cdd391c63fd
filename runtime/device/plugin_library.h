// PluginLibrary: one plugin, loaded from an explicit path and checked at the border.
//
// A library is never unloaded (docs/decisions.md): closing its devices returns their memory, threads and files; the code stays
// mapped until the process ends. Loading the same file again gives the same mapping, so nothing grows. Owner: shared by the
// registry and the devices. Threads: load and the functions of plugin.h from one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/plugin_host.h"

namespace gainz {

struct DeviceInfo {
  std::string backend, name, isa, identity;
  uint32_t index = 0;
  uint32_t kind = 0, flags = 0, kv_types = 0;
  uint64_t memory_bytes = 0, free_bytes = 0;
};
const char* device_kind_name(uint32_t kind);
bool valid_plugin_name(std::string_view name);  // [a-z0-9_-]{1,31}

class PluginLibrary {
 public:
  // Errors name the file and the loader's, the plugin's or our reason: not_found, invalid (no plugin), unsupported (versions).
  static Result<std::shared_ptr<PluginLibrary>> load(const std::string& path, const PluginHost& host);
  // A plugin linked into the program, for the scalar fallback and tests.
  static Result<std::shared_ptr<PluginLibrary>> from_query(gainz_plugin_query_fn query, const std::string& path,
                                                           const PluginHost& host);

  const std::string& name() const { return name_; }
  const std::string& version() const { return version_; }
  const std::string& path() const { return path_; }
  const gainz_plugin& table() const { return table_; }
  const PluginHost& host() const { return *host_; }
  Result<std::vector<DeviceInfo>> list_devices() const;

 private:
  PluginLibrary() = default;
  gainz_plugin table_{};
  const PluginHost* host_ = nullptr;
  std::string path_, name_, version_;
};

// Checks and copies a descriptor that a plugin filled.
Result<DeviceInfo> check_device_desc(const gainz_device_desc& desc, const std::string& backend, uint32_t index);

}  // namespace gainz
