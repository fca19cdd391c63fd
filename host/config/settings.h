// The effective settings: every key's value and where it came from, and the models that the configuration file names.
// Value types; any thread may read.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "config/schema.h"

namespace gainz::host {

enum class Source : uint8_t { standard, file, environment, flag };  // a later one wins

struct Setting {
  Value value;
  Source source = Source::standard;
  std::string where;  // "default", "gainz.toml:12", "GAINZ_CONTEXT", "--context"
};

struct ModelEntry {  // one [[model]]
  std::string path;  // as resolved: absolute, relative to the working folder, or a name in the models folder
  std::string name;  // what -m may call it; "" if not given
  std::string where;
  std::map<size_t, Setting> overrides;  // by key index
};

class Settings {
 public:
  Settings();  // all defaults

  const std::string& text(size_t index) const { return std::get<std::string>(values_[index].value); }
  int64_t integer(size_t index) const { return std::get<int64_t>(values_[index].value); }
  double number(size_t index) const { return std::get<double>(values_[index].value); }
  bool boolean(size_t index) const { return std::get<bool>(values_[index].value); }
  const Setting& at(size_t index) const { return values_[index]; }
  void set(size_t index, Setting setting) { values_[index] = std::move(setting); }

  // The same with the entry's overrides, which rank with the file: environment and flags still win.
  Settings for_model(const ModelEntry& entry) const;

  std::vector<ModelEntry> models;
  std::string file;                   // the configuration file, "" if there is none
  std::vector<std::string> warnings;  // for standard error

 private:
  std::vector<Setting> values_;
};

struct FlagValue {
  size_t key;
  std::string text;
  std::string flag;  // as on the command line
};

// Flag before environment before file before default. Without config_path: gainz/gainz.toml in the user's configuration folder
// if it is there. Wrong flags fail with exit status 2, all else with 1. A file's failure has one line for each mistake (at most
// kMaxMistakes).
Result<Settings> resolve_settings(const Environment& environment, const std::optional<std::string>& config_path,
                                  const std::vector<FlagValue>& flags);

}  // namespace gainz::host
