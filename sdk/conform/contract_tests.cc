// Contract: failing memory, cancel, leaks, what must not change, errors that change nothing, tickets.
#include <malloc.h>

#include <cstring>

#include "conform/compare.h"
#include "conform/system_state.h"

namespace gainz::conform {
namespace {

constexpr size_t kNumTokens = 20;

// The toy by a device: prompt, two more tokens; the rows of logits.
std::vector<std::vector<float>> exercise(const Plugin& plugin, const Subject& subject) {
  const Device device(plugin, subject.options, subject.device);
  GraphBuilder graph;
  build_toy(&graph, {.window = 20});
  Runner runner(device, &graph);
  Conversation conversation = runner.begin();
  auto rows = runner.feed(&conversation, random_tokens(kNumTokens, 96, 1), 16);
  auto more = runner.step({{&conversation, {5}, true, GAINZ_PHASE_GENERATED}});
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

// Claims of the whole toy are needed by most tests here; a plugin of a few ops is judged on those by the ops tests.
void require_whole_toy(const Plugin& plugin, const Subject& subject) {
  const Device device(plugin, subject.options, subject.device);
  GraphBuilder graph;
  build_toy(&graph, {.window = 20});
  std::vector<uint8_t> claims(graph.nodes().size());
  const gainz_status status = device->model_claim(device.get(), graph.graph(), claims.data(), nullptr);
  for (const uint8_t claim : claims)
    if (status != GAINZ_STATUS_OK || claim == 0) unsupported("the plugin does not claim a whole model");
}

void failing_memory(Trial& trial) {
  const Plugin plugin(trial.host, trial.subject.path);
  require_whole_toy(plugin, trial.subject);
  const auto truth = exercise(plugin, trial.subject);
  const uint64_t before = trial.host.live_bytes();
  int failures = 0;
  for (int n = 0; n < 2000; n = n < 40 ? n + 1 : n + n / 8) {
    trial.host.fail_allocation(n);
    bool failed = false;
    try {
      exercise(plugin, trial.subject);
    } catch (const std::exception& e) {
      failed = true;
      ++failures;
      const std::string text = e.what();
      GAINZ_REQUIRE(text.find("status 5") != std::string::npos || text.find("status 4") != std::string::npos,
                    "allocation %d fails, and the answer is no want of memory: %s", n, e.what());
    }
    const bool is_over = trial.host.failure_is_pending();
    trial.host.fail_allocation(-1);
    GAINZ_REQUIRE(trial.host.live_bytes() == before, "allocation %d fails, and %llu bytes are not given back", n,
                  static_cast<unsigned long long>(trial.host.live_bytes() - before));
    if (is_over && !failed) break;
  }
  require_same(exercise(plugin, trial.subject), truth, "after failing memory");
  trial.note("%d allocations failed one by one", failures);
}

void cancel(Trial& trial) {
  const Plugin plugin(trial.host, trial.subject.path);
  require_whole_toy(plugin, trial.subject);
  const Device device(plugin, trial.subject.options, trial.subject.device);
  const uint64_t before = trial.host.live_bytes();
  GraphBuilder graph;
  build_toy(&graph);
  for (int32_t call = 0; call < 3; ++call) {
    graph.cancel_after = call;
    gainz_model* model = nullptr;
    ErrorText error;
    const gainz_status status = device->model_create(device.get(), graph.graph(), graph.weights(), &model, error.get());
    if (status == GAINZ_STATUS_OK) {
      device->model_destroy(device.get(), model);
      GAINZ_REQUIRE(graph.cancel_after >= 0, "progress asked to stop at call %d, and the model was made all the same", call);
      if (call == 0) trial.note("it never tells its progress");
      break;
    }
    GAINZ_REQUIRE(status == GAINZ_STATUS_CANCELLED, "progress asked to stop, and the answer is status %d: %s", status,
                  error.text().c_str());
    GAINZ_REQUIRE(trial.host.live_bytes() == before, "after a stop %llu bytes are not given back",
                  static_cast<unsigned long long>(trial.host.live_bytes() - before));
  }
  exercise(plugin, trial.subject);
}

void leaks(Trial& trial) {
  const Plugin plugin(trial.host, trial.subject.path);
  require_whole_toy(plugin, trial.subject);
  for (int i = 0; i < 2; ++i) exercise(plugin, trial.subject);  // drivers take their own the first time
  const SystemState before;
  const uint64_t bytes = trial.host.live_bytes();
  const size_t heap = mallinfo2().uordblks;
  constexpr int kRounds = 20;
  for (int i = 0; i < kRounds; ++i) exercise(plugin, trial.subject);
  before.require_same("twenty rounds from open to close");
  GAINZ_REQUIRE(trial.host.live_bytes() == bytes, "%llu bytes of the host's are not given back after close",
                static_cast<unsigned long long>(trial.host.live_bytes() - bytes));
  const double growth = (static_cast<double>(mallinfo2().uordblks) - static_cast<double>(heap)) / kRounds;
  trial.note("heap: %.0f bytes more for each round", growth);
  GAINZ_REQUIRE(growth < 4096, "each round from open to close leaves %.0f bytes in the heap", growth);
}

void modes(Trial& trial) {
  const SystemState before;
  const Plugin plugin(trial.host, trial.subject.path);
  before.require_same_modes("query");
  require_whole_toy(plugin, trial.subject);
  exercise(plugin, trial.subject);
  before.require_same_modes("a session from open to close");
}

void run_allocates_nothing(Trial& trial) {
  const Plugin plugin(trial.host, trial.subject.path);
  require_whole_toy(plugin, trial.subject);
  const Device device(plugin, trial.subject.options, trial.subject.device);
  GraphBuilder graph;
  build_toy(&graph);
  Runner runner(device, &graph);
  Conversation conversation = runner.begin();
  runner.feed(&conversation, random_tokens(40, 96, 3), 40);
  const auto step = [&] { runner.step({{&conversation, {7}, false, GAINZ_PHASE_GENERATED}}); };
  for (int i = 0; i < 5; ++i) step();
  const uint64_t allocations = trial.host.num_allocations();
  const SystemState before;
  for (int i = 0; i < 30; ++i) step();
  GAINZ_REQUIRE(trial.host.num_allocations() == allocations, "30 steps ask the host for memory %llu times",
                static_cast<unsigned long long>(trial.host.num_allocations() - allocations));
  before.require_same("30 steps");
}

// Each broken step is refused with a sentence and leaves the next good one as it would have been.
void bad_steps(Trial& trial) {
  const Plugin plugin(trial.host, trial.subject.path);
  require_whole_toy(plugin, trial.subject);
  const Device device(plugin, trial.subject.options, trial.subject.device);
  GraphBuilder graph;
  build_toy(&graph);
  const auto answer = [&](bool breaks) {
    Runner runner(device, &graph);
    Conversation conversation = runner.begin();
    runner.feed(&conversation, random_tokens(20, 96, 4), 20);
    if (breaks) {
      const Runner::Arrays good = runner.arrays();
      gainz_step& step = *runner.last_step();
      const gainz_step whole = step;
      const std::pair<const char*, std::function<void()>> faults[] = {
          {"a token beyond the vocabulary", [&] { runner.tokens[3] = 96; }},
          {"a negative token", [&] { runner.tokens[0] = -1; }},
          {"a position that does not follow", [&] { runner.positions[5] = 4; }},
          {"a slot beyond the pages", [&] { runner.slots[0][2] = 64 * GAINZ_PAGE_TOKENS; }},
          {"a page beyond the pages", [&] { runner.tables[0][0] = 64; }},
          {"an output row beyond the tokens", [&] { runner.rows[0] = 20; }},
          {"query offsets that do not end at the tokens", [&] { runner.offsets[1] = 19; }},
          {"a context shorter than the query", [&] { runner.contexts[0] = 3; }},
          {"more tokens than the bucket", [&] { step.num_tokens = 129; }},
          {"no sequence", [&] { step.num_sequences = 0; }},
          {"no tokens array", [&] { step.tokens = nullptr; }},
          {"no page arrays", [&] { step.pages = nullptr; }}};
      for (const auto& [what, fault] : faults) {
        fault();
        uint64_t ticket = 0;
        ErrorText error;
        const gainz_status status =
            device->run(device.get(), runner.program(), &step, 0, runner.num_slices(), &ticket, error.get());
        GAINZ_REQUIRE(status == GAINZ_STATUS_INVALID, "a step with %s is answered with status %d instead of INVALID", what,
                      status);
        GAINZ_REQUIRE(!error.text().empty(), "the refusal of a step with %s has no sentence", what);
        runner.restore(good);
        step = whole;
      }
    }
    return runner.step({{&conversation, {9}, true, GAINZ_PHASE_GENERATED}});
  };
  require_same(answer(true), answer(false), "after refused steps");
}

void tickets(Trial& trial) {
  const Plugin plugin(trial.host, trial.subject.path);
  require_whole_toy(plugin, trial.subject);
  const Device device(plugin, trial.subject.options, trial.subject.device);
  GraphBuilder graph;
  build_toy(&graph);
  Runner runner(device, &graph);
  Conversation conversation = runner.begin();
  runner.feed(&conversation, random_tokens(20, 96, 4), 20);
  uint64_t last = 0;
  ErrorText error;
  for (int i = 0; i < 20; ++i) {
    uint64_t ticket = 0;
    GAINZ_REQUIRE(device->run(device.get(), runner.program(), runner.last_step(), 0, runner.num_slices(), &ticket,
                              error.get()) == GAINZ_STATUS_OK,
                  "run: %s", error.text().c_str());
    GAINZ_REQUIRE(ticket > last, "ticket %llu follows %llu; tickets rise", static_cast<unsigned long long>(ticket),
                  static_cast<unsigned long long>(last));
    last = ticket;
    const gainz_status early = device->wait(device.get(), ticket, 0, error.get());
    GAINZ_REQUIRE(early == GAINZ_STATUS_OK || early == GAINZ_STATUS_BUSY, "wait for no time: status %d: %s", early,
                  error.text().c_str());
    GAINZ_REQUIRE(device->wait(device.get(), ticket, UINT64_MAX, error.get()) == GAINZ_STATUS_OK, "wait: %s",
                  error.text().c_str());
    uint32_t done = 0;
    GAINZ_REQUIRE(device->poll(device.get(), ticket, &done, error.get()) == GAINZ_STATUS_OK && done == 1,
                  "poll says that a ticket is not done that was waited for");
  }
}

void many_workers(Trial& trial) {
  const Plugin plugin(trial.host, trial.subject.path);
  require_whole_toy(plugin, trial.subject);
  const auto truth = exercise(plugin, trial.subject);
  for (const uint32_t workers : {1u, 3u, 7u}) {
    const TestHost host(workers);
    const Plugin other(host, trial.subject.path);
    require_same(exercise(other, trial.subject), truth, (std::to_string(workers) + " workers").c_str());
  }
}

}  // namespace

void add_contract_tests(std::vector<Test>& tests) {
  tests.push_back({"contract.failing_memory",
                   "every allocation of the host's may fail: a status, nothing lost, and the next call works", failing_memory,
                   60});
  tests.push_back({"contract.cancel", "model_create stops when progress asks for it and leaves nothing", cancel, 60});
  tests.push_back({"contract.leaks", "closing returns every byte, thread and descriptor", leaks, 60});
  tests.push_back(
      {"contract.modes", "floating-point mode, environment, folder, locale and signal handlers stay as they were", modes});
  tests.push_back({"contract.run_allocates_nothing", "a step asks for no memory and starts no thread", run_allocates_nothing});
  tests.push_back({"contract.bad_steps", "broken steps are INVALID with a sentence and change nothing", bad_steps});
  tests.push_back({"contract.tickets", "tickets rise; what was waited for is done", tickets});
  tests.push_back({"contract.workers", "the number of workers that the host lends changes no bit", many_workers, 60});
}

}  // namespace gainz::conform
