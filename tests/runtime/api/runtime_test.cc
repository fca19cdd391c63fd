// gainz_runtime_*, gainz_tick, model handles, struct sizes, gainz_inspect.
#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "runtime/api/api_fixture.h"

namespace gainz::test {
namespace {

using Clock = std::chrono::steady_clock;

TEST(runtime, version_and_code_names) {
  EXPECT_STREQ(gainz_version(), GAINZ_VERSION);
  for (gainz_code code = GAINZ_OK; code <= GAINZ_INTERNAL; ++code) EXPECT_STRNE(gainz_code_name(code), "unknown");
  EXPECT_STREQ(gainz_code_name(-1), "unknown");
  EXPECT_STREQ(gainz_code_name(11), "unknown");
}

TEST(runtime, null_arguments_are_errors) {
  char error[128] = "";
  EXPECT_EQ(gainz_runtime_create(nullptr, nullptr, error, sizeof error), GAINZ_INVALID);
  EXPECT_STRNE(error, "");
  EXPECT_EQ(gainz_runtime_create(nullptr, nullptr, nullptr, 0), GAINZ_INVALID);
  gainz_runtime_destroy(nullptr);
  gainz_free(nullptr, nullptr);
  EXPECT_EQ(gainz_tick(nullptr, 0, nullptr, nullptr, 0), GAINZ_INVALID);
  EXPECT_EQ(gainz_plugin_load(nullptr, "x", nullptr, 0), GAINZ_INVALID);
  EXPECT_EQ(gainz_devices_refresh(nullptr, nullptr, 0), GAINZ_INVALID);
  EXPECT_EQ(gainz_plugin_count(nullptr), 0u);
  EXPECT_EQ(gainz_device_count(nullptr), 0u);
  EXPECT_EQ(gainz_model_load(nullptr, nullptr, nullptr, nullptr, 0), GAINZ_INVALID);
  EXPECT_EQ(gainz_model_unload(nullptr, 1, nullptr, 0), GAINZ_INVALID);
  EXPECT_EQ(gainz_submit(nullptr, nullptr, nullptr, nullptr, 0), GAINZ_INVALID);
  EXPECT_EQ(gainz_cancel(nullptr, 1), GAINZ_INVALID);
  EXPECT_EQ(gainz_poll(nullptr, 1, 0, nullptr), GAINZ_INVALID);
  gainz_event_release(nullptr, nullptr);

  TestRuntime runtime;
  const gainz_model_id model = runtime.load();
  gainz_model_id id = 5;
  EXPECT_EQ(gainz_model_load(runtime, nullptr, &id, error, sizeof error), GAINZ_INVALID);
  EXPECT_EQ(id, 0u);
  EXPECT_EQ(runtime.try_load(tiny_file().path, &id, [](gainz_model_config& c) { c.path = nullptr; }), GAINZ_INVALID);
  EXPECT_EQ(gainz_model_get(runtime, model, nullptr), GAINZ_INVALID);
  EXPECT_EQ(gainz_model_get_stats(runtime, model, nullptr), GAINZ_INVALID);
  EXPECT_EQ(gainz_poll(runtime, 0, 0, nullptr), GAINZ_INVALID);
  EXPECT_EQ(gainz_tokenize(runtime, model, nullptr, 1, 0, nullptr, nullptr, nullptr, 0), GAINZ_INVALID);
  EXPECT_EQ(gainz_detokenize(runtime, model, nullptr, 1, 0, nullptr, nullptr, nullptr, 0), GAINZ_INVALID);
  EXPECT_EQ(gainz_apply_template(runtime, model, nullptr, nullptr, nullptr, 0, nullptr, nullptr, nullptr, 0), GAINZ_INVALID);
  EXPECT_EQ(gainz_inspect(runtime, nullptr, nullptr, nullptr, nullptr, 0), GAINZ_INVALID);
  gainz_event_release(runtime, nullptr);
}

TEST(runtime, an_error_is_cut_at_a_whole_character) {
  TestRuntime runtime;
  for (size_t room = 0; room < 120; ++room) {
    char error[128];
    std::memset(error, 'x', sizeof error);
    EXPECT_EQ(gainz_plugin_load(runtime, "/nowhere/\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", error, room), GAINZ_NOT_FOUND);
    EXPECT_EQ(error[room], 'x');
    if (room == 0) continue;
    const size_t length = strnlen(error, room);
    ASSERT_LT(length, room);
    // Cut text ends before a character begins: the last lead byte has all that it announces.
    size_t lead = length;
    while (lead > 0 && (static_cast<unsigned char>(error[lead - 1]) & 0xC0) == 0x80) --lead;
    if (lead == 0) continue;
    const unsigned char c = static_cast<unsigned char>(error[lead - 1]);
    EXPECT_EQ(length - lead, c < 0x80 ? 0u : c < 0xE0 ? 1u : c < 0xF0 ? 2u : 3u) << room;
  }
}

TEST(runtime, config_values_are_checked) {
  gainz_runtime* handle = nullptr;
  char error[256];
  gainz_runtime_config config;
  const auto create = [&](auto change) {
    gainz_runtime_config_init(&config);
    config.num_threads = 1;
    change(config);
    const gainz_code code = gainz_runtime_create(&config, &handle, error, sizeof error);
    gainz_runtime_destroy(handle);
    return code;
  };
  EXPECT_EQ(create([](auto&) {}), GAINZ_OK);
  EXPECT_EQ(create([](auto& c) { c.thread_mode = 2; }), GAINZ_INVALID);
  EXPECT_EQ(create([](auto& c) { c.num_threads = 1025; }), GAINZ_LIMIT_EXCEEDED);
  EXPECT_NE(std::string(error).find("1024"), std::string::npos);
  EXPECT_EQ(create([](auto& c) { c.allocate = [](void*, size_t, size_t) -> void* { return nullptr; }; }), GAINZ_INVALID);
  EXPECT_EQ(create([](auto& c) { c.plugin_path = "/nowhere:::."; }), GAINZ_OK) << "a folder that is missing is no error";
  EXPECT_EQ(gainz_runtime_create(nullptr, &handle, error, sizeof error), GAINZ_OK) << error;
  gainz_runtime_destroy(handle);
}

// A struct of an older or newer program.
TEST(runtime, struct_sizes) {
  char error[256];
  gainz_runtime* handle = nullptr;
  gainz_runtime_config config{};
  EXPECT_EQ(gainz_runtime_create(&config, &handle, error, sizeof error), GAINZ_INVALID) << "struct_size 0";
  EXPECT_EQ(handle, nullptr);
  config.struct_size = 3;
  EXPECT_EQ(gainz_runtime_create(&config, &handle, error, sizeof error), GAINZ_INVALID);
  config.struct_size = 0xFFFFFFFF;
  EXPECT_EQ(gainz_runtime_create(&config, &handle, error, sizeof error), GAINZ_INVALID);
  gainz_runtime_config_init(&config);
  config.struct_size = offsetof(gainz_runtime_config, hook_ctx);  // a program that knows no hooks
  config.num_threads = 1;
  config.thread_mode = GAINZ_THREADS_TICK;
  config.allocate = [](void*, size_t, size_t) -> void* {
    ADD_FAILURE() << "read beyond struct_size";
    return nullptr;
  };
  ASSERT_EQ(gainz_runtime_create(&config, &handle, error, sizeof error), GAINZ_OK) << error;
  gainz_runtime_destroy(handle);

  struct Longer {
    gainz_runtime_config base;
    uint64_t more[4];
  } longer{};
  gainz_runtime_config_init(&longer.base);
  longer.base.struct_size = sizeof longer;
  longer.base.num_threads = 1;
  ASSERT_EQ(gainz_runtime_create(&longer.base, &handle, error, sizeof error), GAINZ_OK) << "a tail of zeros says nothing new";
  gainz_runtime_destroy(handle);
  longer.more[3] = 1;
  EXPECT_EQ(gainz_runtime_create(&longer.base, &handle, error, sizeof error), GAINZ_UNSUPPORTED);
  EXPECT_NE(std::string(error).find("gainz_runtime_config"), std::string::npos);

  TestRuntime runtime;
  const gainz_model_id model = runtime.load();
  struct LongInfo {
    gainz_model_stats base;
    uint64_t more;
  } info{};
  info.base.struct_size = sizeof info;
  info.more = 77;
  EXPECT_EQ(gainz_model_get_stats(runtime, model, &info.base), GAINZ_OK);
  EXPECT_EQ(info.more, 77u);
  EXPECT_EQ(info.base.struct_size, sizeof info);
  gainz_model_info partial{};
  partial.struct_size = 8;
  partial.context = 99;
  EXPECT_EQ(gainz_model_get(runtime, model, &partial), GAINZ_OK);
  EXPECT_EQ(partial.vocab_size, kTinyVocab);
  EXPECT_EQ(partial.context, 99u) << "beyond the caller's struct";
  partial.struct_size = 0;
  EXPECT_EQ(gainz_model_get(runtime, model, &partial), GAINZ_INVALID);

  Ask ask = Ask::prompt({5, 6}, 1);
  ask.config.struct_size = 8;
  EXPECT_EQ(runtime.submit(model, ask), 0u);
  EXPECT_NE(runtime.code, GAINZ_OK) << "no model, no prompt";
  ask.config.struct_size = sizeof(gainz_request_config);
  ask.config.sampling.struct_size = 0;
  EXPECT_EQ(runtime.submit(model, ask), 0u);
  EXPECT_EQ(runtime.code, GAINZ_INVALID);
  EXPECT_NE(std::string(runtime.error).find("sampling.struct_size"), std::string::npos) << runtime.error;
}

TEST(runtime, tick_with_one_thread_makes_none) {
  const size_t before = num_threads_alive();
  TestRuntime runtime;
  const gainz_model_id model = runtime.load();
  EXPECT_EQ(num_threads_alive(), before);
  Ask ask = Ask::prompt(some_ids(20, 1), 4);
  const gainz_request_id request = runtime.submit(model, ask);
  const gainz_event* event = nullptr;
  EXPECT_EQ(gainz_poll(runtime, request, -1, &event), GAINZ_BUSY) << "in tick mode a poll never waits";
  uint32_t pending = 9;
  EXPECT_EQ(gainz_tick(runtime, 10000000, &pending, nullptr, 0), GAINZ_OK);
  EXPECT_EQ(pending, 0u);
  EXPECT_EQ(num_threads_alive(), before);
  EXPECT_EQ(runtime.finish(request).ids.size(), 4u);
}

TEST(runtime, a_tick_works_for_its_budget) {
  TestRuntime runtime;
  const gainz_model_id model = runtime.load(TinyFile({.num_layers = 8}).path);
  Ask ask = Ask::prompt(some_ids(200, 1), 200);
  ask.config.sampling.ignore_eos = 1;
  ask.config.speculation.mode = GAINZ_SPECULATION_OFF;  // this model repeats itself: it would be done too soon
  const gainz_request_id request = runtime.submit(model, ask);
  uint32_t pending = 1, num_ticks = 0;
  EXPECT_EQ(gainz_tick(runtime, 0, &pending, nullptr, 0), GAINZ_OK);
  EXPECT_EQ(pending, 1u);
  EXPECT_EQ(runtime.stats(model).num_steps, 0u) << "a budget of 0 is one slice, not a step of many";
  double longest_ms = 0;
  for (const uint64_t budget_us : {500, 2000}) {
    for (int i = 0; i < 20 && pending; ++i, ++num_ticks) {
      const auto begin = Clock::now();
      ASSERT_EQ(gainz_tick(runtime, budget_us, &pending, nullptr, 0), GAINZ_OK);
      longest_ms = std::max(longest_ms, std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    }
  }
  EXPECT_EQ(pending, 1u);
  EXPECT_LT(longest_ms, 2000.0);  // a machine may be busy; the whole request takes far longer than that many slices
  const Answer answer = runtime.finish(request);
  EXPECT_EQ(answer.ids.size(), 200u);
  EXPECT_GT(num_ticks, 10u);
}

TEST(runtime, tick_is_refused_where_the_runtime_owns_the_thread) {
  const size_t before = num_threads_alive();
  {
    TestRuntime runtime([](gainz_runtime_config& c) { c.thread_mode = GAINZ_THREADS_OWN, c.num_threads = 2; });
    EXPECT_EQ(num_threads_alive(), before + 1) << "one worker beside the engine's thread";
    const gainz_model_id model = runtime.load();
    EXPECT_EQ(num_threads_alive(), before + 2);
    EXPECT_EQ(gainz_tick(runtime, 0, nullptr, runtime.error, sizeof runtime.error), GAINZ_INVALID);
    EXPECT_EQ(runtime.ask(model, Ask::prompt(some_ids(9, 1), 5)).ids.size(), 5u);
    EXPECT_EQ(gainz_model_unload(runtime, model, nullptr, 0), GAINZ_OK);
    EXPECT_EQ(num_threads_alive(), before + 1);
  }
  EXPECT_EQ(num_threads_alive(), before);
}

TEST(runtime, the_hosts_job_system_does_the_work) {
  struct Jobs {
    std::atomic<uint64_t> calls{0}, rows{0};
  } jobs;
  const size_t before = num_threads_alive();
  TestRuntime plain, runtime([&](gainz_runtime_config&c) {
    c.num_threads = 4;
    c.hook_ctx = &jobs;
    c.parallel_for = [](void* ctx, uint64_t count, uint64_t grain, void (*body)(void*, uint64_t, uint64_t, uint32_t),
                        void* arg) {
      auto& j = *static_cast<Jobs*>(ctx);
      ++j.calls;
      ASSERT_GT(grain, 0u);
      // In reverse and by changing workers, as a job system may.
      const uint64_t runs = (count + grain - 1) / grain;
      for (uint64_t r = runs; r-- > 0;) body(arg, r * grain, std::min(count, (r + 1) * grain), uint32_t(r % 4));
      j.rows += count;
    };
  });
  const gainz_model_id a = plain.load(), b = runtime.load();
  EXPECT_EQ(num_threads_alive(), before);
  EXPECT_EQ(plain.ask(a, Ask::prompt(some_ids(40, 2), 12)).ids, runtime.ask(b, Ask::prompt(some_ids(40, 2), 12)).ids);
  EXPECT_GT(jobs.calls.load(), 0u);
}

TEST(runtime, stale_ids_are_not_found) {
  TestRuntime runtime;
  const gainz_model_id first = runtime.load();
  Ask ask = Ask::prompt({5, 6, 7}, 1);
  const gainz_request_id request = runtime.submit(first, ask);
  EXPECT_EQ(runtime.finish(request).code, GAINZ_OK);
  const gainz_event* event = nullptr;
  EXPECT_EQ(gainz_poll(runtime, request, 0, &event), GAINZ_NOT_FOUND);
  EXPECT_EQ(event, nullptr);
  EXPECT_EQ(gainz_cancel(runtime, request), GAINZ_NOT_FOUND);
  const gainz_request_id next = runtime.submit(first, ask);
  EXPECT_NE(next, request) << "the slot is used again under another generation";
  EXPECT_EQ(gainz_poll(runtime, request, 0, &event), GAINZ_NOT_FOUND);
  EXPECT_EQ(runtime.finish(next).code, GAINZ_OK);

  EXPECT_EQ(gainz_model_unload(runtime, first, nullptr, 0), GAINZ_OK);
  EXPECT_EQ(gainz_model_unload(runtime, first, nullptr, 0), GAINZ_NOT_FOUND);
  const gainz_model_id second = runtime.load();
  EXPECT_NE(second, first);
  gainz_model_info info{sizeof(gainz_model_info)};
  EXPECT_EQ(gainz_model_get(runtime, first, &info), GAINZ_NOT_FOUND);
  EXPECT_EQ(gainz_model_get(runtime, second, &info), GAINZ_OK);
  runtime.submit(first, ask);
  EXPECT_EQ(runtime.code, GAINZ_NOT_FOUND);
  for (const uint64_t id : {uint64_t{0}, uint64_t{1}, UINT64_MAX, uint64_t{1} << 32, second + 1}) {
    EXPECT_EQ(gainz_model_get(runtime, id, &info), GAINZ_NOT_FOUND);
    EXPECT_EQ(gainz_cancel(runtime, id), GAINZ_NOT_FOUND);
    if (id != 0) {
      EXPECT_EQ(gainz_poll(runtime, id, 0, &event), GAINZ_NOT_FOUND);
    }
  }
}

TEST(runtime, a_load_is_stopped_by_its_progress_callback) {
  TestRuntime runtime;
  const size_t files = num_files_open();
  int num_calls = 0;
  gainz_model_id model = 0;
  const auto watch = [&](gainz_model_config& c) {
    c.progress_ctx = &num_calls;
    c.progress = [](void* ctx, const char* stage, double fraction) -> int32_t {
      EXPECT_NE(stage, nullptr);
      EXPECT_GE(fraction, 0.0);
      EXPECT_LE(fraction, 1.0);
      return ++*static_cast<int*>(ctx), 0;
    };
  };
  ASSERT_EQ(runtime.try_load(tiny_file().path, &model, watch), GAINZ_OK);
  ASSERT_GT(num_calls, 2);
  EXPECT_EQ(gainz_model_unload(runtime, model, nullptr, 0), GAINZ_OK);
  for (int stop_at = 1; stop_at <= num_calls; ++stop_at) {
    int left = stop_at;
    EXPECT_EQ(runtime.try_load(tiny_file().path, &model,
                               [&](gainz_model_config& c) {
                                 c.progress_ctx = &left;
                                 c.progress = [](void* ctx, const char*, double) -> int32_t {
                                   return --*static_cast<int*>(ctx) == 0;
                                 };
                               }),
              GAINZ_CANCELLED)
        << stop_at << " of " << num_calls;
    EXPECT_EQ(left, 0) << "called again after it said stop";
    EXPECT_EQ(model, 0u);
  }
  EXPECT_EQ(num_files_open(), files);
  EXPECT_EQ(runtime.ask(runtime.load(), Ask::prompt({5}, 1)).code, GAINZ_OK);
}

TEST(runtime, a_progress_callback_may_look_but_not_change) {
  TestRuntime runtime;
  gainz_model_id model = 0;
  struct Seen {
    gainz_runtime* runtime;
    gainz_code refresh, load_plugin;
  } seen{runtime, GAINZ_OK, GAINZ_OK};
  ASSERT_EQ(runtime.try_load(tiny_file().path, &model,
                             [&](gainz_model_config& c) {
                               c.progress_ctx = &seen;
                               c.progress = [](void* ctx, const char* stage, double) -> int32_t {
                                 auto& s = *static_cast<Seen*>(ctx);
                                 EXPECT_GT(gainz_plugin_count(s.runtime), 0u);
                                 if (std::string_view(stage) == "ready") return 0;  // the plugins are free again
                                 s.refresh = gainz_devices_refresh(s.runtime, nullptr, 0);
                                 s.load_plugin = gainz_plugin_load(s.runtime, "/nowhere.so", nullptr, 0);
                                 return 0;
                               };
                             }),
            GAINZ_OK);
  EXPECT_EQ(seen.refresh, GAINZ_BUSY);
  EXPECT_EQ(seen.load_plugin, GAINZ_BUSY);
  EXPECT_EQ(gainz_devices_refresh(runtime, nullptr, 0), GAINZ_OK);
}

TEST(runtime, model_config_values_are_checked) {
  TestRuntime runtime;
  gainz_model_id model = 0;
  const auto code = [&](auto change) { return runtime.try_load(tiny_file().path, &model, change); };
  const auto says = [&](const char* text) { return std::string(runtime.error).find(text) != std::string::npos; };
  EXPECT_EQ(code([](auto& c) { c.path = "/nowhere.gguf"; }), GAINZ_NOT_FOUND) << runtime.error;
  EXPECT_TRUE(says("/nowhere.gguf"));
  EXPECT_EQ(code([](auto& c) { c.backend = "nosuch"; }), GAINZ_NOT_FOUND);
  EXPECT_TRUE(says("nosuch") && says("reference")) << runtime.error;
  EXPECT_EQ(code([](auto& c) { c.backend = ""; }), GAINZ_INVALID);
  EXPECT_EQ(code([](auto& c) { c.fallback = "sometimes"; }), GAINZ_INVALID);
  EXPECT_EQ(code([](auto& c) { c.prefill = "loose"; }), GAINZ_INVALID) << runtime.error;
  EXPECT_EQ(code([](auto& c) { c.kv_type = "f64"; }), GAINZ_INVALID);
  EXPECT_EQ(code([](auto& c) { c.kv_type = "q8_0"; }), GAINZ_UNSUPPORTED) << "heads of 16 hold no block of 32";
  EXPECT_EQ(code([](auto& c) { c.context = 513; }), GAINZ_LIMIT_EXCEEDED);
  EXPECT_TRUE(says("513") && says("512")) << runtime.error;
  EXPECT_EQ(code([](auto& c) { c.max_sequences = 1025; }), GAINZ_LIMIT_EXCEEDED);
  EXPECT_EQ(code([](auto& c) { c.batch_tokens = 15; }), GAINZ_INVALID);
  EXPECT_EQ(code([](auto& c) { c.batch_tokens = 8193; }), GAINZ_INVALID);
  EXPECT_EQ(code([](auto& c) { c.kv_memory_bytes = 1; }), GAINZ_LIMIT_EXCEEDED);
  EXPECT_TRUE(says("kv_memory_bytes is 1") && says("need")) << runtime.error;
  EXPECT_EQ(code([](auto& c) { c.context = 100, c.kv_type = "f16", c.kv_type_v = "f32", c.no_mmap = 1; }), GAINZ_OK)
      << runtime.error;
  gainz_model_info info{sizeof(gainz_model_info)};
  ASSERT_EQ(gainz_model_get(runtime, model, &info), GAINZ_OK);
  EXPECT_EQ(info.context, 100u);
  EXPECT_EQ(info.context_length, 512u);
  EXPECT_STREQ(info.kv_type, "f16");
  EXPECT_STREQ(info.kv_type_v, "f32");
  EXPECT_STREQ(info.backend, "reference");
  EXPECT_STREQ(info.tokenizer, "bpe");
  EXPECT_EQ(info.has_chat_template, 1u);
  EXPECT_GT(info.weight_bytes_per_token, 0u);
  EXPECT_GT(info.kv_bytes, 0u);
}

TEST(runtime, warnings_reach_the_log) {
  std::string log;
  const auto listen = [&](gainz_runtime_config& c) {
    c.hook_ctx = &log;
    c.log = [](void* ctx, uint32_t level, const char* text) {
      EXPECT_LE(level, GAINZ_LOG_LEVEL_DEBUG);
      EXPECT_EQ(std::string(text).find('\n'), std::string::npos) << "one line";
      if (level <= GAINZ_LOG_LEVEL_WARNING) *static_cast<std::string*>(ctx) += std::string(text) + "\n";
    };
  };
  char folder[] = "/tmp/gainz_log_XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string manifest = std::string(folder) + "/onednn.plugin.toml";
  std::ofstream(manifest) << "name = \"onednn\"\nlibrary = \"missing.so\"\nabi = \"0.1\"\n";
  const std::string path = std::string(folder) + ":" + plugin_folder();
  {
    TestRuntime runtime([&](gainz_runtime_config& c) { listen(c), c.plugin_path = path.c_str(); });
    EXPECT_NE(log.find("taken"), std::string::npos) << log;  // the second onednn
    const gainz_model_id model = runtime.load(tiny_file().path, [](gainz_model_config& c) { c.backend = "auto"; });
    EXPECT_NE(log.find("missing.so"), std::string::npos) << "another backend than the first serves: " << log;
    gainz_model_info info{sizeof(gainz_model_info)};
    ASSERT_EQ(gainz_model_get(runtime, model, &info), GAINZ_OK);
    EXPECT_STREQ(info.backend, "reference");
  }
  unlink(manifest.c_str());
  rmdir(folder);
}

TEST(runtime, inspect_is_json) {
  TestRuntime runtime;
  GgufWriter writer = tiny_model({});
  writer.string("general.description", "a \"quoted\" \\ text\nwith \x01 and \xFF\xC3");
  writer.f32("odd.infinite", 1.0f / 0.0f);
  const TinyFile file(writer);
  char* json = nullptr;
  size_t num_bytes = 0;
  ASSERT_EQ(gainz_inspect(runtime, file.path.c_str(), &json, &num_bytes, runtime.error, sizeof runtime.error), GAINZ_OK)
      << runtime.error;
  const std::string text(json, num_bytes);
  gainz_free(runtime, json);
  // A small reader: nesting closes, strings are clean, and the known keys are there.
  std::string nesting;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    ASSERT_GE(c, 0x20) << "a control character at " << i;
    if (in_string && c == '\\')
      ++i;
    else if (c == '"')
      in_string = !in_string;
    else if (!in_string && (c == '{' || c == '['))
      nesting += c == '{' ? '}' : ']';
    else if (!in_string && (c == '}' || c == ']')) {
      ASSERT_FALSE(nesting.empty());
      ASSERT_EQ(nesting.back(), char(c));
      nesting.pop_back();
    }
  }
  EXPECT_TRUE(nesting.empty());
  EXPECT_FALSE(in_string);
  EXPECT_EQ(text.find("inf,"), std::string::npos) << "a bare inf is no JSON";
  for (const char* key : {"\"path\":", "\"architecture\":\"llama\"", "\"bytes\":", "\"metadata\":{", "\"num_tensors\":20",
                          "\"tensors\":[", "\"dims\":[64,320]", "\\u0001", "\xEF\xBF\xBD"})
    EXPECT_NE(text.find(key), std::string::npos) << key;
  EXPECT_EQ(gainz_inspect(runtime, "/nowhere", &json, &num_bytes, runtime.error, sizeof runtime.error), GAINZ_NOT_FOUND);
  EXPECT_EQ(gainz_inspect(runtime, "/dev/null", &json, &num_bytes, runtime.error, sizeof runtime.error), GAINZ_INVALID)
      << runtime.error;
}

}  // namespace
}  // namespace gainz::test
