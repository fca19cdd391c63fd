#include "bench/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/text.h"
#include "terminal/interrupt.h"

namespace gainz::host {
namespace {

constexpr int32_t kPollMs = 100;

double now_seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct Stream {
  std::vector<int32_t> prompt;
  gainz_request_id id = 0;
  double submitted = 0;
  std::vector<double> token_times;
  uint32_t num_cached = 0;
};

class Workload {
 public:
  explicit Workload(Session& session) : session_(session) {}

  // Adds one repeat to the measurement.
  Outcome prefill(Measurement& into) {
    std::vector<Stream> streams = make_streams(into.streams, into.depth);
    if (Outcome filled = fill_depth(streams, into.depth); !filled.ok()) return filled;
    for (Stream& stream : streams) add_random(stream.prompt, into.tokens);
    if (Outcome ran = run(streams, 1, into.depth > 0); !ran.ok()) return ran;
    double first = streams[0].submitted, last = 0, num_computed = 0;
    for (const Stream& stream : streams) {
      first = std::min(first, stream.submitted);
      last = std::max(last, stream.token_times.front());
      num_computed += static_cast<double>(stream.prompt.size() - stream.num_cached);
    }
    keep(into, streams, num_computed / (last - first));
    return Done{};
  }

  Outcome decode(Measurement& into) {
    std::vector<Stream> streams = make_streams(into.streams, std::max(1u, into.depth));
    if (Outcome filled = fill_depth(streams, into.depth); !filled.ok()) return filled;
    if (Outcome ran = run(streams, into.tokens, into.depth > 0); !ran.ok()) return ran;
    double begin = 0, end = 0, num_tokens = 0;
    for (const Stream& stream : streams) {
      begin = std::max(begin, stream.token_times.front());
      end = std::max(end, stream.token_times.back());
    }
    for (const Stream& stream : streams) {
      num_tokens += static_cast<double>(stream.token_times.end() -
                                        std::upper_bound(stream.token_times.begin(), stream.token_times.end(), begin));
    }
    if (num_tokens == 0 || end <= begin) return Failure{"too few tokens to measure the time between them; use a larger -n"};
    keep(into, streams, num_tokens / (end - begin));
    return Done{};
  }

 private:
  std::vector<Stream> make_streams(uint32_t num_streams, uint32_t num_ids) {
    std::vector<Stream> streams(num_streams);
    for (Stream& stream : streams) add_random(stream.prompt, num_ids);
    return streams;
  }

  // splitmix64 (Steele, Lea, Flood 2014) over the vocabulary.
  void add_random(std::vector<int32_t>& ids, uint32_t num_ids) {
    for (uint32_t i = 0; i < num_ids; ++i) {
      uint64_t z = (random_ += 0x9E3779B97F4A7C15u);
      z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
      z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
      ids.push_back(static_cast<int32_t>((z ^ (z >> 31)) % std::max(1u, session_.info().vocab_size)));
    }
  }

  // Computes the prompts once, so that the prefix cache holds them.
  Outcome fill_depth(std::vector<Stream>& streams, uint32_t depth) {
    if (depth == 0) return Done{};
    if (Outcome ran = run(streams, 1, true); !ran.ok()) return ran;
    for (Stream& stream : streams) stream.token_times.clear();
    return Done{};
  }

  static void keep(Measurement& into, const std::vector<Stream>& streams, double rate) {
    into.tokens_per_second.push_back(rate);
    for (const Stream& stream : streams) into.ttft_seconds.push_back(stream.token_times.front() - stream.submitted);
  }

  Outcome submit(Stream& stream, uint32_t num_tokens, bool cache) {
    gainz_request_config request;
    gainz_request_config_init(&request);
    request.model = session_.model();
    request.flags = cache ? 0 : GAINZ_REQUEST_NO_CACHE;
    request.user = &stream;
    request.prompt_ids = stream.prompt.data();
    request.num_prompt_ids = stream.prompt.size();
    request.sampling.temperature = 0;
    request.sampling.max_tokens = static_cast<int32_t>(num_tokens);
    request.sampling.ignore_eos = 1;
    request.speculation.mode = GAINZ_SPECULATION_OFF;  // random prompts make answers that repeat themselves
    stream.submitted = now_seconds();
    char error[kErrorBytes] = "";
    const gainz_code code = gainz_submit(session_.runtime(), &request, &stream.id, error, sizeof error);
    if (code != GAINZ_OK) return Failure{printable(error)};
    return Done{};
  }

  // After: every stream has num_tokens token times, or it is a Failure (and all requests have ended).
  Outcome run(std::vector<Stream>& streams, uint32_t num_tokens, bool cache) {
    std::string wrong;
    size_t num_open = 0;
    for (Stream& stream : streams) {
      Outcome submitted = submit(stream, num_tokens, cache);
      if (!submitted.ok()) {
        wrong = submitted.failure().sentence;
        cancel_all(streams);
        break;
      }
      ++num_open;
    }
    while (num_open > 0) {
      if (num_interrupts() > 0 && wrong.empty()) {
        wrong = "stopped";
        cancel_all(streams);
      }
      const gainz_event* event = nullptr;
      const gainz_code code = gainz_poll(session_.runtime(), 0, kPollMs, &event);
      if (code == GAINZ_BUSY) continue;
      if (code != GAINZ_OK) return Failure{fmt::format("the runtime's events ended with \"{}\"", gainz_code_name(code))};
      num_open -= take(*event, wrong) ? 1 : 0;
      gainz_event_release(session_.runtime(), event);
    }
    if (!wrong.empty()) return Failure{wrong};
    for (const Stream& stream : streams) {
      if (stream.token_times.size() < num_tokens) {
        return Failure{fmt::format("a request ended after {} of {} tokens", stream.token_times.size(), num_tokens)};
      }
    }
    return Done{};
  }

  void cancel_all(const std::vector<Stream>& streams) {
    for (const Stream& stream : streams) {
      if (stream.id != 0) gainz_cancel(session_.runtime(), stream.id);
    }
  }

  // True for the last event of a request.
  static bool take(const gainz_event& event, std::string& wrong) {
    Stream& stream = *static_cast<Stream*>(event.user);
    if (event.kind == GAINZ_EVENT_TOKEN && event.id >= 0) stream.token_times.push_back(now_seconds());
    if (event.kind != GAINZ_EVENT_DONE) return false;
    stream.num_cached = event.num_cached_tokens;
    if (event.finish_reason == GAINZ_FINISH_ERROR && wrong.empty())
      wrong = printable(event.error != nullptr ? event.error : "a request failed");
    if (event.num_preemptions > 0 && wrong.empty())
      wrong = "the KV memory is too small for this many streams: a request was preempted";
    return true;
  }

  Session& session_;
  uint64_t random_ = 0;
};

std::vector<Measurement> cases_of(const BenchOptions& options) {
  std::vector<Measurement> cases;
  for (const char* phase : {"prefill", "decode"}) {
    const uint32_t tokens = *phase == 'p' ? options.prompt_tokens : options.decode_tokens;
    if (tokens == 0) continue;
    for (const uint32_t depth : options.depths) {
      for (const uint32_t streams : options.streams) cases.push_back({phase, streams, tokens, depth, {}, {}});
    }
  }
  return cases;
}

}  // namespace

uint32_t context_needed(const BenchOptions& options) {
  const uint32_t depth = *std::max_element(options.depths.begin(), options.depths.end());
  return std::max(depth + options.prompt_tokens + 1, std::max(1u, depth) + options.decode_tokens);
}

Result<std::vector<Measurement>> measure(Session& session, const BenchOptions& options,
                                         const std::function<void(const std::string&, double)>& progress) {
  Workload workload(session);
  std::vector<Measurement> cases = cases_of(options);
  const auto run = [&](Measurement& one) { return one.phase == "prefill" ? workload.prefill(one) : workload.decode(one); };
  std::string warm;
  size_t num_done = 0;
  for (Measurement& one : cases) {
    if (warm != one.phase) {
      Measurement warm_up = one;
      progress("warm-up of " + one.phase,
               static_cast<double>(num_done) / static_cast<double>(cases.size() * options.num_repeats));
      if (Outcome outcome = run(warm_up); !outcome.ok()) return outcome.failure();
      warm = one.phase;
    }
    for (uint32_t repeat = 0; repeat < options.num_repeats; ++repeat) {
      progress(fmt::format("{}, {} streams, depth {}, repeat {} of {}", one.phase, one.streams, one.depth, repeat + 1,
                           options.num_repeats),
               static_cast<double>(num_done++) / static_cast<double>(cases.size() * options.num_repeats));
      if (Outcome outcome = run(one); !outcome.ok()) return outcome.failure();
    }
  }
  return cases;
}

}  // namespace gainz::host
