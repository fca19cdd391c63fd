#include "server/api/ollama_options.h"

#include <gtest/gtest.h>

#include "server/api_error.h"

namespace gainz::host {
namespace {

namespace json = boost::json;

TEST(ServerOllamaOptions, GoDurations) {
  const std::pair<const char*, double> kGood[] = {
      {"5m", 300},    {"1h30m", 5400}, {"1.5h", 5400}, {"0", 0},         {"-1", -1}, {"-1m", -60}, {"0s", 0},
      {"100ms", 0.1}, {"1us", 1e-6},   {"1ns", 1e-9},  {"1h1m1s", 3661}, {"+2s", 2}, {"300", 300}, {"1\u00b5s", 1e-6}};
  for (const auto& [text, seconds] : kGood) {
    const std::optional<double> read = go_duration_seconds(text);
    ASSERT_TRUE(read) << text;
    EXPECT_DOUBLE_EQ(*read, seconds) << text;
  }
  for (const char* text : {"", "-", "m", "5 m", "soon", "5d", "1h30", "1..5s", ".", "nan", "inf", "1e3s", "--1", "5m "})
    EXPECT_FALSE(go_duration_seconds(text)) << text;
}

std::optional<std::chrono::seconds> keep_alive(const json::value& value) {
  const json::object body{{"keep_alive", value}};
  JsonFields fields(body);
  return read_keep_alive(fields);
}

TEST(ServerOllamaOptions, KeepAlive) {
  EXPECT_FALSE(keep_alive(nullptr));
  EXPECT_EQ(keep_alive(0)->count(), 0);
  EXPECT_EQ(keep_alive("5m")->count(), 300);
  EXPECT_EQ(keep_alive(-0.5)->count(), -1) << "any negative time is for ever";
  EXPECT_EQ(keep_alive("10ms")->count(), 0);
  EXPECT_EQ(keep_alive(1000000000)->count(), 1000000000);
  for (const json::value& value : {json::value("soon"), json::value(true), json::value(1000000001), json::value(-1e300),
                                   json::value(json::array{}), json::value("999999999999h")}) {
    try {
      keep_alive(value);
      ADD_FAILURE() << json::serialize(value);
    } catch (const ApiError& error) {
      EXPECT_EQ(error.status, 400);
      EXPECT_EQ(error.parameter, "keep_alive");
    }
  }
}

GenerationRequest read(const json::object& options, std::optional<uint32_t>* num_ctx = nullptr) {
  const json::object body{{"options", options}};
  JsonFields fields(body);
  GenerationRequest out;
  const std::optional<uint32_t> context = read_ollama_options(fields, out);
  if (num_ctx != nullptr) *num_ctx = context;
  return out;
}

TEST(ServerOllamaOptions, EachReachesTheSampler) {
  std::optional<uint32_t> num_ctx;
  const GenerationRequest all = read({{"temperature", 0.25},
                                      {"top_k", 40},
                                      {"top_p", 0.5},
                                      {"min_p", 0.125},
                                      {"typical_p", 0.75},
                                      {"repeat_penalty", 1.5},
                                      {"presence_penalty", 0.5},
                                      {"frequency_penalty", -0.5},
                                      {"repeat_last_n", -1},
                                      {"seed", 42},
                                      {"num_predict", 7},
                                      {"num_ctx", 512},
                                      {"stop", json::array{"a", "b"}}},
                                     &num_ctx);
  const gainz_sampling& s = all.sampling;
  EXPECT_EQ(s.temperature, 0.25F);
  EXPECT_EQ(s.top_k, 40);
  EXPECT_EQ(s.top_p, 0.5F);
  EXPECT_EQ(s.min_p, 0.125F);
  EXPECT_EQ(s.typical_p, 0.75F);
  EXPECT_EQ(s.repetition_penalty, 1.5F);
  EXPECT_EQ(s.presence_penalty, 0.5F);
  EXPECT_EQ(s.frequency_penalty, -0.5F);
  EXPECT_EQ(s.seed, 42U);
  EXPECT_EQ(s.has_seed, 1);
  EXPECT_EQ(s.max_tokens, 7);
  EXPECT_EQ(num_ctx, 512U);
  EXPECT_EQ(all.stop, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(read({{"num_predict", -2}}).sampling.max_tokens, -1);
  EXPECT_EQ(read({{"seed", -1}}).sampling.has_seed, 0);
  EXPECT_EQ(read({{"temperature", nullptr}, {"mirostat", nullptr}, {"num_gpu", nullptr}}).sampling.temperature, 1.0F);
}

TEST(ServerOllamaOptions, RepeatLastN) {
  EXPECT_EQ(read({{"repeat_last_n", 64}}).sampling.repetition_penalty, 1) << "no penalty: nothing would look at it";
  const gainz_sampling off =
      read({{"repeat_last_n", 0}, {"repeat_penalty", 1.5}, {"presence_penalty", 1}, {"frequency_penalty", 1}}).sampling;
  EXPECT_EQ(off.repetition_penalty, 1);
  EXPECT_EQ(off.presence_penalty, 0);
  EXPECT_EQ(off.frequency_penalty, 0);
  for (const char* penalty : {"repeat_penalty", "presence_penalty", "frequency_penalty"}) {
    try {
      read({{"repeat_last_n", 64}, {penalty, 1.5}});
      ADD_FAILURE() << penalty;
    } catch (const ApiError& error) {
      EXPECT_EQ(error.parameter, "options.repeat_last_n");
    }
  }
}

TEST(ServerOllamaOptions, RefusedByName) {
  const std::pair<const char*, json::value> kCases[] = {
      {"temperature", -0.1}, {"temperature", "1"}, {"top_p", 1.5},       {"min_p", -1},       {"typical_p", 2},
      {"top_k", -1},         {"top_k", 0.5},       {"seed", "x"},        {"num_predict", -3}, {"num_ctx", 0},
      {"repeat_penalty", 0}, {"stop", 5},          {"mirostat", 1},      {"num_keep", 4},     {"num_gpu", 1},
      {"num_thread", 2},     {"nonsense", 1},      {"repeat_last_n", -2}};
  for (const auto& [name, value] : kCases) {
    try {
      read({{name, value}});
      ADD_FAILURE() << name;
    } catch (const ApiError& error) {
      EXPECT_EQ(error.status, 400) << name;
      EXPECT_NE(error.message.find(std::string("options.") + name), std::string::npos) << error.message;
    }
  }
}

}  // namespace
}  // namespace gainz::host
