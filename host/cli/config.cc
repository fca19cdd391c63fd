// gainz config: every effective setting, its value and where it came from.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_text.h"
#include "base/text.h"
#include "cli/commands.h"
#include "config/document.h"
#include "terminal/terminal.h"

namespace gainz::host {
namespace {

namespace json = boost::json;

constexpr const char* kSources[] = {"default", "file", "environment", "flag"};

json::value json_value(const Key& key, const Value& value) {
  if ((key.flags & kSecret) != 0) return json::value(shown_value(key, value));
  if (const auto* text = std::get_if<std::string>(&value)) return json::value(valid_utf8(*text));
  if (const auto* integer = std::get_if<int64_t>(&value)) return *integer;
  if (const auto* number = std::get_if<double>(&value)) return *number;
  return std::get<bool>(value);
}

json::object json_setting(size_t index, const Setting& setting) {
  return {{"value", json_value(kSchema[index], setting.value)},
          {"source", kSources[static_cast<size_t>(setting.source)]},
          {"where", valid_utf8(setting.where)}};
}

std::string as_json(const Settings& settings) {
  json::object all;
  for (size_t i = 0; i < kNumKeys; ++i) all[dotted_name(kSchema[i])] = json_setting(i, settings.at(i));
  json::array models;
  for (const ModelEntry& entry : settings.models) {
    const Settings own = settings.for_model(entry);
    json::object item{{"path", valid_utf8(entry.path)}, {"name", valid_utf8(entry.name)}, {"where", valid_utf8(entry.where)}};
    json::object overrides;
    for (const auto& [index, setting] : entry.overrides)
      overrides[dotted_name(kSchema[index])] = json_setting(index, own.at(index));
    item["settings"] = overrides;
    models.push_back(item);
  }
  json::object root{{"file", settings.file.empty() ? json::value() : json::value(valid_utf8(settings.file))},
                    {"settings", all},
                    {"models", models}};
  return json_text(root, true) + '\n';
}

std::string line(std::string_view name, const std::string& value, const std::string& where) {
  const std::string left = fmt::format("{} = {}", name, printable(value));
  return fmt::format("{:<44}  # {}\n", left, printable(where));
}

std::string as_text(const Settings& settings) {
  std::string out = fmt::format("# configuration file: {}\n", settings.file.empty() ? "none" : printable(settings.file));
  std::string_view section;
  for (size_t i = 0; i < kNumKeys; ++i) {
    if (kSchema[i].section != section) out += fmt::format("\n[{}]\n", section = kSchema[i].section);
    out += line(kSchema[i].name, shown_value(kSchema[i], settings.at(i).value), settings.at(i).where);
  }
  for (const ModelEntry& entry : settings.models) {
    const Settings own = settings.for_model(entry);
    out += "\n[[model]]\n" + line("path", toml_value(entry.path), entry.where);
    if (!entry.name.empty()) out += line("name", toml_value(entry.name), entry.where);
    for (const auto& [index, setting] : entry.overrides) {
      out += line(kSchema[index].name, shown_value(kSchema[index], own.at(index).value), own.at(index).where);
    }
  }
  return out;
}

}  // namespace

Result<Settings> settings_of(const Options& options) {
  Result<Settings> settings = resolve_settings(options.environment, options.config_path, options.flags);
  if (settings.ok()) {
    for (const std::string& warning : settings->warnings) say(warning);
  }
  return settings;
}

Outcome config_command(const Options& options) {
  if (options.example) {
    write_output(example_toml());
    return Done{};
  }
  const Result<Settings> settings = settings_of(options);
  if (!settings.ok()) return settings.failure();
  write_output(options.json ? as_json(*settings) : as_text(*settings));
  return Done{};
}

}  // namespace gainz::host
