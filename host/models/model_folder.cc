#include "models/model_folder.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "models/known_models.h"

namespace gainz::host {
namespace {

bool exists(const std::string& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

bool same_file(const std::string& a, const std::string& b) {
  struct stat info_a {
  }, info_b{};
  return stat(a.c_str(), &info_a) == 0 && stat(b.c_str(), &info_b) == 0 && info_a.st_dev == info_b.st_dev &&
         info_a.st_ino == info_b.st_ino;
}

// A path that is there, seen from `from`, or a name in the models folder; "" if neither.
std::string locate(std::string_view from, const std::string& models, std::string_view wanted) {
  if (std::string path = path_under(from, wanted); exists(path)) return path;
  if (models.empty() || wanted.find('/') != std::string_view::npos) return "";
  for (const char* ending : {"", ".gguf"}) {
    if (std::string path = path_under(models, std::string(wanted) + ending); exists(path)) return path;
  }
  const KnownModel* known = find_known_model(wanted);
  if (known == nullptr) return "";
  std::string path = path_under(models, known->file);
  return exists(path) ? path : "";
}

Failure not_found(const std::string& models, std::string_view wanted, std::string_view where) {
  const KnownModel* known = find_known_model(wanted);
  const std::string help = known != nullptr ? fmt::format("`gainz pull {}` fetches it", known->name)
                                            : fmt::format("`gainz pull NAME` fetches one of {}", known_model_names());
  return Failure{fmt::format("{}{}: no such file, nor a name in the models folder {}; {}", where, printable(wanted),
                             printable(models), help)};
}

}  // namespace

Result<std::string> models_folder(const Settings& settings, const Environment& environment) {
  if (!settings.text(key("models")).empty()) return settings.text(key("models"));
  const std::string cache = user_cache_folder(environment);
  if (cache.empty())
    return Failure{"the models folder is not known: set GAINZ_MODELS, or XDG_CACHE_HOME or HOME to an absolute path"};
  return path_under(cache, "gainz/models");
}

Result<std::vector<ModelFile>> list_models(const std::string& folder) {
  std::vector<ModelFile> files;
  DIR* handle = opendir(folder.c_str());
  if (handle == nullptr) {
    if (errno == ENOENT) return files;
    return Failure{fmt::format("models folder {}: {}", printable(folder), std::strerror(errno))};
  }
  while (const dirent* entry = readdir(handle)) {
    const std::string_view name = entry->d_name;
    struct stat info {};
    std::string path = path_under(folder, name);
    if (!name.ends_with(".gguf") || stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    files.push_back({std::string(name), std::move(path), static_cast<uint64_t>(info.st_size)});
  }
  closedir(handle);
  std::sort(files.begin(), files.end(), [](const ModelFile& a, const ModelFile& b) { return a.name < b.name; });
  return files;
}

Result<ChosenModel> choose_model(const Settings& settings, const Environment& environment,
                                 const std::optional<std::string>& wanted) {
  const Result<std::string> folder = models_folder(settings, environment);
  const std::string models = folder.ok() ? *folder : "";
  const std::string config_folder = folder_of(settings.file);
  const auto with_draft = [&](std::string path, Settings chosen) -> Result<ChosenModel> {
    Setting draft = chosen.at(key("draft_model"));
    const std::string draft_name = std::get<std::string>(draft.value);
    if (draft_name.empty()) return ChosenModel{std::move(path), std::move(chosen)};
    std::string draft_path = locate(draft.source == Source::file ? config_folder : "", models, draft_name);
    if (draft_path.empty()) return not_found(models, draft_name, "draft model ");
    draft.value = std::move(draft_path);
    chosen.set(key("draft_model"), std::move(draft));
    return ChosenModel{std::move(path), std::move(chosen)};
  };
  const auto choose = [&](const ModelEntry& entry) -> Result<ChosenModel> {
    std::string path = locate(config_folder, models, entry.path);
    if (path.empty()) return not_found(models, entry.path, printable(entry.where) + ": ");
    return with_draft(std::move(path), settings.for_model(entry));
  };
  if (!wanted) {
    if (!settings.models.empty()) return choose(settings.models.front());
    return Failure{
        fmt::format("no model is given: use -m with a path or a name, or a [[model]] in the configuration; `gainz pull NAME` "
                    "fetches one of {}",
                    known_model_names()),
        kExitUsage};
  }
  if (wanted->empty()) return Failure{"-m needs a path or a name, not an empty text", kExitUsage};
  for (const ModelEntry& entry : settings.models) {
    if (!entry.name.empty() && entry.name == *wanted) return choose(entry);
  }
  std::string path = locate("", models, *wanted);
  if (path.empty()) return not_found(models, *wanted, "model ");
  for (const ModelEntry& entry : settings.models) {
    if (same_file(path, locate(config_folder, models, entry.path)))
      return with_draft(std::move(path), settings.for_model(entry));
  }
  return with_draft(std::move(path), settings);
}

}  // namespace gainz::host
