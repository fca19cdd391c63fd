// gainz devices: the plugins found, why one does not work, the devices, and which one the setting `backend` takes.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_text.h"
#include "base/text.h"
#include "cli/commands.h"
#include "session/session.h"
#include "terminal/terminal.h"

namespace gainz::host {
namespace {

namespace json = boost::json;

std::string text_of(const char* text) { return text != nullptr ? text : ""; }

struct Inventory {
  std::vector<gainz_plugin_info> plugins;
  std::vector<gainz_device_info> devices;
};

Inventory take_inventory(gainz_runtime* runtime) {
  Inventory inventory;
  for (uint32_t i = 0; i < gainz_plugin_count(runtime); ++i) {
    gainz_plugin_info info{};
    info.struct_size = sizeof info;
    if (gainz_plugin_get(runtime, i, &info) == GAINZ_OK) inventory.plugins.push_back(info);
  }
  for (uint32_t i = 0; i < gainz_device_count(runtime); ++i) {
    gainz_device_info info{};
    info.struct_size = sizeof info;
    if (gainz_device_get(runtime, i, &info) == GAINZ_OK) inventory.devices.push_back(info);
  }
  return inventory;
}

// The runtime's rule (gainz_model_config::backend): the plugin of that name; "auto": the first of onednn, then reference.
const gainz_device_info* pick(const Inventory& inventory, const std::string& backend) {
  for (const std::string_view name :
       backend == "auto" ? std::vector<std::string_view>{"onednn", "reference"} : std::vector<std::string_view>{backend}) {
    for (const gainz_device_info& device : inventory.devices) {
      if (text_of(device.backend) == name) return &device;
    }
  }
  return nullptr;
}

std::string as_json(const Inventory& inventory, const std::string& backend, const gainz_device_info* picked) {
  json::array plugins, devices;
  for (const gainz_plugin_info& plugin : inventory.plugins) {
    plugins.push_back(json::object{{"name", valid_utf8(text_of(plugin.name))},
                                   {"path", valid_utf8(text_of(plugin.path))},
                                   {"version", valid_utf8(text_of(plugin.version))},
                                   {"loaded", plugin.loaded != 0},
                                   {"reason", valid_utf8(text_of(plugin.reason))}});
  }
  for (const gainz_device_info& device : inventory.devices) {
    devices.push_back(json::object{{"index", device.index},
                                   {"backend", valid_utf8(text_of(device.backend))},
                                   {"name", valid_utf8(text_of(device.name))},
                                   {"kind", valid_utf8(text_of(device.kind))},
                                   {"isa", valid_utf8(text_of(device.isa))},
                                   {"memory_bytes", device.memory_bytes},
                                   {"free_bytes", device.free_bytes},
                                   {"selected", &device == picked}});
  }
  const json::object root{{"backend", valid_utf8(backend)},
                          {"selected", picked != nullptr ? json::value(valid_utf8(text_of(picked->name))) : json::value()},
                          {"plugins", plugins},
                          {"devices", devices}};
  return json_text(root, true) + '\n';
}

std::string as_text(const Inventory& inventory, const std::string& backend, const gainz_device_info* picked) {
  std::string out = inventory.plugins.empty() ? "no plugins found\n" : "plugins\n";
  for (const gainz_plugin_info& plugin : inventory.plugins) {
    const std::string state = plugin.loaded != 0               ? "loaded"
                              : text_of(plugin.reason).empty() ? "not loaded"
                                                               : "failed: " + printable(text_of(plugin.reason));
    out += fmt::format("  {} {}  {}  {}\n", printable(text_of(plugin.name)), printable(text_of(plugin.version)),
                       printable(text_of(plugin.path)), state);
  }
  out += inventory.devices.empty() ? "no devices\n" : "devices\n";
  for (const gainz_device_info& device : inventory.devices) {
    out +=
        fmt::format("{} {}  {}  {} · {} · {}", &device == picked ? "*" : " ", device.index, printable(text_of(device.backend)),
                    printable(text_of(device.name)), printable(text_of(device.kind)), printable(text_of(device.isa)));
    if (device.memory_bytes > 0)
      out += fmt::format(" · {}, {} free", format_bytes(device.memory_bytes), format_bytes(device.free_bytes));
    out += '\n';
  }
  out += picked != nullptr ? fmt::format("backend \"{}\" takes the device marked *\n", printable(backend))
                           : fmt::format("backend \"{}\" has no device\n", printable(backend));
  return out;
}

}  // namespace

Outcome devices_command(const Options& options) {
  const Result<Settings> settings = settings_of(options);
  if (!settings.ok()) return settings.failure();
  Result<std::unique_ptr<Session>> session = Session::open(*settings);
  if (!session.ok()) return session.failure();
  if (Outcome refreshed = (*session)->refresh_devices(); !refreshed.ok()) return refreshed.failure();
  const Inventory inventory = take_inventory((*session)->runtime());
  const std::string& backend = settings->text(key("backend"));
  const gainz_device_info* picked = pick(inventory, backend);
  write_output(options.json ? as_json(inventory, backend, picked) : as_text(inventory, backend, picked));
  return Done{};
}

}  // namespace gainz::host
