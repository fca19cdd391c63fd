// gainz inspect: what a model file holds, without loading it.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json_text.h"
#include "base/text.h"
#include "cli/commands.h"
#include "models/model_folder.h"
#include "session/session.h"
#include "terminal/terminal.h"

namespace gainz::host {
namespace {

namespace json = boost::json;

constexpr size_t kMaxShown = 100;  // characters of one value

std::string short_text(const json::value& value) {
  std::string text = value.is_string() ? printable(std::string_view(value.get_string())) : printable(json_text(value));
  if (text.size() <= kMaxShown) return text;
  size_t keep = kMaxShown;
  while (keep > 0 && (static_cast<unsigned char>(text[keep]) & 0xC0) == 0x80) --keep;  // whole characters
  return text.substr(0, keep) + "...";
}

const json::value& member(const json::object& object, std::string_view name) {
  static const json::value kNone;
  const json::value* value = object.if_contains(name);
  return value != nullptr ? *value : kNone;
}

std::string as_text(const json::object& file) {
  std::string out;
  for (const char* name : {"architecture", "num_tensors", "bytes"})
    out += fmt::format("{:<14} {}\n", name, short_text(member(file, name)));
  if (const auto* metadata = member(file, "metadata").if_object()) {
    out += fmt::format("\nmetadata, {} keys\n", metadata->size());
    for (const auto& [name, value] : *metadata)
      out += fmt::format("  {} = {}\n", printable(std::string_view(name)), short_text(value));
  }
  if (const auto* tensors = member(file, "tensors").if_array()) {
    out += fmt::format("\n{} tensors\n", tensors->size());
    for (const json::value& item : *tensors) {
      const json::object* tensor = item.if_object();
      if (tensor == nullptr) continue;
      out += fmt::format("  {:<36} {:<6} {:<20} {}\n", short_text(member(*tensor, "name")), short_text(member(*tensor, "type")),
                         short_text(member(*tensor, "dims")), short_text(member(*tensor, "bytes")));
    }
  }
  return out;
}

}  // namespace

Outcome inspect_command(const Options& options) {
  const Result<Settings> settings = settings_of(options);
  if (!settings.ok()) return settings.failure();
  const Result<ChosenModel> chosen = choose_model(*settings, options.environment, options.model);
  if (!chosen.ok()) return chosen.failure();
  Result<std::unique_ptr<Session>> session = Session::open(*settings);
  if (!session.ok()) return session.failure();
  const Result<std::string> text = (*session)->inspect(chosen->path);
  if (!text.ok()) return text.failure();
  if (options.json) {
    write_output(*text + (text->ends_with('\n') ? "" : "\n"));
    return Done{};
  }
  json::error_code error;
  const json::value value = json::parse(*text, error);
  if (error || !value.is_object()) return Failure{"the runtime's description of the file is not JSON"};
  write_output(as_text(value.get_object()));
  return Done{};
}

}  // namespace gainz::host
