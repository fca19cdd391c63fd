// PluginRegistry: which plugins there are. Manifests are read first; code is loaded when a backend is named or devices are
// listed.
//
// A manifest, NAME.plugin.toml beside the library, holds `key = "value"` lines: name, library (a file beside it), abi, version,
// description (docs/plugins.md). Folders come from plugin_path in order, never the current one; of two plugins with one name
// the first is used, the other keeps a reason. A bad plugin is skipped with one line and harms nobody. Owner: the runtime.
// Threads: one at a time.
#pragma once

#include <string>
#include <vector>

#include "device/device.h"

namespace gainz {

struct PluginEntry {
  std::string name, path, version;  // path of the library
  std::string reason;               // why it cannot be used; empty: no reason known
  std::string devices_reason;       // why its devices could not be listed the last time
  std::shared_ptr<PluginLibrary> library;
};

class PluginRegistry {
 public:
  explicit PluginRegistry(const PluginHost& host) : host_(host) {}

  void read_folders(const std::string& plugin_path);  // folders separated by ':'; one that is missing is skipped
  Status load_path(const std::string& path);
  Status load_all();  // as load
  std::vector<DeviceInfo>
  list_devices();  // of every loaded plugin; one that cannot list its own keeps the reason, which is logged
  // The plugin named `backend`, loaded. Errors name the file and the reason, or the known names.
  Result<std::shared_ptr<PluginLibrary>> find(const std::string& backend);
  const std::vector<PluginEntry>& entries() const { return entries_; }
  const PluginHost& host() const { return host_; }

 private:
  void read_manifest(const std::string& path);
  void add(PluginEntry entry);
  Status load(PluginEntry& entry);  // not OK only for want of memory: what is wrong with the plugin is its reason

  const PluginHost& host_;
  std::vector<PluginEntry> entries_;
};

}  // namespace gainz
