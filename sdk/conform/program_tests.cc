// Programs: replays, neighbours, chunks, slices, dropped steps.
#include <chrono>

#include "conform/compare.h"
#include "conform/toy_setup.h"

namespace gainz::conform {
namespace {

constexpr uint64_t kVocabulary = 96;

void replay(Trial& trial) {
  const ToySetup setup(trial);
  GraphBuilder graph;
  build_toy(&graph);
  Runner runner(setup.device, &graph);
  const auto fresh = [&] {
    Conversation conversation = runner.begin();
    return runner.feed(&conversation, random_tokens(3, kVocabulary, 1), 3);
  };
  Conversation conversation = runner.begin();
  const auto prompt = random_tokens(20, kVocabulary, 1);
  const auto first = runner.feed(&conversation, prompt, 20);
  for (int i = 0; i < 100; ++i) {
    conversation.length = 0;  // the same pages again
    require_same(runner.feed(&conversation, prompt, 20), first, ("replay " + std::to_string(i + 1)).c_str());
    if (i % 25 == 0) fresh();  // another step between
  }
  Runner other(setup.device, &graph);
  Conversation again = other.begin();
  require_same(other.feed(&again, prompt, 20), first, "a fresh program");
}

// A row's bits depend on its own history alone.
void neighbours(Trial& trial) {
  const ToySetup setup(trial);
  if ((setup.flags & GAINZ_DEVICE_BATCH_VARIANT) != 0) unsupported("the device says that its rows may depend on the batch");
  GraphBuilder graph;
  build_toy(&graph, {.window = 20});
  Runner runner(setup.device, &graph, {.num_pages = 160});
  for (const uint8_t phase : {GAINZ_PHASE_PROMPT, GAINZ_PHASE_GENERATED}) {
    const auto prompt = random_tokens(19, kVocabulary, 5);
    Conversation alone = runner.begin();
    runner.feed(&alone, prompt, 19);
    const auto truth = runner.step({{&alone, {11}, true, phase}});
    for (const size_t batch : {2, 3, 5, 8}) {
      for (const size_t place : {size_t{0}, batch / 2, batch - 1}) {
        std::vector<Conversation> all(batch, runner.begin());
        for (size_t i = 0; i < batch; ++i)
          runner.feed(&all[i], i == place ? prompt : random_tokens(3 + 5 * i, kVocabulary, 100 + static_cast<uint32_t>(i)), 64);
        std::vector<Chunk> chunks;
        for (size_t i = 0; i < batch; ++i)
          chunks.push_back({&all[i], {i == place ? 11 : static_cast<int32_t>(i * 7)}, true, phase});
        const auto rows = runner.step(chunks);
        require_same({rows[place]}, truth, ("as number " + std::to_string(place + 1) + " of " + std::to_string(batch)).c_str());
      }
      runner.forget_pages();
      alone = runner.begin();
    }
    runner.forget_pages();
  }
}

void chunks(Trial& trial) {
  const ToySetup setup(trial);
  if ((setup.flags & GAINZ_DEVICE_BATCH_VARIANT) != 0) unsupported("the device says that its rows may depend on the batch");
  GraphBuilder graph;
  build_toy(&graph, {.window = 20});
  Runner runner(setup.device, &graph);
  const auto prompt = random_tokens(75, kVocabulary, 6);
  Conversation whole = runner.begin();
  const auto truth = runner.feed(&whole, prompt, 75);
  for (const size_t size : {1, 7, 16, 64}) {
    runner.forget_pages();
    Conversation conversation = runner.begin();
    require_same(runner.feed(&conversation, prompt, size), truth, ("in chunks of " + std::to_string(size)).c_str());
  }
}

void slices(Trial& trial) {
  const ToySetup setup(trial);
  GraphBuilder graph;
  build_toy(&graph);
  const auto prompt = random_tokens(20, kVocabulary, 7);
  Runner whole(setup.device, &graph);
  Conversation a = whole.begin();
  const auto truth = whole.feed(&a, prompt, 20);
  trial.note("%u slices", whole.num_slices());
  Runner each(setup.device, &graph, {.one_slice_a_run = true});
  Conversation b = each.begin();
  require_same(each.feed(&b, prompt, 20), truth, "one slice a run");
  // Any cut: the last step again, in pieces drawn at random.
  for (int i = 0; i < 10; ++i) {
    uint64_t ticket = 0;
    ErrorText error;
    for (uint32_t first = 0; first < whole.num_slices();) {
      const uint32_t count = 1 + static_cast<uint32_t>(trial.random() % (whole.num_slices() - first));
      GAINZ_REQUIRE(setup.device->run(setup.device.get(), whole.program(), whole.last_step(), first, count, &ticket,
                                      error.get()) == GAINZ_STATUS_OK,
                    "run: %s", error.text().c_str());
      first += count;
    }
    GAINZ_REQUIRE(setup.device->wait(setup.device.get(), ticket, UINT64_MAX, error.get()) == GAINZ_STATUS_OK, "wait: %s",
                  error.text().c_str());
    require_same(whole.last_rows(), truth, "a random cut");
  }
}

void dropped(Trial& trial) {
  const ToySetup setup(trial);
  GraphBuilder graph;
  build_toy(&graph);
  Runner runner(setup.device, &graph);
  const auto prompt = random_tokens(20, kVocabulary, 8);
  Conversation a = runner.begin();
  const auto truth = runner.feed(&a, prompt, 20);
  if (runner.num_slices() < 2) unsupported("a step has one slice");
  for (uint32_t stop = 1; stop < runner.num_slices(); ++stop) {
    uint64_t ticket = 0;
    ErrorText error;
    GAINZ_REQUIRE(setup.device->run(setup.device.get(), runner.program(), runner.last_step(), 0, stop, &ticket, error.get()) ==
                      GAINZ_STATUS_OK,
                  "run: %s", error.text().c_str());
    GAINZ_REQUIRE(setup.device->wait(setup.device.get(), ticket, UINT64_MAX, error.get()) == GAINZ_STATUS_OK, "wait: %s",
                  error.text().c_str());
    Conversation again = a;
    again.length = 0;
    require_same(runner.feed(&again, prompt, 20), truth, ("after a step dropped behind slice " + std::to_string(stop)).c_str());
  }
}

void outputs(Trial& trial) {
  const ToySetup setup(trial);
  GraphBuilder graph;
  build_toy(&graph);
  Runner runner(setup.device, &graph);
  Conversation conversation = runner.begin();
  const auto prompt = random_tokens(20, kVocabulary, 9);
  const auto all = runner.feed(&conversation, prompt, 20);
  // No rows wanted, then the last alone.
  conversation.length = 0;
  runner.step({{&conversation, prompt, false}});
  require_same(runner.last_rows(), {all.back()}, "the last row alone");
  runner.require_canaries();
  runner.last_step()->num_output_rows = 0;
  uint64_t ticket = 0;
  ErrorText error;
  const gainz_buffer none{sizeof none, 0, nullptr, 0};
  runner.last_step()->outputs = &none;
  GAINZ_REQUIRE(setup.device->run(setup.device.get(), runner.program(), runner.last_step(), 0, runner.num_slices(), &ticket,
                                  error.get()) == GAINZ_STATUS_OK,
                "a step without output rows: %s", error.text().c_str());
  GAINZ_REQUIRE(setup.device->wait(setup.device.get(), ticket, UINT64_MAX, error.get()) == GAINZ_STATUS_OK, "wait: %s",
                error.text().c_str());
}

void speed(Trial& trial) {
  const ToySetup setup(trial);
  GraphBuilder graph;
  build_toy(&graph, {.vocabulary = 4096,
                     .width = 256,
                     .num_heads = 4,
                     .num_kv_heads = 2,
                     .head_dim = 64,
                     .ffn = 768,
                     .num_layers = 4,
                     .weight_type = GAINZ_TYPE_Q8_0});
  Runner runner(setup.device, &graph, {.max_tokens = 256});
  const auto seconds = [](auto work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  Conversation conversation = runner.begin();
  const auto prompt = random_tokens(64, 4096, 1);
  runner.step({{&conversation, prompt}});
  conversation.length = 0;
  const double prefill = seconds([&] { runner.step({{&conversation, prompt}}); });
  const double decode = seconds([&] {
    for (int i = 0; i < 16; ++i) runner.step({{&conversation, {i}, false, GAINZ_PHASE_GENERATED}});
  });
  trial.note("4 layers of 256, q8_0: %.0f tokens/s of a prompt of 64, %.0f generated", 64 / prefill, 16 / decode);
}

}  // namespace

void add_program_tests(std::vector<Test>& tests) {
  tests.push_back({"programs.replay", "a hundred replays and a fresh program give the same bits", replay, 60});
  tests.push_back({"programs.neighbours", "what shares the batch changes no bit of a row", neighbours, 60});
  tests.push_back({"programs.chunks", "a prompt in chunks gives the bits of the whole", chunks, 60});
  tests.push_back({"programs.slices", "any legal cut into slices gives the same bits", slices});
  tests.push_back({"programs.dropped_step", "a step that is not finished leaves no trace in the next", dropped});
  tests.push_back({"programs.outputs", "the rows that are asked for, and not a byte beside them", outputs});
  tests.push_back({"speed.report", "told, never judged", speed, 60});
}

}  // namespace gainz::conform
