#include "device/plugin_library.h"

#include "device/plugin_call.h"

#define BOOST_DLL_USE_STD_FS
#include <dlfcn.h>

#include <algorithm>
#include <boost/dll/library_info.hpp>
#include <boost/dll/shared_library.hpp>
#include <cstring>
#include <filesystem>

namespace gainz {
namespace {

constexpr size_t kMaxTextBytes = 1024;  // of any text in a plugin's table
constexpr uint64_t kMaxDeviceBytes = uint64_t{1}
                                     << 52;  // of memory that a device may say it has: beyond lies a negative number

std::string plugin_text(const char* text) { return one_line(text, kMaxTextBytes); }

std::string version_text(uint32_t major, uint32_t minor) { return std::to_string(major) + "." + std::to_string(minor); }

Status check_exports(const std::string& path) {
  try {
    const auto symbols = boost::dll::library_info(path).symbols();
    if (std::find(symbols.begin(), symbols.end(), GAINZ_PLUGIN_QUERY_SYMBOL) == symbols.end())
      return {Code::invalid, "plugin " + path + ": does not export " GAINZ_PLUGIN_QUERY_SYMBOL};
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    return {Code::invalid, "plugin " + path + ": not a shared library of this platform (" + e.what() + ")"};
  }
  return {};
}

Result<gainz_plugin_query_fn> find_query(const std::string& path) {
  try {
    // RTLD_NODELETE: the library outlives its handle.
    const auto mode = static_cast<boost::dll::load_mode::type>(RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    boost::dll::shared_library library(path, mode);
    return reinterpret_cast<gainz_plugin_query_fn>(
        library.get<gainz_status(const gainz_host*, gainz_plugin*, gainz_error*)>(GAINZ_PLUGIN_QUERY_SYMBOL));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    return Status(Code::invalid, "plugin " + path + ": the loader says: " + e.what());
  }
}

}  // namespace

bool valid_plugin_name(std::string_view name) {
  return !name.empty() && name.size() <= 31 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

const char* device_kind_name(uint32_t kind) {
  switch (kind) {
    case GAINZ_DEVICE_CPU:
      return "cpu";
    case GAINZ_DEVICE_GPU:
      return "gpu";
    case GAINZ_DEVICE_ACCELERATOR:
      return "accelerator";
    default:
      return "unknown";
  }
}

Result<std::shared_ptr<PluginLibrary>> PluginLibrary::load(const std::string& path, const PluginHost& host) {
  std::error_code error;
  const auto file = std::filesystem::status(path, error);
  if (!std::filesystem::exists(file))
    return Status(Code::not_found, "plugin " + path + ": " + (error ? error.message() : "no such file"));
  if (!std::filesystem::is_regular_file(file)) return Status(Code::invalid, "plugin " + path + ": not a regular file");
  const std::string absolute = std::filesystem::absolute(path, error).string();
  if (error) return Status(Code::invalid, "plugin " + path + ": " + error.message());
  GAINZ_TRY(check_exports(absolute));
  GAINZ_ASSIGN(const gainz_plugin_query_fn query, find_query(absolute));
  return from_query(query, absolute, host);
}

Result<std::shared_ptr<PluginLibrary>> PluginLibrary::from_query(gainz_plugin_query_fn query, const std::string& path,
                                                                 const PluginHost& host) {
  std::shared_ptr<PluginLibrary> library(new PluginLibrary);
  library->path_ = path;
  library->host_ = &host;
  gainz_plugin& table = library->table_;
  table.struct_size = sizeof(table);
  const std::string what = "plugin " + path;
  GAINZ_TRY(call_plugin([&](gainz_error* error) { return query(host.table(), &table, error); },
                        [&] { return what + ": refused to load"; }));
  if (table.abi_major != GAINZ_ABI_MAJOR || table.abi_minor != GAINZ_ABI_MINOR)
    return Status(Code::unsupported, what + ": made for plugin ABI " + version_text(table.abi_major, table.abi_minor) +
                                         ", this is " + version_text(GAINZ_ABI_MAJOR, GAINZ_ABI_MINOR));
  if (table.struct_size != sizeof(table))
    return Status(Code::unsupported, what + ": its gainz_plugin has " + std::to_string(table.struct_size) + " bytes, ABI " +
                                         version_text(GAINZ_ABI_MAJOR, GAINZ_ABI_MINOR) + " has " +
                                         std::to_string(sizeof(table)));
  library->name_ = plugin_text(table.name);
  library->version_ = plugin_text(table.version);
  if (!valid_plugin_name(library->name_))
    return Status(Code::invalid, what + ": its name \"" + library->name_ + "\" is not [a-z0-9_-]{1,31}");
  if (!table.device_list || !table.device_open) return Status(Code::invalid, what + ": device_list or device_open is missing");
  return library;
}

Result<DeviceInfo> check_device_desc(const gainz_device_desc& desc, const std::string& backend, uint32_t index) {
  if (desc.struct_size < sizeof(desc) || !desc.name || !desc.isa || !desc.identity)
    return Status(Code::invalid, "backend " + backend + ": device " + std::to_string(index) + " is described incompletely");
  const std::string what = "backend " + backend + ": device " + std::to_string(index);
  if (desc.kind < GAINZ_DEVICE_CPU || desc.kind > GAINZ_DEVICE_ACCELERATOR)
    return Status(Code::invalid, what + " is of the unknown kind " + std::to_string(desc.kind));
  if (desc.memory_bytes > kMaxDeviceBytes || desc.free_bytes > kMaxDeviceBytes ||
      (desc.memory_bytes != 0 && desc.free_bytes > desc.memory_bytes))
    return Status(Code::invalid, what + " says that it has " + std::to_string(desc.memory_bytes) + " bytes of memory and " +
                                     std::to_string(desc.free_bytes) + " of them free");
  DeviceInfo info{
      backend,       plugin_text(desc.name), plugin_text(desc.isa), plugin_text(desc.identity), index, desc.kind, desc.flags,
      desc.kv_types, desc.memory_bytes,      desc.free_bytes};
  return info;
}

Result<std::vector<DeviceInfo>> PluginLibrary::list_devices() const {
  std::vector<gainz_device_desc> descs(GAINZ_MAX_DEVICES);
  for (auto& desc : descs) desc.struct_size = sizeof(desc);
  uint32_t count = 0;
  GAINZ_TRY(call_plugin(
      [&](gainz_error* error) {
        return table_.device_list(host_->table(), descs.data(), sizeof(gainz_device_desc), GAINZ_MAX_DEVICES, &count, error);
      },
      [&] { return "backend " + name_ + ": listing devices"; }));
  if (count > GAINZ_MAX_DEVICES)
    return Status(Code::limit_exceeded, "backend " + name_ + ": lists " + std::to_string(count) + " devices, at most " +
                                            std::to_string(GAINZ_MAX_DEVICES) + " are allowed");
  std::vector<DeviceInfo> devices;
  for (uint32_t i = 0; i < count; ++i) {
    GAINZ_ASSIGN(DeviceInfo info, check_device_desc(descs[i], name_, i));
    devices.push_back(std::move(info));
  }
  return devices;
}

}  // namespace gainz
