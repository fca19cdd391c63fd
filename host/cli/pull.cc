// gainz pull: fetches a known model, or lists what is known.
#include "models/pull.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/commands.h"
#include "models/model_folder.h"
#include "terminal/interrupt.h"
#include "terminal/progress_bar.h"
#include "terminal/terminal.h"

namespace gainz::host {
namespace {

std::string known_list(const std::string& folder) {
  const Result<std::vector<ModelFile>> there = list_models(folder);
  std::string out;
  for (const KnownModel& model : known_models()) {
    bool present = false;
    if (there.ok()) {
      for (const ModelFile& file : *there) present |= file.name == model.file;
    }
    out += fmt::format("{:<14} {:>9}  {}{}\n               {}\n", model.name, format_bytes(model.num_bytes), model.about,
                       present ? " (there)" : "", model.licence);
  }
  return out;
}

}  // namespace

Outcome pull_command(const Options& options) {
  const Result<Settings> settings = settings_of(options);
  if (!settings.ok()) return settings.failure();
  const Result<std::string> folder = models_folder(*settings, options.environment);
  if (!folder.ok()) return folder.failure();
  if (!options.model) {
    write_output(known_list(*folder));
    say("gainz pull NAME fetches one into " + printable(*folder));
    return Done{};
  }
  const KnownModel* model = find_known_model(*options.model);
  if (model == nullptr) {
    return Failure{
        fmt::format("no known model is called \"{}\"; known are {}", printable(*options.model), known_model_names())};
  }
  say(fmt::format("{}: {}, {}; licence: {}", model->name, model->about, format_bytes(model->num_bytes), model->licence));
  ProgressBar bar;
  const Result<Pulled> pulled = pull_model(*model, *folder, [&bar](const std::string& what, double fraction) {
    bar.show(what, fraction);
    return num_interrupts() == 0;
  });
  bar.clear();
  if (!pulled.ok()) return pulled.failure();
  say(pulled->fetched ? "fetched and its SHA-256 checked" : "it is there already and its SHA-256 is right");
  write_output(pulled->path + '\n');
  return Done{};
}

}  // namespace gainz::host
