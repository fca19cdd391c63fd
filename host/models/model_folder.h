// The folder of models that are given by name, and the choice of the model for a command. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.h"

namespace gainz::host {

// The key `models`, else gainz/models in the user's cache folder; a failure if neither is known.
Result<std::string> models_folder(const Settings& settings, const Environment& environment);

struct ModelFile {
  std::string name;  // in the folder
  std::string path;
  uint64_t num_bytes;
};
// Files that end in .gguf, by name. A folder that is not there holds none.
Result<std::vector<ModelFile>> list_models(const std::string& folder);

struct ChosenModel {
  std::string path;
  Settings settings;  // with the model's own overrides
};
// `-m`: the name of a [[model]], else a path, else the name of a file in the models folder (".gguf" may be left out), else a
// known model's name. Without it: the first [[model]]. Whether the file is good is for the runtime to say.
Result<ChosenModel> choose_model(const Settings& settings, const Environment& environment,
                                 const std::optional<std::string>& wanted);

}  // namespace gainz::host
