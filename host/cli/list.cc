// gainz list: what is in the models folder.
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

struct Described {
  const ModelFile* file;
  std::string architecture;  // "" if the file cannot be read
  std::string reason;        // why not
};

Described describe(Session& session, const ModelFile& file) {
  const Result<std::string> text = session.inspect(file.path);
  if (!text.ok()) return {&file, "", text.failure().sentence};
  json::error_code error;
  const json::value value = json::parse(*text, error);
  const json::value* name = error || !value.is_object() ? nullptr : value.get_object().if_contains("architecture");
  if (name == nullptr || !name->is_string()) return {&file, "", "its description names no architecture"};
  return {&file, std::string(name->get_string()), ""};
}

}  // namespace

Outcome list_command(const Options& options) {
  const Result<Settings> settings = settings_of(options);
  if (!settings.ok()) return settings.failure();
  const Result<std::string> folder = models_folder(*settings, options.environment);
  if (!folder.ok()) return folder.failure();
  const Result<std::vector<ModelFile>> files = list_models(*folder);
  if (!files.ok()) return files.failure();
  Result<std::unique_ptr<Session>> session = Session::open(*settings);
  if (!session.ok()) return session.failure();
  json::array items;
  std::string table;
  for (const ModelFile& file : *files) {
    const Described described = describe(**session, file);
    const bool good = described.reason.empty();
    items.push_back(json::object{{"name", valid_utf8(file.name)},
                                 {"path", valid_utf8(file.path)},
                                 {"bytes", file.num_bytes},
                                 {"architecture", good ? json::value(described.architecture) : json::value()},
                                 {"error", good ? json::value() : json::value(valid_utf8(described.reason))}});
    table += fmt::format("{:<40} {:>9}  {}\n", printable(file.name), format_bytes(file.num_bytes),
                         good ? printable(described.architecture) : described.reason);
  }
  if (options.json) {
    write_output(json_text(json::object{{"folder", valid_utf8(*folder)}, {"models", items}}, true) + '\n');
  } else {
    write_output(table);
    say(fmt::format("{} models in {}", files->size(), printable(*folder)));
  }
  return Done{};
}

}  // namespace gainz::host
