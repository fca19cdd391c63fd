#include "server/api/sampling_fields.h"

#include <gtest/gtest.h>

#include "host/server/api/refused.h"

namespace gainz::host {
namespace {

GenerationRequest sampled(std::string_view text) {
  const boost::json::object body = parse_body(text, 64);
  JsonFields fields(body);
  GenerationRequest out;
  read_sampling(fields, out);
  fields.finish();
  return out;
}

TEST(ServerSamplingFields, NothingGivenIsTheContract) {
  const GenerationRequest request = sampled("{}");
  EXPECT_EQ(request.sampling.temperature, 1);
  EXPECT_EQ(request.sampling.top_p, 1);
  EXPECT_EQ(request.sampling.top_k, 0);
  EXPECT_EQ(request.sampling.max_tokens, -1);
  EXPECT_EQ(request.sampling.has_seed, 0U);
  EXPECT_TRUE(request.stop.empty() && request.logit_bias.empty() && request.stop_token_ids.empty());
  EXPECT_EQ(request.timeout_ms, 0U);
}

TEST(ServerSamplingFields, EachArrives) {
  const GenerationRequest request =
      sampled(R"({"temperature":0.5,"top_p":0.25,"top_k":40,"min_p":0.125,"typical_p":0.75,"presence_penalty":-2,)"
              R"("frequency_penalty":1.5,)"
              R"("repetition_penalty":1.25,"min_tokens":3,"ignore_eos":true,"seed":7,"stop":["a","b"],"stop_token_ids":[5,6],)"
              R"("logit_bias":{"11":-100,"12":0.5},"cache_salt":"salt","priority":-4,"timeout_ms":250})");
  const gainz_sampling& s = request.sampling;
  EXPECT_EQ(s.temperature, 0.5F);
  EXPECT_EQ(s.top_p, 0.25F);
  EXPECT_EQ(s.top_k, 40);
  EXPECT_EQ(s.min_p, 0.125F);
  EXPECT_EQ(s.typical_p, 0.75F);
  EXPECT_EQ(s.presence_penalty, -2);
  EXPECT_EQ(s.frequency_penalty, 1.5F);
  EXPECT_EQ(s.repetition_penalty, 1.25F);
  EXPECT_EQ(s.min_tokens, 3);
  EXPECT_EQ(s.ignore_eos, 1U);
  EXPECT_EQ(s.seed, 7U);
  EXPECT_EQ(s.has_seed, 1U);
  EXPECT_EQ(request.stop, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(request.stop_token_ids, (std::vector<int32_t>{5, 6}));
  ASSERT_EQ(request.logit_bias.size(), 2U);
  EXPECT_EQ(request.logit_bias[0].id, 11);
  EXPECT_EQ(request.logit_bias[0].bias, -100);
  EXPECT_EQ(request.cache_salt, "salt");
  EXPECT_EQ(request.priority, -4);
  EXPECT_EQ(request.timeout_ms, 250U);
}

TEST(ServerSamplingFields, OtherSpellings) {
  EXPECT_EQ(sampled(R"({"top_k":-1})").sampling.top_k, 0) << "off, as vLLM writes it";
  EXPECT_EQ(sampled(R"({"stop":"x"})").stop.size(), 1U);
  EXPECT_EQ(sampled(R"({"stop":[]})").stop.size(), 0U);
  EXPECT_EQ(sampled(R"({"seed":-1})").sampling.seed, UINT64_MAX);
  EXPECT_EQ(sampled(R"({"seed":18446744073709551615})").sampling.seed, UINT64_MAX);
  EXPECT_EQ(sampled(R"({"seed":null,"stop":null,"logit_bias":null,"temperature":null})").sampling.has_seed, 0U);
}

TEST(ServerSamplingFields, Ends) {
  for (const char* text :
       {R"({"temperature":0})", R"({"temperature":1000000})", R"({"top_p":0})", R"({"top_p":1})", R"({"min_p":1})",
        R"({"typical_p":0})", R"({"presence_penalty":100})", R"({"frequency_penalty":-100})", R"({"repetition_penalty":0.001})",
        R"({"repetition_penalty":1000})", R"({"top_k":2147483647})", R"({"min_tokens":0})", R"({"priority":1000000})",
        R"({"timeout_ms":86400000})", R"({"logit_bias":{"0":1000000,"2147483647":-1000000}})"})
    EXPECT_NO_THROW(sampled(text)) << text;
  const std::pair<const char*, const char*> kBad[] = {{R"({"temperature":-0.1})", "temperature"},
                                                      {R"({"temperature":1000001})", "temperature"},
                                                      {R"({"temperature":1e999})", "temperature"},
                                                      {R"({"temperature":"1"})", "temperature"},
                                                      {R"({"top_p":1.01})", "top_p"},
                                                      {R"({"min_p":-0.01})", "min_p"},
                                                      {R"({"typical_p":2})", "typical_p"},
                                                      {R"({"presence_penalty":101})", "presence_penalty"},
                                                      {R"({"frequency_penalty":-101})", "frequency_penalty"},
                                                      {R"({"repetition_penalty":0})", "repetition_penalty"},
                                                      {R"({"repetition_penalty":1001})", "repetition_penalty"},
                                                      {R"({"top_k":-2})", "top_k"},
                                                      {R"({"top_k":2147483648})", "top_k"},
                                                      {R"({"min_tokens":-1})", "min_tokens"},
                                                      {R"({"ignore_eos":1})", "ignore_eos"},
                                                      {R"({"seed":0.5})", "seed"},
                                                      {R"({"seed":18446744073709551616})", "seed"},
                                                      {R"({"seed":"1"})", "seed"},
                                                      {R"({"stop":""})", "stop"},
                                                      {R"({"stop":7})", "stop"},
                                                      {R"({"stop":["a",""]})", "stop[1]"},
                                                      {R"({"stop":["a\u0000"]})", "stop[0]"},
                                                      {R"({"stop_token_ids":[-1]})", "stop_token_ids[0]"},
                                                      {R"({"stop_token_ids":[1,2147483648]})", "stop_token_ids[1]"},
                                                      {R"({"stop_token_ids":5})", "stop_token_ids"},
                                                      {R"({"logit_bias":[1]})", "logit_bias"},
                                                      {R"({"logit_bias":{"x":1}})", "logit_bias.x"},
                                                      {R"({"logit_bias":{"-1":1}})", "logit_bias.-1"},
                                                      {R"({"logit_bias":{"1":1000001}})", "logit_bias.1"},
                                                      {R"({"logit_bias":{"1":null}})", "logit_bias.1"},
                                                      {R"({"cache_salt":7})", "cache_salt"},
                                                      {R"({"cache_salt":"a\u0000"})", "cache_salt"},
                                                      {R"({"priority":1000001})", "priority"},
                                                      {R"({"timeout_ms":0})", "timeout_ms"},
                                                      {R"({"timeout_ms":86400001})", "timeout_ms"}};
  for (const auto& [text, name] : kBad) test::expect_refused([text = text] { sampled(text); }, name, text);
}

TEST(ServerSamplingFields, ListsHaveAnEnd) {
  const auto ids = [](size_t count) {
    std::string list = R"({"stop_token_ids":[1)", biases = R"({"logit_bias":{"0":1)";
    for (size_t i = 1; i < count; ++i) list += ",1", biases += ",\"" + std::to_string(i) + "\":1";
    return std::pair(list + "]}", biases + "}}");
  };
  EXPECT_EQ(sampled(ids(kMaxListItems).first).stop_token_ids.size(), kMaxListItems);
  EXPECT_EQ(sampled(ids(kMaxListItems).second).logit_bias.size(), kMaxListItems);
  test::expect_refused([&] { sampled(ids(kMaxListItems + 1).first); }, "stop_token_ids", "a long list");
  test::expect_refused([&] { sampled(ids(kMaxListItems + 1).second); }, "logit_bias", "many biases");
}

}  // namespace
}  // namespace gainz::host
