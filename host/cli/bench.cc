// gainz bench: speed of prefill and decode beside what the machine can do at most.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/text.h"
#include "bench/plot.h"
#include "bench/report.h"
#include "bench/speculation.h"
#include "cli/commands.h"
#include "config/speculation.h"
#include "models/model_folder.h"
#include "terminal/progress_bar.h"
#include "terminal/terminal.h"

namespace gainz::host {
namespace {

constexpr size_t kMaxBaselineBytes = 16 << 20;
constexpr uint64_t kAllContexts = uint64_t{1} << 50;  // a budget beyond need: pages for every context, no more
constexpr double kF32BytesPerWeight = 1.5;            // above: weights are 16 or 32 bit floats, and so are the products

Outcome check_usage(const BenchOptions& bench) {
  if (bench.prompt_tokens == 0 && bench.decode_tokens == 0)
    return Failure{"-p 0 and -n 0 leave nothing to measure", kExitUsage};
  return Done{};
}

Outcome write_file(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  const bool is_written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool is_closed = file != nullptr && std::fclose(file) == 0;
  if (!is_written || !is_closed) return Failure{fmt::format("plot {}: {}", printable(path), std::strerror(errno))};
  return Done{};
}

// Asked for on the command line; the settings of a file are for work, not for measurements of it.
bool wants_speculation(const ChosenModel& chosen) {
  return chosen.settings.at(key("speculation")).source == Source::flag && chosen.settings.text(key("speculation")) != "off";
}

// Loads with room for the largest case: as many full contexts as streams.
Outcome load_for(Session& session, const ChosenModel& chosen, const BenchOptions& bench) {
  return session.load(chosen.path, chosen.settings, [&](gainz_model_config& config) {
    config.context = std::max(config.context, context_needed(bench));
    config.max_sequences = *std::max_element(bench.streams.begin(), bench.streams.end());
    if (wants_speculation(chosen)) {
      config.context = std::max(config.context, speculation_context() + bench.decode_tokens);
      config.max_sequences = std::max(config.max_sequences, 16u);
    }
    config.batch_tokens = std::max(config.batch_tokens, config.max_sequences);
    if (config.kv_memory_bytes == 0) config.kv_memory_bytes = kAllContexts;
    config.no_prefix_cache = 0;  // depth is made by it; all else asks for no cache
  });
}

Result<Report> measure_all(Session& session, const ChosenModel& chosen, const BenchOptions& bench) {
  if (Outcome loaded = load_for(session, chosen, bench); !loaded.ok()) return loaded.failure();
  const gainz_model_info info = session.info();
  say(dim(model_line(info)));
  const int64_t num_threads = chosen.settings.integer(key("threads"));
  Report report;
  report.num_threads = num_threads > 0 ? static_cast<uint32_t>(num_threads) : num_usable_cores();
  report.num_repeats = bench.num_repeats;
  report.model = info.path, report.backend = info.backend, report.device = info.device, report.isa = info.isa;
  report.kv_type =
      std::string_view(info.kv_type) == info.kv_type_v ? info.kv_type : fmt::format("{}/{}", info.kv_type, info.kv_type_v);
  report.load_seconds = info.load_seconds;
  ProgressBar bar;
  const auto measured = measure(session, bench, [&bar](const std::string& what, double fraction) { bar.show(what, fraction); });
  if (!measured.ok()) return measured.failure();
  if (wants_speculation(chosen)) {
    const Result<gainz_speculation> settings = parse_speculation(chosen.settings.text(key("speculation")));
    if (!settings.ok()) return settings.failure();
    auto rows = measure_speculation(session, *settings, bench,
                                    [&bar](const std::string& what, double fraction) { bar.show(what, fraction); });
    if (!rows.ok()) return rows.failure();
    report.speculation = *std::move(rows);
  }
  report.peak_memory_bytes = peak_memory_bytes();
  const ModelCost cost = cost_of(info);
  if (Outcome unloaded = session.unload(); !unloaded.ok()) return unloaded.failure();
  bar.show("the machine's limits", 1);
  const double bytes_per_weight =
      cost.ops_per_token > 0 ? 2.0 * static_cast<double>(cost.weight_bytes_per_token) / static_cast<double>(cost.ops_per_token)
                             : 0;
  report.cpu = cpu_name();
  report.num_cores = num_usable_cores();
  report.limits = measure_limits(cost.weight_bytes_per_token, report.num_threads, bytes_per_weight > kF32BytesPerWeight,
                                 isa_level(chosen.settings.text(key("cpu_isa"))));
  for (const Measurement& one : *measured) report.rows.push_back(row_of(one, cost, report.limits));
  return report;
}

}  // namespace

Outcome bench_command(const Options& options) {
  const BenchOptions& bench = options.bench;
  if (Outcome usage = check_usage(bench); !usage.ok()) return usage;
  const Result<Settings> settings = settings_of(options);
  if (!settings.ok()) return settings.failure();
  const Result<ChosenModel> chosen = choose_model(*settings, options.environment, options.model);
  if (!chosen.ok()) return chosen.failure();
  std::string baseline;
  if (!bench.baseline.empty()) {  // before the work: a wrong name should not cost minutes
    Result<std::string> text = read_small_file(bench.baseline, kMaxBaselineBytes);
    if (!text.ok()) return Failure{"baseline " + text.failure().sentence};
    baseline = *std::move(text);
  }
  Result<std::unique_ptr<Session>> session = Session::open(chosen->settings);
  if (!session.ok()) return session.failure();
  const Result<Report> report = measure_all(**session, *chosen, bench);
  if (!report.ok()) return report.failure();
  write_output(options.json ? report_json(*report) : report_table(*report));
  if (!bench.plot.empty()) {
    if (Outcome written = write_file(bench.plot, report_svg(*report)); !written.ok()) return written.failure();
  }
  if (bench.baseline.empty()) return Done{};
  bool worse = false;
  Result<std::string> comparison = compare_with_baseline(*report, baseline, bench.band, &worse);
  if (!comparison.ok()) return comparison.failure();
  say(comparison->substr(0, comparison->size() - 1));
  if (worse) return Failure{fmt::format("slower than the baseline by more than {:.0f} %", bench.band * 100)};
  return Done{};
}

}  // namespace gainz::host
