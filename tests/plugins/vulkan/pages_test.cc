// Pages and steps on the software device: the same bits however a prompt is cut and whatever shares its step; pages that travel
// to the reference and back; broken steps; memory that is staged, short, or shown in pieces.
#include <cstring>
#include <thread>

#include "vulkan_test.h"

namespace gainz::test {
namespace {

class VulkanPages : public VulkanTest {};

TEST_F(VulkanPages, OneChunkOrMany) {
  const std::vector<int32_t> tokens = random_tokens(45, 96, 1);
  std::vector<ToyShape> shapes = {ToyShape{.window = 20, .softcap = 30, .qk_norm = true}, ToyShape{.num_experts = 5}};
  for (const uint32_t type : {GAINZ_TYPE_F16, GAINZ_TYPE_Q4_1, GAINZ_TYPE_Q8_0, GAINZ_TYPE_Q5_1})
    if (!kSanitized) shapes.push_back(ToyShape{.weight_type = type});
  for (const char* profile : profiles()) {
    const OptionList options = {{"profile", profile}};
    for (size_t i = 0; i < shapes.size(); ++i) {
      const Rows whole = answer(*plugin_, shapes[i], {}, tokens, 45, options);
      for (const size_t chunk : {size_t{1}, size_t{17}})
        EXPECT_EQ(answer(*plugin_, shapes[i], {}, tokens, chunk, options), whole) << i << " " << chunk << profile;
      EXPECT_EQ(answer(*plugin_, shapes[i], {.backwards = true}, tokens, 16, options), whole) << i << profile;
      EXPECT_EQ(answer(*plugin_, shapes[i], {.one_slice_a_run = true}, tokens, 45, options), whole) << i << profile;
    }
  }
}

TEST_F(VulkanPages, AloneOrInABatch) {
  for (const ToyShape& shape :
       {ToyShape{.weight_type = GAINZ_TYPE_Q4_1}, ToyShape{.weight_type = GAINZ_TYPE_Q8_0, .num_experts = 5}}) {
    Device device(*plugin_, with({}));
    GraphBuilder graph;
    build_toy(&graph, shape);
    Runner runner(device, &graph, {.num_pages = 200});
    for (const size_t others : {1u, 4u, 15u}) {
      Conversation alone = runner.begin(), shared = runner.begin();
      std::vector<Conversation> crowd(others);
      const std::vector<int32_t> prompt = random_tokens(21, 96, 9);
      Rows want = runner.step({{&alone, prompt}});
      std::vector<Chunk> chunks;
      for (size_t i = 0; i < others; ++i) {
        crowd[i] = runner.begin();
        chunks.push_back({&crowd[i], random_tokens(1 + i % 5, 96, static_cast<uint32_t>(i))});
      }
      chunks.insert(chunks.begin() + static_cast<ptrdiff_t>(others / 2), Chunk{&shared, prompt});
      Rows got = runner.step(chunks);
      EXPECT_EQ(got[others / 2], want[0]) << others;
      for (int32_t token : {5, 17}) {
        want = runner.step({{&alone, {token}}});
        for (Chunk& chunk : chunks) chunk.tokens = {chunk.conversation == &shared ? token : 40};
        got = runner.step(chunks);
        EXPECT_EQ(got[others / 2], want[0]) << others;
      }
    }
  }
}

TEST_F(VulkanPages, TravelToTheReferenceAndBack) {
  for (const char* memory : {"auto", "staged"}) {
    for (const uint32_t type : {GAINZ_TYPE_F32, GAINZ_TYPE_F16, GAINZ_TYPE_Q8_0}) {
      const RunnerOptions options{.k_type = type, .v_type = type};
      Device device(*plugin_, with({{"memory", memory}}));
      GraphBuilder graph;
      build_toy(&graph, {.window = 20});
      Runner runner(device, &graph, options);
      for (uint32_t group = 0; group < graph.groups().size(); ++group) {
        std::vector<uint8_t> page(runner.page_bytes(group)), back(page.size());
        for (size_t i = 0; i < page.size(); ++i) page[i] = static_cast<uint8_t>(i * 7 + i / 251);
        ASSERT_EQ(device->kv_import_page(device.get(), runner.kv(), group, 3, page.data(), page.size(), nullptr),
                  GAINZ_STATUS_OK);
        const gainz_page_copy copies[] = {{3, 5}, {3, 6}, {7, 7}};
        ASSERT_EQ(device->kv_copy_pages(device.get(), runner.kv(), group, copies, 3, nullptr), GAINZ_STATUS_OK);
        ASSERT_EQ(device->kv_export_page(device.get(), runner.kv(), group, 6, back.data(), back.size(), nullptr),
                  GAINZ_STATUS_OK);
        EXPECT_EQ(back, page);
        EXPECT_EQ(device->kv_export_page(device.get(), runner.kv(), group, 5, back.data(), back.size() - 1, nullptr),
                  GAINZ_STATUS_INVALID);
        EXPECT_EQ(device->kv_export_page(device.get(), runner.kv(), group, 999, back.data(), back.size(), nullptr),
                  GAINZ_STATUS_INVALID);
        const gainz_page_copy beyond{3, 64};
        EXPECT_EQ(device->kv_copy_pages(device.get(), runner.kv(), group, &beyond, 1, nullptr), GAINZ_STATUS_INVALID);
      }
    }
  }
}

// A conversation that began on another backend continues here through its exported pages: the same bits as from any other
// import of those pages, and the other backend's own logits but for sums in another order, or activations rounded to 8 bits.
TEST_F(VulkanPages, AConversationMovesOver) {
  const std::vector<int32_t> tokens = random_tokens(40, 96, 5);
  const std::vector<int32_t> head(tokens.begin(), tokens.begin() + 35), tail(tokens.begin() + 35, tokens.end());
  for (const char* name : {"reference", "onednn"}) {
    if (!std::filesystem::exists(plugin_path(GAINZ_BUILD_DIR, name))) continue;  // built without it
    const Plugin other(host_, plugin_path(GAINZ_BUILD_DIR, name));
    const bool is_rounded = std::string(name) == "onednn";
    for (const uint32_t type : {GAINZ_TYPE_F32, GAINZ_TYPE_F16, GAINZ_TYPE_Q8_0}) {
      const RunnerOptions options{.k_type = type, .v_type = type};
      const ToyShape shape{.weight_type = GAINZ_TYPE_Q8_0, .window = 20};
      Device from_device(other), to_device(*plugin_, with({}));
      GraphBuilder a, b;
      build_toy(&a, shape);
      build_toy(&b, shape);
      Runner from(from_device, &a, options), to(to_device, &b, options);
      Conversation c = from.begin();
      from.feed(&c, head, 35);
      Rows answers[2];
      for (Rows& rows : answers) {
        Conversation moved = to.begin();
        moved.length = c.length;
        for (uint32_t group = 0; group < c.pages.size(); ++group) {
          for (const uint32_t page : c.pages[group]) {
            std::vector<uint8_t> bytes(from.page_bytes(group));
            ASSERT_EQ(
                from_device->kv_export_page(from_device.get(), from.kv(), group, page, bytes.data(), bytes.size(), nullptr),
                GAINZ_STATUS_OK);
            moved.pages.resize(c.pages.size());
            moved.pages[group].push_back(to.new_page(group));
            ASSERT_EQ(to_device->kv_import_page(to_device.get(), to.kv(), group, moved.pages[group].back(), bytes.data(),
                                                bytes.size(), nullptr),
                      GAINZ_STATUS_OK);
          }
        }
        rows = to.feed(&moved, tail, 1);
      }
      EXPECT_EQ(answers[0], answers[1]);
      EXPECT_LT(worst(answers[0], from.feed(&c, tail, 1)), is_rounded ? 0.04 : type == GAINZ_TYPE_Q8_0 ? 5e-3 : 5e-4) << name;
    }
  }
}

TEST_F(VulkanPages, ForksOfAConversationGoTheirOwnWay) {
  Device device(*plugin_, with({}));
  GraphBuilder graph;
  build_toy(&graph, {});
  Runner runner(device, &graph);
  Conversation a = runner.begin();
  runner.feed(&a, random_tokens(20, 96, 3), 20);
  Conversation b = runner.fork(a);
  const Rows first = runner.step({{&a, {7}}});
  runner.step({{&a, {9}}});
  EXPECT_EQ(runner.step({{&b, {7}}}), first);
}

TEST_F(VulkanPages, RefusesBrokenSteps) {
  Device device(*plugin_, with({}));
  GraphBuilder graph;
  build_toy(&graph, {});
  Runner runner(device, &graph);
  Conversation c = runner.begin();
  const Rows want = runner.step({{&c, random_tokens(20, 96, 4), true}});
  uint64_t ticket = 0;
  const gainz_step good = *runner.last_step();
  const auto run = [&](const gainz_step& step, uint32_t first = 0, uint32_t slices = 1) {
    const gainz_status status = device->run(device.get(), runner.program(), &step, first, slices, &ticket, nullptr);
    if (status == GAINZ_STATUS_OK) {
      EXPECT_EQ(device->wait(device.get(), ticket, UINT64_MAX, nullptr), GAINZ_STATUS_OK);
    }
    return status;
  };
  const auto broken = [&](auto change) {
    gainz_step step = good;
    change(&step);
    return run(step);
  };
  EXPECT_EQ(broken([](gainz_step* s) { s->num_tokens = 0; }), GAINZ_STATUS_INVALID);
  EXPECT_EQ(broken([](gainz_step* s) { s->num_tokens = 129; }), GAINZ_STATUS_INVALID);
  EXPECT_EQ(broken([](gainz_step* s) { s->num_sequences = 17; }), GAINZ_STATUS_INVALID);
  EXPECT_EQ(broken([](gainz_step* s) { s->tokens = nullptr; }), GAINZ_STATUS_INVALID);
  EXPECT_EQ(broken([](gainz_step* s) { s->pages = nullptr; }), GAINZ_STATUS_INVALID);
  EXPECT_EQ(broken([](gainz_step* s) { s->outputs = nullptr; }), GAINZ_STATUS_INVALID);
  const auto with_value = [&](auto& array, size_t i, auto value) {
    const auto old = array[i];
    array[i] = static_cast<std::remove_cvref_t<decltype(old)>>(value);
    const gainz_status status = run(good);
    array[i] = old;
    return status;
  };
  EXPECT_EQ(with_value(runner.tokens, 3, 96), GAINZ_STATUS_INVALID);
  EXPECT_EQ(with_value(runner.tokens, 3, -1), GAINZ_STATUS_INVALID);
  EXPECT_EQ(with_value(runner.positions, 3, 4), GAINZ_STATUS_INVALID);
  EXPECT_EQ(with_value(runner.slots[0], 3, 64 * 16), GAINZ_STATUS_INVALID);
  EXPECT_EQ(with_value(runner.tables[0], 1, 64), GAINZ_STATUS_INVALID);
  EXPECT_EQ(with_value(runner.contexts, 0, 16 * 16 + 1), GAINZ_STATUS_INVALID);
  EXPECT_EQ(with_value(runner.rows, 5, 4), GAINZ_STATUS_INVALID);
  EXPECT_EQ(run(good, runner.num_slices(), 1), GAINZ_STATUS_INVALID);
  EXPECT_EQ(run(good, 0, runner.num_slices() + 1), GAINZ_STATUS_INVALID);
  EXPECT_EQ(run(good, 1, 1), GAINZ_STATUS_INVALID);
  ASSERT_EQ(run(good, 0, 1), GAINZ_STATUS_OK);
  ASSERT_EQ(run(good, 0, runner.num_slices()), GAINZ_STATUS_OK);  // the step before was dropped
  EXPECT_EQ(std::memcmp(runner.output_bytes[0].data(), want[0].data(), want[0].size() * 4), 0);
  uint32_t done = 0;
  EXPECT_EQ(device->poll(device.get(), ticket + 1, &done, nullptr), GAINZ_STATUS_INVALID);
  EXPECT_EQ(device->poll(device.get(), ticket, &done, nullptr), GAINZ_STATUS_OK);
  EXPECT_EQ(done, 1u);
}

// Steps beyond what a program keeps in the queue are told to come later; polling brings outputs home as waiting does.
TEST_F(VulkanPages, QueuesStepsAndPolls) {
  Device device(*plugin_, with({}));
  GraphBuilder graph;
  build_toy(&graph, {});
  Runner runner(device, &graph);
  Conversation c = runner.begin();
  const Rows want = runner.step({{&c, random_tokens(64, 96, 4), true}});
  std::fill(runner.output_bytes[0].begin(), runner.output_bytes[0].end(), uint8_t{0xCD});
  uint64_t ticket = 0, last = 0;
  uint32_t num_queued = 0;
  for (; num_queued < 50; ++num_queued) {
    const gainz_status status =
        device->run(device.get(), runner.program(), runner.last_step(), 0, runner.num_slices(), &ticket, nullptr);
    if (status == GAINZ_STATUS_BUSY) break;
    ASSERT_EQ(status, GAINZ_STATUS_OK);
    EXPECT_GT(ticket, last);
    last = ticket;
  }
  EXPECT_GE(num_queued, 2u);
  uint32_t done = 0;
  while (done == 0) {
    ASSERT_EQ(device->poll(device.get(), last, &done, nullptr), GAINZ_STATUS_OK);
    std::this_thread::yield();
  }
  EXPECT_EQ(std::memcmp(runner.output_bytes[0].data(), want[0].data(), want[0].size() * 4), 0);
}

// Weights, activations and logits in several pieces, through memory that the host cannot map.
TEST_F(VulkanPages, BuffersInPieces) {
  const std::vector<int32_t> tokens = random_tokens(100, 900, 6);
  const ToyShape shape{.vocabulary = 900, .width = 256, .ffn = 512, .weight_type = GAINZ_TYPE_Q8_0};
  const Rows want = answer(*plugin_, shape, {}, tokens, 100);
  EXPECT_EQ(answer(*plugin_, shape, {}, tokens, 100, {{"memory", "staged"}}), want);
  EXPECT_EQ(answer(*plugin_, shape, {}, tokens, 100, {{"max_buffer_range_bytes", "262144"}}), want);
  EXPECT_EQ(answer(*plugin_, shape, {}, tokens, 100, {{"max_buffer_range_bytes", "400000"}, {"memory", "staged"}}), want);
  const ToyShape experts{.width = 128, .ffn = 512, .weight_type = GAINZ_TYPE_Q8_0, .num_experts = 7};
  const std::vector<int32_t> few = random_tokens(20, 96, 6);
  EXPECT_EQ(answer(*plugin_, experts, {}, few, 20, {{"max_buffer_range_bytes", "262144"}}),
            answer(*plugin_, experts, {}, few, 20));
  EXPECT_THROW(answer(*plugin_, experts, {}, few, 20, {{"max_buffer_range_bytes", "65536"}}), std::runtime_error);
}

// Every amount of memory either does, or is refused with a sentence; nothing is left behind.
TEST_F(VulkanPages, OutOfMemoryIsAStatus) {
  uint64_t limit = 60000;
  bool done = false;
  for (int i = 0; i < 40 && !done; ++i, limit += limit / (kSanitized ? 2 : 4)) {
    try {
      answer(*plugin_, {}, {}, random_tokens(5, 96, 1), 5, {{"memory_limit_bytes", std::to_string(limit)}});
      done = true;
    } catch (const std::runtime_error& e) {
      EXPECT_THAT(e.what(), ::testing::HasSubstr("status 4")) << limit;
      EXPECT_THAT(e.what(), ::testing::HasSubstr("limit of " + std::to_string(limit))) << limit;
    }
  }
  EXPECT_TRUE(done);
}

TEST_F(VulkanPages, LoadingStopsWhenAsked) {
  Device device(*plugin_, with({}));
  GraphBuilder graph;
  build_toy(&graph, {});
  graph.cancel_after = 3;
  gainz_model* model = nullptr;
  EXPECT_EQ(device->model_create(device.get(), graph.graph(), graph.weights(), &model, nullptr), GAINZ_STATUS_CANCELLED);
}

TEST_F(VulkanPages, UnknownOptionsAndDriversAreNamed) {
  try {
    Device device(*plugin_, {{"colour", "blue"}});
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("option colour = \"blue\""));
  }
  EXPECT_THROW(Device(*plugin_, {{"memory_limit_bytes", "12x"}}), std::runtime_error);
  EXPECT_THROW(Device(*plugin_, {}, 63), std::runtime_error);
  setenv("VK_DRIVER_FILES", "/nowhere.json", 1);
  setenv("VK_ICD_FILENAMES", "/nowhere.json", 1);
  try {
    Device device(*plugin_);
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("no driver (ICD)"));
  }
  uint32_t count = 7;
  EXPECT_EQ(plugin_->table().device_list(host_.get(), nullptr, 0, 0, &count, nullptr), GAINZ_STATUS_NOT_FOUND);
}

}  // namespace
}  // namespace gainz::test
