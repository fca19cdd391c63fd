// A bench result as numbers, table and JSON. Pure; any thread.
//
// Bytes and operations are what the work needs, not what was counted: a step reads the weights once and, for decode, each
// stream's KV (at half of the generated length); a prompt token costs the linear operations without the head, whose product
// only the last one needs.
#pragma once

#include <string>
#include <vector>

#include "bench/machine.h"
#include "bench/speculation.h"
#include "bench/workload.h"

namespace gainz::host {

struct ModelCost {  // of gainz_model_info
  uint64_t weight_bytes_per_token = 0, ops_per_token = 0, kv_bytes_per_token = 0, head_ops = 0;
  uint32_t batch_tokens = 1;
};
ModelCost cost_of(const gainz_model_info& info);

struct Row {
  std::string phase;
  uint32_t streams, tokens, depth;
  double median, least, most;  // tokens/s, total over streams
  double ttft_ms;              // median
  double gb_per_second, gops;
  double share_of_limit;  // of the tighter of the two limits
};
Row row_of(const Measurement& measurement, const ModelCost& cost, const MachineLimits& limits);

struct Report {
  std::string cpu;
  uint32_t num_cores = 0, num_threads = 0, num_repeats = 0;
  MachineLimits limits;
  std::string model, backend, device, kv_type, isa;
  double load_seconds = 0;
  uint64_t peak_memory_bytes = 0;
  std::vector<Row> rows;
  std::vector<SpeculationRow> speculation;  // if it was asked for
};
std::string report_json(const Report& report);
std::string report_table(const Report& report);

double median_of(std::vector<double> values);  // 0 of none

// Compares medians with an earlier report_json text. A line for each case that both have; *out_worse is true if one is lower
// than (1 - band) times the earlier. Failure: not such a text, or no case in common.
Result<std::string> compare_with_baseline(const Report& report, std::string_view baseline_json, double band, bool* out_worse);

}  // namespace gainz::host
