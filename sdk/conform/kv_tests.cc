// KV: pages anywhere, copied, rolled back, exported and imported; windows, groups, each type of K and V.
#include "conform/compare.h"
#include "conform/toy_setup.h"
#include "gainz/sdk/reference_backend.h"

namespace gainz::conform {
namespace {

constexpr uint64_t kVocabulary = 96;
const char* kv_name(uint32_t type) { return type == GAINZ_TYPE_Q8_0 ? "q8_0" : type_name(type); }

void permutation(Trial& trial) {
  const ToySetup setup(trial);
  GraphBuilder graph;
  build_toy(&graph, {.window = 20});
  const auto prompt = random_tokens(75, kVocabulary, 2);
  Runner forwards(setup.device, &graph);
  Conversation a = forwards.begin();
  const auto truth = forwards.feed(&a, prompt, 32);
  for (uint32_t round = 0; round < 5; ++round) {
    Runner shuffled(setup.device, &graph, {.shuffle_seed = round + 1});
    Conversation b = shuffled.begin();
    require_same(shuffled.feed(&b, prompt, 32), truth, "pages in another order");
  }
}

void copy(Trial& trial) {
  const ToySetup setup(trial);
  GraphBuilder graph;
  build_toy(&graph, {.window = 20});
  Runner runner(setup.device, &graph);
  Conversation a = runner.begin();
  runner.feed(&a, random_tokens(37, kVocabulary, 3), 37);
  Conversation b = runner.fork(a);
  const auto tail = random_tokens(9, kVocabulary, 4), other = random_tokens(9, kVocabulary, 5);
  const auto copied = runner.feed(&b, other, 9);  // must not reach the original
  const auto rows = runner.feed(&a, tail, 9);
  Runner fresh(setup.device, &graph);
  Conversation c = fresh.begin();
  fresh.feed(&c, random_tokens(37, kVocabulary, 3), 37);
  require_same(rows, fresh.feed(&c, tail, 9), "the original after its copy went on");
  Conversation d = fresh.begin();
  fresh.feed(&d, random_tokens(37, kVocabulary, 3), 37);
  require_same(copied, fresh.feed(&d, other, 9), "the copy");
}

void rollback(Trial& trial) {
  const ToySetup setup(trial);
  GraphBuilder graph;
  build_toy(&graph, {.window = 20});
  const auto prompt = random_tokens(30, kVocabulary, 6), tail = random_tokens(7, kVocabulary, 7);
  Runner straight(setup.device, &graph);
  Conversation a = straight.begin();
  straight.feed(&a, prompt, 30);
  const auto truth = straight.feed(&a, tail, 7);
  Runner runner(setup.device, &graph);
  Conversation b = runner.begin();
  runner.feed(&b, prompt, 30);
  runner.feed(&b, random_tokens(12, kVocabulary, 8), 12);  // guesses that did not stand
  b.length = 30;
  require_same(runner.feed(&b, tail, 7), truth, "after twelve tokens were taken back");
}

// Pages out, and into another store: the conversation goes on as before.
void travel(Trial& trial) {
  const ToySetup setup(trial);
  GraphBuilder graph;
  build_toy(&graph, {.window = 20});
  const auto prompt = random_tokens(37, kVocabulary, 9), tail = random_tokens(5, kVocabulary, 10);
  Runner from(setup.device, &graph), to(setup.device, &graph);
  Conversation a = from.begin(), b = to.begin();
  from.feed(&a, prompt, 37);
  b.length = a.length;
  ErrorText error;
  for (uint32_t g = 0; g < a.pages.size(); ++g) {
    std::vector<uint8_t> bytes(from.page_bytes(g) + 16, 0xC5);
    for (const uint32_t page : a.pages[g]) {
      b.pages[g].push_back(to.new_page(g));
      GAINZ_REQUIRE(setup.device->kv_export_page(setup.device.get(), from.kv(), g, page, bytes.data(), bytes.size() - 16,
                                                 error.get()) == GAINZ_STATUS_OK,
                    "kv_export_page: %s", error.text().c_str());
      for (size_t i = bytes.size() - 16; i < bytes.size(); ++i)
        GAINZ_REQUIRE(bytes[i] == 0xC5, "kv_export_page wrote beyond the page");
      GAINZ_REQUIRE(setup.device->kv_import_page(setup.device.get(), to.kv(), g, b.pages[g].back(), bytes.data(),
                                                 bytes.size() - 16, error.get()) == GAINZ_STATUS_OK,
                    "kv_import_page: %s", error.text().c_str());
    }
    GAINZ_REQUIRE(setup.device->kv_export_page(setup.device.get(), from.kv(), g, 1, bytes.data(), bytes.size() - 17,
                                               error.get()) == GAINZ_STATUS_INVALID,
                  "a page of the wrong size is exported");
    GAINZ_REQUIRE(setup.device->kv_export_page(setup.device.get(), from.kv(), g, 64, bytes.data(), bytes.size() - 16,
                                               error.get()) == GAINZ_STATUS_INVALID,
                  "a page that does not exist is exported");
  }
  require_same(to.feed(&b, tail, 5), from.feed(&a, tail, 5), "from imported pages");
}

// The canonical layout is what the scalar kernels say: a conversation moves to them and goes on.
void layout(Trial& trial) {
  const ToySetup setup(trial);
  const Plugin scalar(trial.host, gainz_reference_query);
  const Device truth_device(scalar);
  GraphBuilder graph;
  build_toy(&graph, {.window = 20});
  const auto prompt = random_tokens(37, kVocabulary, 11), tail = random_tokens(5, kVocabulary, 12);
  Runner from(setup.device, &graph), to(truth_device, &graph), straight(truth_device, &graph);
  Conversation a = from.begin(), b = to.begin(), c = straight.begin();
  from.feed(&a, prompt, 37);
  straight.feed(&c, prompt, 37);
  b.length = a.length;
  ErrorText error;
  for (uint32_t g = 0; g < a.pages.size(); ++g) {
    std::vector<uint8_t> bytes(from.page_bytes(g));
    for (const uint32_t page : a.pages[g]) {
      b.pages[g].push_back(to.new_page(g));
      GAINZ_REQUIRE(setup.device->kv_export_page(setup.device.get(), from.kv(), g, page, bytes.data(), bytes.size(),
                                                 error.get()) == GAINZ_STATUS_OK,
                    "kv_export_page: %s", error.text().c_str());
      GAINZ_REQUIRE(truth_device->kv_import_page(truth_device.get(), to.kv(), g, b.pages[g].back(), bytes.data(), bytes.size(),
                                                 error.get()) == GAINZ_STATUS_OK,
                    "the scalar kernels refuse the page: %s", error.text().c_str());
    }
  }
  require_near(to.feed(&b, tail, 5), straight.feed(&c, tail, 5), model_bound(GAINZ_TYPE_F32),
               "the scalar kernels on its pages");
}

// Against the scalar kernels, whose pages have the same types.
void judge(Trial& trial, const ToySetup& setup, const ToyShape& shape, const RunnerOptions& options, const char* what) {
  const Plugin scalar(trial.host, gainz_reference_query);
  const Device truth_device(scalar);
  GraphBuilder graph;
  build_toy(&graph, shape);
  setup.require_claims(graph);
  for (const uint8_t phase : {GAINZ_PHASE_PROMPT, GAINZ_PHASE_GENERATED}) {
    Runner runner(setup.device, &graph, options), truth(truth_device, &graph, options);
    Conversation a = runner.begin(), b = truth.begin();
    const auto prompt = random_tokens(75, shape.vocabulary, 13);
    auto rows = runner.step({{&a, prompt, true, phase}}), expected = truth.step({{&b, prompt, true, phase}});
    require_near(
        rows, expected,
        model_bound(shape.weight_type) + (options.k_type == GAINZ_TYPE_Q8_0 || options.v_type == GAINZ_TYPE_Q8_0 ? 0.01 : 0),
        what);
    require_near(runner.step({{&a, {3}, true, GAINZ_PHASE_GENERATED}}), truth.step({{&b, {3}, true, GAINZ_PHASE_GENERATED}}),
                 model_bound(shape.weight_type) + 0.01, what);
  }
}

void types(Trial& trial) {
  const ToySetup setup(trial);
  constexpr uint32_t kTypes[] = {GAINZ_TYPE_F32, GAINZ_TYPE_F16, GAINZ_TYPE_BF16, GAINZ_TYPE_Q8_0};
  std::string claimed;
  for (const uint32_t k : kTypes) {
    for (const uint32_t v : kTypes) {
      if (k >= 32 || v >= 32 || (setup.kv_types >> k & 1) == 0 || (setup.kv_types >> v & 1) == 0) continue;
      const std::string name = std::string(kv_name(k)) + "/" + kv_name(v);
      judge(trial, setup, {.window = 20}, {.k_type = k, .v_type = v}, name.c_str());
      claimed += (claimed.empty() ? "" : " ") + name;
    }
  }
  GAINZ_REQUIRE(!claimed.empty(), "the device claims no type of pages (kv_types %u)", setup.kv_types);
  trial.note("%s", claimed.c_str());
}

void windows(Trial& trial) {
  for (const uint32_t window : {1u, 5u, 16u, 17u, 40u}) {
    const ToySetup setup(trial, {.window = window});
    judge(trial, setup, {.window = window}, {}, ("window " + std::to_string(window)).c_str());
  }
}

// Pages that no window reaches any more are scratch in the table: nothing of them may be read.
void passed_pages(Trial& trial) {
  const ToySetup setup(trial);
  GraphBuilder graph;
  build_toy(&graph, {.window = 20});
  Runner runner(setup.device, &graph);
  const auto prompt = random_tokens(75, kVocabulary, 14);
  Conversation a = runner.begin();
  runner.feed(&a, prompt, 75);
  Conversation b = a;
  const auto truth = runner.step({{&a, {3}, true, GAINZ_PHASE_GENERATED}});
  for (size_t page = 0; (page + 1) * GAINZ_PAGE_TOKENS + 20 <= 75; ++page) b.pages[1][page] = GAINZ_SCRATCH_PAGE;
  require_same(runner.step({{&b, {3}, true, GAINZ_PHASE_GENERATED}}), truth, "with passed pages taken away");
}

void shapes(Trial& trial) {
  const ToyShape shapes[] = {{.vocabulary = 97, .num_heads = 6, .num_kv_heads = 1, .head_dim = 40, .ffn = 70},
                             {.num_heads = 12, .num_kv_heads = 1, .head_dim = 8},
                             {.num_heads = 4, .num_kv_heads = 4, .head_dim = 64, .softcap = 20},
                             {.num_heads = 8, .num_kv_heads = 2, .head_dim = 32, .qk_norm = true}};
  for (const ToyShape& shape : shapes) {
    const ToySetup setup(trial, shape);
    judge(trial, setup, shape, {},
          ("heads " + std::to_string(shape.num_heads) + ":" + std::to_string(shape.num_kv_heads) + " of " +
           std::to_string(shape.head_dim))
              .c_str());
  }
}

}  // namespace

void add_kv_tests(std::vector<Test>& tests) {
  tests.push_back({"kv.permutation", "where the pages lie changes no bit", permutation});
  tests.push_back({"kv.copy", "a copy of pages is apart from its original", copy});
  tests.push_back({"kv.rollback", "tokens that are taken back and written over leave no trace", rollback});
  tests.push_back({"kv.travel", "exported and imported pages give the same bits", travel});
  tests.push_back({"kv.layout", "exported pages have the canonical layout", layout});
  tests.push_back({"kv.shapes", "attention as the scalar kernel for head counts and sizes of many kinds", shapes, 60});
  tests.push_back({"kv.types", "each type of K and V that the device claims, apart", types, 60});
  tests.push_back({"kv.windows", "windows of every size", windows, 60});
  tests.push_back({"kv.passed_pages", "pages that a window has passed are not read", passed_pages});
}

}  // namespace gainz::conform
