// What the tests of the C API share: a runtime that closes itself, the tiny model in a file of its own, an answer read to its
// end.
#pragma once

#include <dirent.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "gainz/gainz.h"
#include "support/tiny_model.h"

namespace gainz::test {

inline size_t count_folder(const char* path) {  // entries, "." and ".." not counted
  size_t count = 0;
  DIR* folder = opendir(path);
  if (!folder) return 0;
  while (const dirent* entry = readdir(folder)) count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}
inline size_t num_threads_alive() { return count_folder("/proc/self/task"); }
inline size_t num_files_open() { return count_folder("/proc/self/fd") - 1; }  // the folder itself is one

inline std::string plugin_folder() { return GAINZ_BUILD_DIR "/lib/gainz/plugins"; }

// A file that goes away with it.
class TinyFile {
 public:
  explicit TinyFile(const TinyModelOptions& options = {}) : TinyFile(tiny_model(options)) {}
  explicit TinyFile(const GgufWriter& writer) {
    char name[] = "/tmp/gainz_api_XXXXXX";
    const int fd = mkstemp(name);
    if (fd >= 0) close(fd);
    path = name;
    EXPECT_TRUE(writer.write(path));
  }
  ~TinyFile() { unlink(path.c_str()); }
  TinyFile(const TinyFile&) = delete;
  TinyFile& operator=(const TinyFile&) = delete;
  std::string path;
};

inline const TinyFile& tiny_file() {  // one for the whole program
  static const TinyFile file;
  return file;
}

struct Answer {
  gainz_code code = GAINZ_BUSY;  // BUSY: no last event came
  uint32_t reason = 0;
  std::string text, error;
  std::vector<int32_t> ids;
  std::vector<float> logits;  // of all LOGITS events, one after the other
  std::vector<float> embedding;
  uint32_t num_prompt = 0, num_cached = 0, num_generated = 0, num_preemptions = 0, num_started = 0, num_done = 0,
           num_prompt_logprobs = 0;
  uint64_t seed = 0;
  std::vector<float> logprobs;  // of each token, its alternatives behind it
  uint32_t num_drafted[GAINZ_DRAFT_ROOM] = {}, num_accepted[GAINZ_DRAFT_ROOM] = {};

  void take(const gainz_event& e) {
    EXPECT_EQ(num_done, 0u) << "an event after the last";
    if (e.kind == GAINZ_EVENT_STARTED) ++num_started;
    if (e.kind == GAINZ_EVENT_PROMPT_LOGPROB) ++num_prompt_logprobs;
    if (e.kind == GAINZ_EVENT_TOKEN) {
      ids.push_back(e.id);
      logprobs.push_back(e.logprob);
      for (uint32_t i = 0; i < e.num_top; ++i) logprobs.insert(logprobs.end(), {float(e.top[i].id), e.top[i].logprob});
    }
    if (e.kind == GAINZ_EVENT_TOKEN || e.kind == GAINZ_EVENT_DONE) text.append(e.text, e.text_bytes);
    if (e.kind == GAINZ_EVENT_LOGITS) logits.insert(logits.end(), e.values, e.values + e.num_values);
    if (e.kind == GAINZ_EVENT_EMBEDDING) embedding.assign(e.values, e.values + e.num_values);
    if (e.kind != GAINZ_EVENT_DONE) return;
    ++num_done;
    code = e.code;
    reason = e.finish_reason;
    error = e.error;
    num_prompt = e.num_prompt_tokens;
    num_cached = e.num_cached_tokens;
    num_generated = e.num_generated_tokens;
    num_preemptions = e.num_preemptions;
    seed = e.seed;
    std::copy_n(e.num_drafted, GAINZ_DRAFT_ROOM, num_drafted);
    std::copy_n(e.num_accepted, GAINZ_DRAFT_ROOM, num_accepted);
  }
};

// A request with storage for what it points to. Greedy, with a seed, 8 tokens, unless changed.
struct Ask {
  gainz_request_config config;
  std::vector<int32_t> ids;
  std::string text;
  std::vector<uint32_t> positions;
  std::vector<int32_t> prediction;

  Ask() {
    gainz_request_config_init(&config);
    config.sampling.temperature = 0;
    config.sampling.has_seed = 1;
    config.sampling.max_tokens = 8;
  }
  static Ask prompt(std::vector<int32_t> prompt_ids, int32_t max_tokens = 8) {
    Ask ask;
    ask.ids = std::move(prompt_ids);
    ask.config.sampling.max_tokens = max_tokens;
    return ask;
  }
  static Ask chat(std::string messages_json, int32_t max_tokens = 8) {
    Ask ask;
    ask.text = std::move(messages_json);
    ask.config.sampling.max_tokens = max_tokens;
    return ask;
  }
  static Ask logits(std::vector<int32_t> prompt_ids, std::vector<uint32_t> rows, size_t num_generated = 0) {
    Ask ask = prompt(std::move(prompt_ids));
    ask.positions = std::move(rows);
    ask.config.kind = GAINZ_REQUEST_LOGITS;
    ask.config.num_generated_ids = num_generated;
    return ask;
  }
  const gainz_request_config* view(gainz_model_id model) {
    config.model = model;
    if (!text.empty()) config.messages_json = text.c_str();
    if (!ids.empty()) config.prompt_ids = ids.data(), config.num_prompt_ids = ids.size();
    if (!prediction.empty()) config.prediction_ids = prediction.data(), config.num_prediction_ids = prediction.size();
    if (!positions.empty()) config.positions = positions.data(), config.num_positions = positions.size();
    return &config;
  }
};

// Pseudo-random ids without the three control tokens.
inline std::vector<int32_t> some_ids(size_t count, uint64_t seed) {
  std::vector<int32_t> ids(count);
  for (size_t i = 0; i < count; ++i) ids[i] = 3 + int32_t((tiny_uniform(seed, 77, i) + 1) / 2 * (kTinyVocab - 3.001f));
  return ids;
}

class TestRuntime {
 public:
  // change(gainz_runtime_config&). Ticks by itself, on one thread, on this build's plugins.
  template <class Change>
  explicit TestRuntime(Change change) {
    gainz_runtime_config config;
    gainz_runtime_config_init(&config);
    config.thread_mode = GAINZ_THREADS_TICK;
    config.num_threads = 1;
    const std::string folder = plugin_folder();
    config.plugin_path = folder.c_str();
    change(config);
    is_ticking_ = config.thread_mode == GAINZ_THREADS_TICK;
    EXPECT_EQ(gainz_runtime_create(&config, &handle, error, sizeof error), GAINZ_OK) << error;
  }
  TestRuntime() : TestRuntime([](gainz_runtime_config&) {}) {}
  ~TestRuntime() { gainz_runtime_destroy(handle); }
  TestRuntime(const TestRuntime&) = delete;
  TestRuntime& operator=(const TestRuntime&) = delete;
  operator gainz_runtime*() const { return handle; }

  template <class Change>
  gainz_code try_load(const std::string& path, gainz_model_id* out_model, Change change) {
    gainz_model_config config;
    gainz_model_config_init(&config);
    config.path = path.c_str();
    config.backend = "reference";
    config.max_sequences = 16;
    config.batch_tokens = 64;
    change(config);
    return gainz_model_load(handle, &config, out_model, error, sizeof error);
  }
  template <class Change>
  gainz_model_id load(const std::string& path, Change change) {
    gainz_model_id model = 0;
    EXPECT_EQ(try_load(path, &model, change), GAINZ_OK) << error;
    return model;
  }
  gainz_model_id load(const std::string& path = tiny_file().path) {
    return load(path, [](gainz_model_config&) {});
  }
  gainz_request_id submit(gainz_model_id model, Ask& ask) {
    gainz_request_id request = 0;
    code = gainz_submit(handle, ask.view(model), &request, error, sizeof error);
    return request;
  }
  // Reads one request to its end, at most 60 s.
  Answer finish(gainz_request_id request) {
    Answer answer;
    for (int empty = 0; answer.num_done == 0 && empty < 60000;) {
      if (is_ticking_) gainz_tick(handle, 1000000, nullptr, nullptr, 0);
      const gainz_event* event = nullptr;
      const gainz_code got = gainz_poll(handle, request, 1, &event);
      if (got == GAINZ_BUSY)
        ++empty;
      else if (got != GAINZ_OK)
        break;
      else
        answer.take(*event);
      gainz_event_release(handle, event);
    }
    return answer;
  }
  Answer ask(gainz_model_id model, Ask ask) {
    const gainz_request_id request = submit(model, ask);
    EXPECT_EQ(code, GAINZ_OK) << error;
    return code == GAINZ_OK ? finish(request) : Answer{};
  }
  // All at once; answers in the order of the requests.
  std::vector<Answer> ask_all(gainz_model_id model, std::vector<Ask> asks) {
    std::vector<gainz_request_id> requests;
    for (Ask& one : asks) {
      requests.push_back(submit(model, one));
      EXPECT_EQ(code, GAINZ_OK) << error;
    }
    std::vector<Answer> answers;
    for (const gainz_request_id request : requests) answers.push_back(finish(request));
    return answers;
  }
  gainz_model_stats stats(gainz_model_id model) {
    gainz_model_stats stats{sizeof(gainz_model_stats)};
    EXPECT_EQ(gainz_model_get_stats(handle, model, &stats), GAINZ_OK);
    return stats;
  }

  gainz_runtime* handle = nullptr;
  gainz_code code = GAINZ_OK;  // of the last submit
  char error[512] = "";

 private:
  bool is_ticking_ = true;
};

}  // namespace gainz::test
