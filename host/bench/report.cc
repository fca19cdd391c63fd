#include "bench/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>

#include "base/json_text.h"
#include "base/text.h"

namespace gainz::host {

namespace json = boost::json;

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

ModelCost cost_of(const gainz_model_info& info) {
  const uint64_t head_ops = uint64_t{2} * info.vocab_size * info.embedding_length;
  return {info.weight_bytes_per_token, info.ops_per_token, info.kv_bytes_per_token, std::min(head_ops, info.ops_per_token),
          std::max(1u, info.batch_tokens)};
}

Row row_of(const Measurement& measurement, const ModelCost& cost, const MachineLimits& limits) {
  Row row{measurement.phase, measurement.streams, measurement.tokens, measurement.depth, 0, 0, 0, 0, 0, 0, 0};
  const std::vector<double>& rates = measurement.tokens_per_second;
  if (rates.empty()) return row;
  row.median = median_of(rates);
  row.least = *std::min_element(rates.begin(), rates.end());
  row.most = *std::max_element(rates.begin(), rates.end());
  row.ttft_ms = median_of(measurement.ttft_seconds) * 1000;
  const double streams = row.streams, tokens = row.tokens;
  double bytes_per_token, ops_per_token;
  if (row.phase == "prefill") {
    const double total = streams * tokens;
    const double num_steps = (total + cost.batch_tokens - 1) / cost.batch_tokens;
    bytes_per_token = static_cast<double>(cost.weight_bytes_per_token) * std::max(1.0, std::floor(num_steps)) / total;
    ops_per_token = static_cast<double>(cost.ops_per_token - cost.head_ops) + static_cast<double>(cost.head_ops) / tokens;
  } else {
    bytes_per_token = static_cast<double>(cost.weight_bytes_per_token) / streams +
                      static_cast<double>(cost.kv_bytes_per_token) * (row.depth + tokens / 2);
    ops_per_token = static_cast<double>(cost.ops_per_token);
  }
  row.gb_per_second = bytes_per_token * row.median / 1e9;
  row.gops = ops_per_token * row.median / 1e9;
  const double read_share = limits.read_gb_per_second > 0 ? row.gb_per_second / limits.read_gb_per_second : 0;
  const double compute_share = limits.peak_gops > 0 ? row.gops / limits.peak_gops : 0;
  row.share_of_limit = std::max(read_share, compute_share);
  return row;
}

std::string report_json(const Report& report) {
  json::array results;
  for (const Row& row : report.rows) {
    results.push_back(json::object{{"phase", row.phase},
                                   {"streams", row.streams},
                                   {"tokens", row.tokens},
                                   {"depth", row.depth},
                                   {"tokens_per_second", {{"median", row.median}, {"min", row.least}, {"max", row.most}}},
                                   {"share_of_limit", row.share_of_limit},
                                   {"ttft_ms", row.ttft_ms},
                                   {"gb_per_second", row.gb_per_second},
                                   {"gops", row.gops}});
  }
  for (const SpeculationRow& row : report.speculation) {
    results.push_back(json::object{{"phase", "speculation"},
                                   {"work", row.work},
                                   {"streams", row.streams},
                                   {"tokens", row.tokens},
                                   {"depth", 0},
                                   {"tokens_per_second", {{"median", row.speculative}}},
                                   {"plain_tokens_per_second", {{"median", row.plain}}},
                                   {"speed_up", {{"median", row.speed_up}, {"min", row.least}, {"max", row.most}}},
                                   {"copied_share", row.copied_share},
                                   {"drafted", row.drafted},
                                   {"accepted", row.accepted},
                                   {"tokens_per_step", row.tokens_per_step},
                                   {"predicted_share", row.predicted_share}});
  }
  json::object root;
  root["machine"] = {{"cpu", valid_utf8(report.cpu)},
                     {"cores", report.num_cores},
                     {"limits",
                      {{"read_gb_per_second", report.limits.read_gb_per_second},
                       {"peak_gops", report.limits.peak_gops},
                       {"peak_kind", report.limits.peak_kind}}}};
  root["results"] = results;
  root["threads"] = report.num_threads;
  root["kv_type"] = report.kv_type;
  root["isa"] = valid_utf8(report.isa);
  root["load_seconds"] = report.load_seconds;
  root["peak_memory_bytes"] = report.peak_memory_bytes;
  root["model"] = valid_utf8(report.model);
  root["backend"] = valid_utf8(report.backend);
  root["device"] = valid_utf8(report.device);
  root["repeats"] = report.num_repeats;
  root["version"] = GAINZ_VERSION;
  return json_text(root) + '\n';
}

std::string report_table(const Report& report) {
  std::string out =
      fmt::format("{}\n{} · {} · {} · KV {} · {} threads of {} cores\n", printable(report.cpu), printable(report.model),
                  printable(report.device), printable(report.isa), report.kv_type, report.num_threads, report.num_cores);
  out += fmt::format("limits measured here: {:.1f} GB/s read, {:.0f} GOPS {}\n", report.limits.read_gb_per_second,
                     report.limits.peak_gops, report.limits.peak_kind);
  out +=
      fmt::format("load {}, peak memory {}\n\n", format_seconds(report.load_seconds), format_bytes(report.peak_memory_bytes));
  out += fmt::format("{:<8} {:>7} {:>7} {:>6} {:>10} {:>19} {:>10} {:>7} {:>8} {:>8}\n", "phase", "streams", "tokens", "depth",
                     "tokens/s", "min - max", "TTFT ms", "GB/s", "GOPS", "of limit");
  for (const Row& row : report.rows) {
    out += fmt::format("{:<8} {:>7} {:>7} {:>6} {:>10.1f} {:>19} {:>10.1f} {:>7.1f} {:>8.1f} {:>6.0f} %\n", row.phase,
                       row.streams, row.tokens, row.depth, row.median, fmt::format("{:.1f} - {:.1f}", row.least, row.most),
                       row.ttft_ms, row.gb_per_second, row.gops, row.share_of_limit * 100);
  }
  if (!report.speculation.empty()) out += speculation_table(report.speculation);
  return out;
}

}  // namespace gainz::host
