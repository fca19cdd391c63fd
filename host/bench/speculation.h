// The part of `gainz bench` that asks whether speculation is worth it: the same requests plain and speculative, turn by turn,
// on work of several kinds. Both give the same tokens; that is checked, and a difference is a Failure. One thread.
//
//   copy        code that is written down once more
//   rename      the same with a name changed: the answer leaves the copy again and again
//   quote       a passage of the prompt, word for word, to the end of its line
//   json        records with the same keys
//   prose       text that hardly repeats itself, drawn at temperature 0.8
//   noise       the same with random guesses: what speculation costs at worst
//   prediction  the answer is expected, but for every eighth line
//   model       prose with the draft model alone (if one is configured)
//   mix         16 of the above at once
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "session/session.h"

namespace gainz::host {

struct SpeculationRow {
  std::string work;
  uint32_t streams = 1, tokens = 0;          // tokens: of each answer
  double plain = 0, speculative = 0;         // tokens/s, medians, total over streams
  double speed_up = 0, least = 0, most = 0;  // of the pairs; speed_up is their median
  double copied_share = 0;                   // of the answer's tokens: in runs of 4 or more that stand in the prompt
  uint64_t drafted = 0, accepted = 0;        // tokens, of all repeats
  double tokens_per_step = 0;                // of one stream
  double predicted_share = 0;                // the cost model's time for the steps over the time they took; 0: not known
};

uint32_t speculation_context();  // tokens that the longest of these requests needs, beside its answer

Result<std::vector<SpeculationRow>> measure_speculation(Session& session, const gainz_speculation& settings,
                                                        const BenchOptions& options,
                                                        const std::function<void(const std::string&, double)>& progress);
std::string speculation_table(const std::vector<SpeculationRow>& rows);

}  // namespace gainz::host
