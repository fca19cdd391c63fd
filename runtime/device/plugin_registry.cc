#include "device/plugin_registry.h"

#include <dirent.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

namespace gainz {
namespace {

constexpr std::string_view kSuffix = ".plugin.toml";
constexpr size_t kMaxManifestBytes = 16 * 1024;
constexpr size_t kMaxPlugins = 64;

std::string_view trim(std::string_view s) {
  const auto first = s.find_first_not_of(" \t\r");
  return first == s.npos ? std::string_view() : s.substr(first, s.find_last_not_of(" \t\r") - first + 1);
}

// The `key = "value"` subset of TOML that a manifest needs; no escapes.
Result<std::map<std::string, std::string>> parse_manifest(std::istream& in) {
  std::map<std::string, std::string> values;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    const std::string_view text = trim(line);
    if (text.empty() || text[0] == '#') continue;
    const auto equals = text.find('=');
    const std::string_view key = trim(text.substr(0, equals));
    const std::string_view value = equals == text.npos ? std::string_view() : trim(text.substr(equals + 1));
    const std::string where = "line " + std::to_string(number) + ": ";
    if (line.find('\0') != line.npos) return Status(Code::invalid, where + "a zero byte");
    if (value.size() < 2 || value.front() != '"' || value.find('"', 1) != value.size() - 1)
      return Status(Code::invalid, where + "expected key = \"value\"");
    static constexpr std::string_view kKeys[] = {"name", "library", "abi", "version", "description", "report"};
    if (std::find(std::begin(kKeys), std::end(kKeys), key) == std::end(kKeys))
      return Status(Code::invalid, where + "unknown key " + one_line(key, 64));
    if (!values.emplace(key, value.substr(1, value.size() - 2)).second)
      return Status(Code::invalid, where + "key " + std::string(key) + " twice");
  }
  for (const char* key : {"name", "library", "abi"})
    if (values[key].empty()) return Status(Code::invalid, std::string("key ") + key + " is missing");
  if (!valid_plugin_name(values["name"]))
    return Status(Code::invalid, "name \"" + one_line(values["name"], 64) + "\" is not [a-z0-9_-]{1,31}");
  if (values["library"].find('/') != std::string::npos)
    return Status(Code::invalid, "library must be a file beside the manifest");
  return values;
}

// By the system's calls: std::filesystem::directory_iterator ends the program where memory runs out (its constructor is
// noexcept).
std::vector<std::string> list_manifests(const std::string& folder) {
  std::vector<std::string> paths;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(opendir(folder.c_str()), closedir);
  if (!stream) return paths;
  while (const dirent* entry = readdir(stream.get()))
    if (std::string_view(entry->d_name).ends_with(kSuffix)) paths.push_back(folder + "/" + entry->d_name);
  return paths;
}

}  // namespace

void PluginRegistry::read_folders(const std::string& plugin_path) {
  for (size_t begin = 0; begin <= plugin_path.size();) {
    const size_t end = std::min(plugin_path.find(':', begin), plugin_path.size());
    const std::string folder = plugin_path.substr(begin, end - begin);
    begin = end + 1;
    const std::string plain = std::filesystem::path(folder).lexically_normal().string();
    if (plain.empty() || plain == "." || plain == "./") continue;  // never the current folder
    std::vector<std::string> manifests = list_manifests(folder);
    std::sort(manifests.begin(), manifests.end());
    for (const auto& manifest : manifests) read_manifest(manifest);
  }
}

void PluginRegistry::read_manifest(const std::string& path) {
  PluginEntry entry;
  entry.path = path;
  std::error_code error;
  const auto size = std::filesystem::is_regular_file(path, error) ? std::filesystem::file_size(path, error) : 0;
  std::ifstream in;
  if (!error && size > 0 && size <= kMaxManifestBytes) in.open(path);  // a pipe would block
  if (!in.is_open()) {
    entry.reason = "manifest " + path + ": not a readable file of 1 to " + std::to_string(kMaxManifestBytes) + " bytes";
    return add(std::move(entry));
  }
  const auto values = parse_manifest(in);
  if (!values.ok()) {
    entry.reason = "manifest " + path + ": " + values.status().message();
    return add(std::move(entry));
  }
  auto get = [&](const char* key) {
    const auto it = values->find(key);
    return it == values->end() ? std::string() : it->second;
  };
  entry.name = get("name");
  entry.version = get("version");
  entry.path = (std::filesystem::absolute(path, error).parent_path() / get("library")).string();
  const std::string abi = std::to_string(GAINZ_ABI_MAJOR) + "." + std::to_string(GAINZ_ABI_MINOR);
  if (get("abi") != abi) entry.reason = "plugin " + entry.path + ": made for plugin ABI " + get("abi") + ", this is " + abi;
  add(std::move(entry));
}

void PluginRegistry::add(PluginEntry entry) {
  if (entries_.size() >= kMaxPlugins) {
    host_.services().log(LogLevel::warning,
                         "plugin " + entry.path + ": skipped, " + std::to_string(kMaxPlugins) + " plugins are the most");
    return;
  }
  for (const auto& other : entries_)
    if (entry.reason.empty() && other.reason.empty() && other.name == entry.name)
      entry.reason = "plugin " + entry.path + ": the name " + entry.name + " is taken by " + other.path;
  if (!entry.reason.empty()) host_.services().log(LogLevel::warning, entry.reason);
  entries_.push_back(std::move(entry));
}

Status PluginRegistry::load(PluginEntry& entry) {
  if (entry.library || !entry.reason.empty()) return {};
  auto library = PluginLibrary::load(entry.path, host_);
  if (library.status().code() == Code::out_of_host_memory) return library.status();  // the next time may go better
  if (!library.ok()) {
    entry.reason = library.status().message();
  } else if ((*library)->name() != entry.name) {
    entry.reason = "plugin " + entry.path + ": calls itself " + (*library)->name() + ", its manifest says " + entry.name;
  } else {
    entry.library = *library;
    entry.version = (*library)->version();
  }
  if (!entry.reason.empty()) host_.services().log(LogLevel::warning, entry.reason);
  return {};
}

Status PluginRegistry::load_path(const std::string& path) {
  GAINZ_ASSIGN(auto library, PluginLibrary::load(path, host_));
  for (auto& other : entries_) {
    if (other.reason.empty() && other.name == library->name()) {
      if (other.path == library->path()) {  // its manifest was read before, or it was loaded already
        other.library = std::move(library);
        other.version = other.library->version();
        return {};
      }
      return {Code::invalid, "plugin " + path + ": the name " + other.name + " is taken by " + other.path};
    }
  }
  if (entries_.size() >= kMaxPlugins)
    return {Code::limit_exceeded, "plugin " + path + ": " + std::to_string(kMaxPlugins) + " plugins are the most"};
  entries_.push_back({library->name(), library->path(), library->version(), "", "", library});
  return {};
}

std::vector<DeviceInfo> PluginRegistry::list_devices() {
  std::vector<DeviceInfo> all;
  for (auto& entry : entries_) {
    if (!entry.library) continue;
    auto devices = entry.library->list_devices();
    entry.devices_reason = devices.status().message();
    if (devices.ok())
      all.insert(all.end(), devices->begin(), devices->end());
    else
      host_.services().log(LogLevel::warning, entry.devices_reason);
  }
  return all;
}

Status PluginRegistry::load_all() {
  for (auto& entry : entries_) GAINZ_TRY(load(entry));
  return {};
}

Result<std::shared_ptr<PluginLibrary>> PluginRegistry::find(const std::string& backend) {
  std::string known, reason;
  for (auto& entry : entries_) {
    if (entry.name == backend) {
      GAINZ_TRY(load(entry));
      if (entry.library) return entry.library;
      if (reason.empty()) reason = entry.reason;
    }
    if (!entry.name.empty()) known += (known.empty() ? "" : ", ") + entry.name;
  }
  if (!reason.empty()) return Status(Code::unsupported, "backend \"" + backend + "\" cannot be used: " + reason);
  return Status(Code::not_found, "backend \"" + backend + "\": no such plugin; there are: " + (known.empty() ? "none" : known));
}

}  // namespace gainz
