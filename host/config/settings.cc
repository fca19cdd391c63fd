#include "config/settings.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "config/config_file.h"

namespace gainz::host {
namespace {

// Nothing silent: a GAINZ_ name that no key has is told, but it may belong to a script, so it is no error.
void warn_of_unknown(const Environment& environment, Settings& settings) {
  std::vector<std::string> names;
  for (const Key& key : kSchema) names.push_back(environment_name(key));
  const std::vector<std::string_view> known(names.begin(), names.end());
  for (auto it = environment.lower_bound("GAINZ_"); it != environment.end() && it->first.starts_with("GAINZ_"); ++it) {
    if (std::find(known.begin(), known.end(), it->first) != known.end()) continue;
    const std::string_view near = nearest(it->first, known);
    settings.warnings.push_back(fmt::format("warning: the environment's {} is no setting{}", printable(it->first),
                                            near.empty() ? "" : fmt::format("; did you mean {}?", near)));
  }
}

Outcome apply_environment(const Environment& environment, Settings& settings) {
  for (size_t i = 0; i < kNumKeys; ++i) {
    const std::string name = environment_name(kSchema[i]);
    const auto it = environment.find(name);
    if (it == environment.end()) continue;
    if (it->second.empty()) {
      return Failure{fmt::format("{} is set but empty; give it a value ({}) or unset it", name, what_it_must_be(kSchema[i]))};
    }
    Result<Value> value = parse_value(kSchema[i], it->second);
    if (!value.ok()) return Failure{fmt::format("environment variable {}: {}", name, value.failure().sentence)};
    settings.set(i, {*std::move(value), Source::environment, name});
  }
  warn_of_unknown(environment, settings);
  return Done{};
}

}  // namespace

Settings::Settings() {
  for (const Key& key : kSchema) values_.push_back({default_value(key), Source::standard, "default"});
}

Settings Settings::for_model(const ModelEntry& entry) const {
  Settings copy = *this;
  for (const auto& [index, setting] : entry.overrides) {
    if (copy.values_[index].source <= Source::file) copy.values_[index] = setting;
  }
  return copy;
}

Result<Settings> resolve_settings(const Environment& environment, const std::optional<std::string>& config_path,
                                  const std::vector<FlagValue>& flags) {
  Settings settings;
  std::string path = config_path.value_or("");
  if (!config_path) {
    const std::string folder = user_config_folder(environment);
    const std::string usual = folder.empty() ? "" : path_under(folder, "gainz/gainz.toml");
    struct stat info {};
    // Only "not there" means that there is none; a file that cannot be looked at is told below.
    if (!usual.empty() && (stat(usual.c_str(), &info) == 0 || (errno != ENOENT && errno != ENOTDIR))) path = usual;
  }
  if (config_path || !path.empty()) {
    if (Outcome read = read_config_file(path, settings); !read.ok()) return read.failure();
  }
  if (Outcome applied = apply_environment(environment, settings); !applied.ok()) return applied.failure();
  for (const FlagValue& flag : flags) {
    Result<Value> value = parse_value(kSchema[flag.key], flag.text);
    if (!value.ok()) return Failure{fmt::format("{}: {}", flag.flag, value.failure().sentence), kExitUsage};
    settings.set(flag.key, {*std::move(value), Source::flag, flag.flag});
  }
  return settings;
}

}  // namespace gainz::host
