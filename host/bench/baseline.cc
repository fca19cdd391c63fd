#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/text.h"
#include "bench/report.h"

namespace gainz::host {
namespace {

namespace json = boost::json;

// The member at the end of a path of names; nullptr if it is not there.
const json::value* at(const json::value& value, std::initializer_list<std::string_view> names) {
  const json::value* here = &value;
  for (const std::string_view name : names) {
    if (here == nullptr || !here->is_object()) return nullptr;
    here = here->get_object().if_contains(name);
  }
  return here;
}

bool is_number(const json::value* value, double number) {
  if (value == nullptr || !value->is_number()) return false;
  json::error_code error;
  return value->to_number<double>(error) == number && !error;
}

// The earlier median of the same case; 0 if there is none.
double earlier_median(const json::array& results, const Row& row) {
  for (const json::value& result : results) {
    const json::value* phase = at(result, {"phase"});
    if (phase == nullptr || !phase->is_string() || std::string_view(phase->get_string()) != row.phase) continue;
    if (!is_number(at(result, {"streams"}), row.streams) || !is_number(at(result, {"tokens"}), row.tokens)) continue;
    const json::value* median = at(result, {"tokens_per_second", "median"});
    if (!is_number(at(result, {"depth"}), row.depth) || median == nullptr || !median->is_number()) continue;
    json::error_code error;
    return median->to_number<double>(error);
  }
  return 0;
}

}  // namespace

Result<std::string> compare_with_baseline(const Report& report, std::string_view baseline_json, double band, bool* out_worse) {
  *out_worse = false;
  json::error_code error;
  const json::value baseline = json::parse(baseline_json, error);
  const json::value* results = error ? nullptr : at(baseline, {"results"});
  if (results == nullptr || !results->is_array()) return Failure{"the baseline is not the JSON of `gainz bench --json`"};
  std::string out;
  for (const Row& row : report.rows) {
    const double earlier = earlier_median(results->get_array(), row);
    if (!(earlier > 0)) continue;
    const double change = row.median / earlier - 1;
    const bool worse = row.median < earlier * (1 - band);
    *out_worse = *out_worse || worse;
    out += fmt::format("{} streams {} depth {}: {:.1f} tokens/s, baseline {:.1f} ({:+.1f} %){}\n", row.phase, row.streams,
                       row.depth, row.median, earlier, change * 100,
                       worse ? fmt::format(", beyond the band of {:.0f} %", band * 100) : "");
  }
  if (out.empty()) return Failure{"the baseline has no case in common with this run (phase, streams, tokens, depth)"};
  return out;
}

}  // namespace gainz::host
