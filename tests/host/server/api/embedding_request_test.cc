#include "server/api/embedding_request.h"

#include <gtest/gtest.h>

#include "host/server/api/refused.h"

namespace gainz::host {
namespace {

std::vector<GenerationRequest> inputs(std::string_view text) {
  const boost::json::object body = parse_body(text, 64);
  JsonFields fields(body);
  return read_embedding_inputs(fields, "input");
}

TEST(ServerEmbeddingRequest, Inputs) {
  EXPECT_EQ(inputs(R"({"input":"a"})")[0].prompt, "a");
  EXPECT_EQ(inputs(R"({"input":["a","b"]})")[1].prompt, "b");
  EXPECT_EQ(inputs(R"({"input":[1,2]})")[0].prompt_ids, (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(inputs(R"({"input":[[1],[2,3]]})")[1].prompt_ids, (std::vector<int32_t>{2, 3}));
  EXPECT_EQ(inputs(R"({"input":"a"})")[0].kind, GAINZ_REQUEST_EMBED);
}

TEST(ServerEmbeddingRequest, RefusedByName) {
  const std::pair<const char*, const char*> kBad[] = {{R"({})", "input"},
                                                      {R"({"input":null})", "input"},
                                                      {R"({"input":""})", "input"},
                                                      {R"({"input":[]})", "input"},
                                                      {R"({"input":7})", "input"},
                                                      {R"({"input":{}})", "input"},
                                                      {R"({"input":["a",""]})", "input[1]"},
                                                      {R"({"input":["a",7]})", "input[1]"},
                                                      {R"({"input":[1,"a"]})", "input[1]"},
                                                      {R"({"input":[[1],[]]})", "input[1]"},
                                                      {R"({"input":[[1],[-1]]})", "input[1][0]"}};
  for (const auto& [text, name] : kBad) test::expect_refused([text = text] { inputs(text); }, name, text);
  const auto many = [](size_t count) {
    std::string text = R"({"input":["a")";
    for (size_t i = 1; i < count; ++i) text += R"(,"a")";
    return text + "]}";
  };
  EXPECT_EQ(inputs(many(kMaxEmbeddingInputs)).size(), kMaxEmbeddingInputs);
  test::expect_refused([&] { inputs(many(kMaxEmbeddingInputs + 1)); }, "input", "many");
}

TEST(ServerEmbeddingRequest, UnitLength) {
  Embedding embedding;
  embedding.values = {3, 0, -4};
  EXPECT_EQ(embedding.unit(), (std::vector<float>{0.6F, 0, -0.8F}));
  EXPECT_EQ(embedding.json(true), (boost::json::array{0.6, 0.0, -0.8}));
  embedding.values = {0, 0};
  EXPECT_EQ(embedding.unit(), (std::vector<float>{0, 0})) << "what has no length";
}

}  // namespace
}  // namespace gainz::host
