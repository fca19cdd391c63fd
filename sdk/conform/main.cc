// gainz-conform PLUGIN.so: judges a plugin, each test in a process of its own. docs/conform.md says what is asked.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "conform/report.h"

using namespace gainz::conform;

namespace {

constexpr const char* kUsage =
    "usage: gainz-conform PLUGIN.so [--list] [--only PATTERN] [--seed N] [--device N] [--option KEY=VALUE] [--toys FOLDER]\n"
    "                     [--expect FILE] [--json FILE] [--junit FILE] [--report FILE]\n"
    "  --list            the tests, a line each\n"
    "  --only PATTERN    those whose names match; * stands for anything; may be given again\n"
    "  --seed N          of the random graphs and numbers [1]\n"
    "  --device N        of the plugin's list [0]\n"
    "  --option K=V      an option of device_open; may be given again\n"
    "  --seconds N       for each test [its own limit]\n"
    "  --toys FOLDER     of the toy models [share/gainz/conform beside this program's folder]\n"
    "  --expect FILE     tests that do not pass, with reasons [PLUGIN.conform.toml beside the plugin, if it is there]\n"
    "  --json, --junit   the results as a file; --report: the table, which the plugin's manifest can name\n"
    "exit status: 0 all is well, 1 something failed, 2 wrong usage\n";

struct Arguments {
  Subject subject;
  bool list = false, has_expect = false;
  std::vector<std::string> only;
  std::string expect, json, junit, report;
};

[[noreturn]] void wrong_usage(const std::string& sentence) {
  std::fprintf(stderr, "gainz-conform: %s\n%s", sentence.c_str(), kUsage);
  std::exit(2);
}

uint64_t number_of(const std::string& flag, const std::string& text) {
  char* end = nullptr;
  const unsigned long long value = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || *end != 0 || text[0] == '-') wrong_usage(flag + " must be a number, not \"" + text + "\"");
  return value;
}

Arguments read_arguments(int argc, char** argv) {
  Arguments out;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 >= argc) wrong_usage(flag + " needs a value");
      return argv[++i];
    };
    if (flag == "--help") {
      std::fputs(kUsage, stdout);
      std::exit(0);
    } else if (flag == "--list") {
      out.list = true;
    } else if (flag == "--only") {
      out.only.push_back(value());
    } else if (flag == "--seed") {
      out.subject.seed = number_of(flag, value());
    } else if (flag == "--device") {
      out.subject.device = static_cast<uint32_t>(number_of(flag, value()));
    } else if (flag == "--option") {
      const std::string text = value();
      const size_t equals = text.find('=');
      if (equals == std::string::npos || equals == 0) wrong_usage("--option must be KEY=VALUE, not \"" + text + "\"");
      out.subject.options.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    } else if (flag == "--seconds") {
      out.subject.seconds = static_cast<uint32_t>(number_of(flag, value()));
    } else if (flag == "--toys") {
      out.subject.toys = value();
    } else if (flag == "--expect") {
      out.expect = value();
      out.has_expect = true;
    } else if (flag == "--json" || flag == "--junit" || flag == "--report") {
      (flag == "--json" ? out.json : flag == "--junit" ? out.junit : out.report) = value();
    } else if (flag.starts_with("-") || !out.subject.path.empty()) {
      wrong_usage("\"" + flag + "\" is not understood");
    } else {
      out.subject.path = flag;
    }
  }
  if (out.subject.path.empty() && !out.list) wrong_usage("no plugin is named");
  if (out.subject.path.find('/') == std::string::npos) out.subject.path = "./" + out.subject.path;
  return out;
}

// share/gainz/conform beside the folder of this program.
std::string default_toys() {
  char path[4096];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  if (n <= 0) return "";
  std::string folder(path, static_cast<size_t>(n));
  for (int up = 0; up < 2; ++up) folder.resize(std::min(folder.rfind('/'), folder.size()));
  return folder + "/share/gainz/conform";
}

bool is_chosen(const Arguments& arguments, const std::string& name) {
  for (const std::string& pattern : arguments.only)
    if (matches(pattern, name)) return true;
  return arguments.only.empty();
}

// Name, version, device and identity, asked in a process of its own.
void introduce(Report& report) {
  Test test;
  test.name = "introduction";
  test.run = [](Trial& trial) {
    const Plugin plugin(trial.host, trial.subject.path);
    trial.note("%s", plugin.table().name);
    trial.note("%s", plugin.table().version);
    const Device device(plugin, trial.subject.options, trial.subject.device);
    gainz_device_desc desc{};
    desc.struct_size = sizeof desc;
    if (device->describe(device.get(), &desc, nullptr) != GAINZ_STATUS_OK) return;
    trial.note("%s (%s)", desc.name ? desc.name : "", desc.isa ? desc.isa : "");
    trial.note("%s", desc.identity ? desc.identity : "");
  };
  const Result result = run_apart(test, report.subject);
  std::string* const fields[] = {&report.plugin_name, &report.plugin_version, &report.device_name, &report.identity};
  for (size_t i = 0; i < result.notes.size() && i < std::size(fields); ++i) *fields[i] = result.notes[i];
}

bool write_file(const std::string& path, const std::string& text) {
  if (path.empty()) return true;
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.flush();
  if (file) return true;
  std::fprintf(stderr, "gainz-conform: %s: cannot be written\n", path.c_str());
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments = read_arguments(argc, argv);
  if (arguments.subject.toys.empty()) arguments.subject.toys = default_toys();
  if (arguments.list) {
    for (const Test& test : all_tests())
      if (is_chosen(arguments, test.name)) std::printf("%-34s %s\n", test.name.c_str(), test.about.c_str());
    return 0;
  }
  if (access(arguments.subject.path.c_str(), R_OK) != 0) {
    std::fprintf(stderr, "gainz-conform: %s: %s\n", arguments.subject.path.c_str(), std::strerror(errno));
    return 2;
  }
  std::vector<Expectation> expectations;
  try {
    std::string path = arguments.expect;
    if (!arguments.has_expect) {
      path = arguments.subject.path.substr(0, arguments.subject.path.rfind(".so")) + ".conform.toml";
      if (access(path.c_str(), R_OK) != 0) path.clear();
    }
    if (!path.empty()) expectations = read_expectations(path);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "gainz-conform: %s\n", e.what());
    return 2;
  }
  Report report;
  report.subject = arguments.subject;
  introduce(report);
  std::string table = "gainz-conform, plugin ABI " + std::to_string(GAINZ_ABI_MAJOR) + "." + std::to_string(GAINZ_ABI_MINOR) +
                      ", seed " + std::to_string(arguments.subject.seed) + "\n" + report.plugin_name + " " +
                      report.plugin_version + " on " + report.device_name + "\n\n";
  std::fputs(table.c_str(), stdout);
  for (const Test& test : all_tests()) {
    if (!is_chosen(arguments, test.name)) continue;
    report.lines.push_back(stand(run_apart(test, arguments.subject), expectations));
    const std::string line = table_line(report.lines.back());
    table += line;
    std::fputs(line.c_str(), stdout);
    std::fflush(stdout);
  }
  if (report.lines.empty()) wrong_usage("no test matches");
  const std::string end = "\n" + summary(report);
  std::fputs(end.c_str(), stdout);
  bool written = write_file(arguments.json, json(report));
  written = write_file(arguments.junit, junit(report)) && written;
  written = write_file(arguments.report, table + end) && written;
  return report.is_good() && written ? 0 : 1;
}
