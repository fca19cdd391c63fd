// Fuzzes the reader of configuration files and uses what it gave: every value fits its key, each model's settings can be made.
// A refusal names the file and a line in each of its lines.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "config/config_file.h"

namespace {

using gainz::host::Settings;

void check(bool holds) {
  if (!holds) std::abort();
}

void check_refusal(std::string_view sentences) {
  check(!sentences.empty());
  size_t num_lines = 0;
  for (size_t begin = 0; begin <= sentences.size(); ++num_lines) {
    const size_t end = std::min(sentences.find('\n', begin), sentences.size());
    const std::string_view line = sentences.substr(begin, end - begin);
    check(line.starts_with("/etc/gainz.toml:"));
    for (const char c : line) check(static_cast<unsigned char>(c) >= 0x20);
    begin = end + 1;
  }
  check(num_lines <= gainz::host::kMaxMistakes + 1);
}

void check_settings(const Settings& settings) {
  for (size_t i = 0; i < gainz::host::kNumKeys; ++i) {
    check(gainz::host::check_value(gainz::host::kSchema[i], settings.at(i).value).ok());
    check(!settings.at(i).where.empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Settings settings;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const gainz::host::Outcome read = gainz::host::parse_config(text, "/etc/gainz.toml", settings);
  if (!read.ok()) {
    check_refusal(read.failure().sentence);
    return 0;
  }
  check_settings(settings);
  check(settings.models.size() <= gainz::host::kMaxModels);
  for (const gainz::host::ModelEntry& entry : settings.models) {
    check(!entry.path.empty());
    check_settings(settings.for_model(entry));
  }
  return 0;
}
