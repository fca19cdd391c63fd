#include "bench/speculation.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <set>

#include "base/text.h"
#include "bench/report.h"
#include "bench/speculation_texts.h"
#include "terminal/interrupt.h"

namespace gainz::host {
namespace {

constexpr int32_t kPollMs = 100;
constexpr size_t kRun = 4;  // tokens in a row that count as copied
constexpr uint32_t kMixStreams = 16;

double now_seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct Work {
  std::string name;
  std::string prompt;
  uint32_t kinds = 0;  // 0: those of the settings
  float temperature = 0;
  bool is_predicted = false;
  const char* stop = nullptr;  // text that ends the answer before its time
};

std::vector<Work> all_works(bool has_draft_model) {
  std::vector<Work> works = {{"copy", copy_prompt()},
                             {"rename", rename_prompt()},
                             {"quote", quote_prompt(), 0, 0, false, "\n"},
                             {"json", json_prompt()},
                             {"prose", prose_prompt(), 0, 0.8f},
                             {"noise", prose_prompt(), 1u << GAINZ_DRAFT_NOISE, 0.8f},
                             {"prediction", rename_prompt(), 1u << GAINZ_DRAFT_PREDICTION, 0, true}};
  if (has_draft_model) works.push_back({"model", prose_prompt(), 1u << GAINZ_DRAFT_MODEL, 0.8f});
  return works;
}

struct Asked {
  const Work* work = nullptr;
  uint64_t seed = 0;
  gainz_request_id id = 0;
  std::vector<int32_t> ids, prediction;
  double decode_seconds = 0;
  std::array<uint32_t, GAINZ_NUM_DRAFT_KINDS> drafted{}, accepted{};
};

class Runner {
 public:
  Runner(Session& session, const gainz_speculation& settings, uint32_t num_tokens)
      : session_(session), settings_(settings), num_tokens_(num_tokens) {}

  // All at once, to the end; the seconds that it took are wall time.
  Result<double> run(std::vector<Asked>& asked, bool speculative) {
    const double begin = now_seconds();
    std::string wrong;
    size_t num_open = 0;
    for (Asked& one : asked) {
      if (Outcome submitted = submit(one, speculative); submitted.ok()) {
        ++num_open;
      } else {
        wrong = submitted.failure().sentence;
        break;
      }
    }
    while (num_open > 0) {
      if ((num_interrupts() > 0 || !wrong.empty()) && !is_cancelled_) {
        is_cancelled_ = true;
        if (wrong.empty()) wrong = "stopped";
        for (const Asked& one : asked)
          if (one.id != 0) gainz_cancel(session_.runtime(), one.id);
      }
      const gainz_event* event = nullptr;
      const gainz_code code = gainz_poll(session_.runtime(), 0, kPollMs, &event);
      if (code == GAINZ_BUSY) continue;
      if (code != GAINZ_OK) return Failure{fmt::format("the runtime's events ended with \"{}\"", gainz_code_name(code))};
      Asked& one = *static_cast<Asked*>(event->user);
      if (event->kind == GAINZ_EVENT_TOKEN && event->id >= 0) one.ids.push_back(event->id);
      if (event->kind == GAINZ_EVENT_DONE) {
        --num_open;
        one.decode_seconds = static_cast<double>(event->decode_us) / 1e6;
        std::copy_n(event->num_drafted, GAINZ_NUM_DRAFT_KINDS, one.drafted.begin());
        std::copy_n(event->num_accepted, GAINZ_NUM_DRAFT_KINDS, one.accepted.begin());
        if (event->finish_reason == GAINZ_FINISH_ERROR && wrong.empty()) wrong = printable(event->error);
      }
      gainz_event_release(session_.runtime(), event);
    }
    if (!wrong.empty()) return Failure{wrong};
    return now_seconds() - begin;
  }

  gainz_model_stats stats() {
    gainz_model_stats stats{};
    stats.struct_size = sizeof stats;
    gainz_model_get_stats(session_.runtime(), session_.model(), &stats);
    return stats;
  }

 private:
  Outcome submit(Asked& one, bool speculative) {
    gainz_request_config request;
    gainz_request_config_init(&request);
    request.model = session_.model();
    request.flags = GAINZ_REQUEST_NO_CACHE;  // and so no guesses from answers given before
    request.user = &one;
    request.prompt = one.work->prompt.data();
    request.prompt_bytes = one.work->prompt.size();
    request.sampling.temperature = one.work->temperature;
    request.sampling.seed = one.seed;
    request.sampling.has_seed = 1;
    request.sampling.max_tokens = static_cast<int32_t>(num_tokens_);
    request.sampling.ignore_eos = 1;
    request.sampling.stop = &one.work->stop;
    request.sampling.num_stop = one.work->stop != nullptr ? 1 : 0;
    if (speculative) {
      request.speculation = settings_;
      if (one.work->kinds != 0) request.speculation.kinds = one.work->kinds;
      request.prediction_ids = one.prediction.empty() ? nullptr : one.prediction.data();
      request.num_prediction_ids = one.prediction.size();
    } else {
      request.speculation.mode = GAINZ_SPECULATION_OFF;
    }
    char error[kErrorBytes] = "";
    const gainz_code code = gainz_submit(session_.runtime(), &request, &one.id, error, sizeof error);
    if (code != GAINZ_OK) return Failure{printable(error)};
    return Done{};
  }

  Session& session_;
  const gainz_speculation settings_;
  const uint32_t num_tokens_;
  bool is_cancelled_ = false;
};

double share_copied(const std::vector<int32_t>& prompt, const std::vector<int32_t>& answer) {
  std::set<std::vector<int32_t>> runs;
  for (size_t i = 0; i + kRun <= prompt.size(); ++i)
    runs.emplace(prompt.begin() + static_cast<ptrdiff_t>(i), prompt.begin() + static_cast<ptrdiff_t>(i + kRun));
  std::vector<bool> copied(answer.size());
  for (size_t i = 0; i + kRun <= answer.size(); ++i) {
    if (runs.count({answer.begin() + static_cast<ptrdiff_t>(i), answer.begin() + static_cast<ptrdiff_t>(i + kRun)}) == 0)
      continue;
    std::fill_n(copied.begin() + static_cast<ptrdiff_t>(i), kRun, true);
  }
  return answer.empty()
             ? 0
             : static_cast<double>(std::count(copied.begin(), copied.end(), true)) / static_cast<double>(answer.size());
}

std::vector<int32_t> ids_of(Session& session, const std::string& text) {
  int32_t* ids = nullptr;
  size_t num_ids = 0;
  if (gainz_tokenize(session.runtime(), session.model(), text.data(), text.size(), GAINZ_TEXT_ADD_SPECIAL, &ids, &num_ids,
                     nullptr, 0) != GAINZ_OK)
    return {};
  std::vector<int32_t> out(ids, ids + num_ids);
  gainz_free(session.runtime(), ids);
  return out;
}

// What somebody who knows most of the answer would expect: every so often a few tokens are others.
std::vector<int32_t> prediction_from(const std::vector<int32_t>& answer) {
  std::vector<int32_t> out = answer;
  for (size_t i = 40; i < out.size(); i += 48) out[i] = out[i - 1];
  return out;
}

// One repeat: plain, then speculative, with the same seeds.
Outcome run_pair(Runner& runner, std::vector<Asked>& plain, std::vector<Asked>& speculative, uint64_t seed, SpeculationRow& row,
                 std::vector<double>& plain_rates, std::vector<double>& rates, gainz_model_stats& steps, size_t& all_tokens) {
  for (size_t i = 0; i < plain.size(); ++i) {
    for (Asked* one : {&plain[i], &speculative[i]}) {
      one->ids.clear();
      one->seed = seed + i;
    }
  }
  const Result<double> plain_seconds = runner.run(plain, false);
  if (!plain_seconds.ok()) return plain_seconds.failure();
  for (size_t i = 0; i < plain.size(); ++i)
    if (plain[i].work->is_predicted) speculative[i].prediction = prediction_from(plain[i].ids);
  const gainz_model_stats before = runner.stats();
  const Result<double> seconds = runner.run(speculative, true);
  if (!seconds.ok()) return seconds.failure();
  const gainz_model_stats after = runner.stats();
  steps.num_steps += after.num_steps - before.num_steps;
  steps.decode_us += after.decode_us - before.decode_us;
  steps.predicted_us += after.predicted_us - before.predicted_us;
  size_t num_tokens = 0;
  for (size_t i = 0; i < plain.size(); ++i) {
    if (plain[i].ids != speculative[i].ids)
      return Failure{fmt::format("{}: the tokens with speculation are not those without", plain[i].work->name)};
    num_tokens += plain[i].ids.size();
    row.drafted += std::accumulate(speculative[i].drafted.begin(), speculative[i].drafted.end(), uint64_t{0});
    row.accepted += std::accumulate(speculative[i].accepted.begin(), speculative[i].accepted.end(), uint64_t{0});
  }
  all_tokens += num_tokens;
  // One stream: between its first and its last token. Several: all of it, as they come and go.
  const double alone = static_cast<double>(num_tokens - 1);
  plain_rates.push_back(plain.size() == 1 ? alone / plain[0].decode_seconds : static_cast<double>(num_tokens) / *plain_seconds);
  rates.push_back(plain.size() == 1 ? alone / speculative[0].decode_seconds : static_cast<double>(num_tokens) / *seconds);
  return Done{};
}

}  // namespace

uint32_t speculation_context() { return kSpeculationContext; }

Result<std::vector<SpeculationRow>> measure_speculation(Session& session, const gainz_speculation& settings,
                                                        const BenchOptions& options,
                                                        const std::function<void(const std::string&, double)>& progress) {
  const std::vector<Work> works = all_works(*session.info().draft_path != '\0');
  Runner runner(session, settings, options.decode_tokens);
  std::vector<SpeculationRow> rows;
  for (size_t w = 0; w <= works.size(); ++w) {
    const bool is_mix = w == works.size();
    SpeculationRow& row = rows.emplace_back();
    row.work = is_mix ? "mix" : works[w].name;
    row.tokens = options.decode_tokens;
    row.streams = is_mix ? kMixStreams : 1;
    std::vector<Asked> plain(row.streams), speculative(row.streams);
    for (size_t i = 0; i < plain.size(); ++i) plain[i].work = speculative[i].work = &works[is_mix ? i % works.size() : w];
    std::vector<double> plain_rates, rates, ratios;
    gainz_model_stats steps{};
    size_t num_tokens = 0;
    for (uint32_t repeat = 0; repeat <= options.num_repeats; ++repeat) {
      progress(fmt::format("speculation, {}, {} of {}", row.work, repeat, options.num_repeats),
               (static_cast<double>(w) + repeat / (options.num_repeats + 1.0)) / static_cast<double>(works.size() + 1));
      if (Outcome outcome = run_pair(runner, plain, speculative, repeat * 100, row, plain_rates, rates, steps, num_tokens);
          !outcome.ok())
        return outcome.failure();
      if (repeat > 0) continue;
      plain_rates.clear(), rates.clear(), steps = {}, num_tokens = 0;  // the first is for warming up
      row.drafted = row.accepted = 0;
    }
    for (size_t i = 0; i < rates.size(); ++i) ratios.push_back(rates[i] / plain_rates[i]);
    row.plain = median_of(plain_rates);
    row.speculative = median_of(rates);
    row.speed_up = median_of(ratios);
    row.least = *std::min_element(ratios.begin(), ratios.end());
    row.most = *std::max_element(ratios.begin(), ratios.end());
    if (!is_mix) row.copied_share = share_copied(ids_of(session, works[w].prompt), plain[0].ids);
    if (!is_mix) row.tokens = static_cast<uint32_t>(plain[0].ids.size());  // a stop may end it
    if (steps.num_steps > 0 && row.streams == 1)
      row.tokens_per_step = static_cast<double>(num_tokens) / static_cast<double>(steps.num_steps);
    if (steps.decode_us > 0)
      row.predicted_share = static_cast<double>(steps.predicted_us) / static_cast<double>(steps.decode_us);
  }
  return rows;
}

std::string speculation_table(const std::vector<SpeculationRow>& rows) {
  std::string out =
      fmt::format("\n{:<11} {:>7} {:>7} {:>9} {:>9} {:>9} {:>13} {:>7} {:>9} {:>12} {:>10}\n", "speculation", "streams",
                  "tokens", "plain", "with", "speed-up", "min - max", "copied", "accepted", "tokens/step", "predicted");
  for (const SpeculationRow& row : rows) {
    const double accepted = row.drafted > 0 ? static_cast<double>(row.accepted) / static_cast<double>(row.drafted) : 0;
    out += fmt::format("{:<11} {:>7} {:>7} {:>9.1f} {:>9.1f} {:>8.2f}x {:>13} {:>5.0f} % {:>7.0f} % {:>12.2f} {:>8.0f} %\n",
                       row.work, row.streams, row.tokens, row.plain, row.speculative, row.speed_up,
                       fmt::format("{:.2f} - {:.2f}", row.least, row.most), row.copied_share * 100, accepted * 100,
                       row.tokens_per_step, row.predicted_share * 100);
  }
  return out;
}

}  // namespace gainz::host
