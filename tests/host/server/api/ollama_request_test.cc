#include "server/api/ollama_request.h"

#include <gtest/gtest.h>

#include "host/server/api/fake_context.h"
#include "server/api_error.h"

namespace gainz::host {
namespace {

namespace json = boost::json;

const test::FakeContext& context() {
  static const test::FakeContext fake({"tiny", "odd:latest", "two:q4"});
  return fake;
}

json::object body(std::string_view text) { return json::parse(text).as_object(); }
OllamaRequest generate(std::string_view text) { return read_ollama_generate(body(text), context()); }
OllamaRequest chat(std::string_view text) { return read_ollama_chat(body(text), context()); }

TEST(ServerOllamaRequest, Names) {
  EXPECT_EQ(ollama_model_id(context(), "tiny"), "tiny");
  EXPECT_EQ(ollama_model_id(context(), "tiny:latest"), "tiny");
  EXPECT_EQ(ollama_model_id(context(), "odd:latest"), "odd:latest") << "a model that is called so";
  EXPECT_EQ(ollama_model_id(context(), "two:q4"), "two:q4");
}

TEST(ServerOllamaRequest, GenerateIsAChatOfOneMessage) {
  const OllamaRequest request = generate(R"({"model":"tiny:latest","prompt":"Hi","system":"Be brief"})");
  EXPECT_EQ(request.model, "tiny");
  EXPECT_TRUE(request.is_stream) << "unless told otherwise";
  EXPECT_TRUE(request.has_prompt);
  EXPECT_EQ(request.generation.messages_json, R"([{"role":"system","content":"Be brief"},{"role":"user","content":"Hi"}])");
  EXPECT_FALSE(request.generation.prompt);
}

TEST(ServerOllamaRequest, Raw) {
  const OllamaRequest request = generate(R"({"model":"tiny","prompt":"Hi","raw":true,"stream":false,"think":false})");
  EXPECT_EQ(request.generation.prompt, "Hi");
  EXPECT_FALSE(request.generation.messages_json);
  EXPECT_FALSE(request.generation.vars_json);
  EXPECT_FALSE(request.is_stream);
}

TEST(ServerOllamaRequest, NoPromptLoads) {
  EXPECT_FALSE(generate(R"({"model":"tiny"})").has_prompt);
  EXPECT_FALSE(generate(R"({"model":"tiny","prompt":""})").has_prompt);
  EXPECT_FALSE(chat(R"({"model":"tiny"})").has_prompt);
  EXPECT_FALSE(chat(R"({"model":"tiny","messages":[]})").has_prompt);
  EXPECT_EQ(chat(R"({"model":"tiny","messages":[],"keep_alive":0})").keep_alive->count(), 0);
}

TEST(ServerOllamaRequest, Think) {
  EXPECT_FALSE(generate(R"({"model":"tiny","prompt":"x"})").generation.vars_json) << "the template decides";
  const OllamaRequest on = generate(R"({"model":"tiny","prompt":"x","think":true})");
  EXPECT_TRUE(on.wants_thinking);
  EXPECT_EQ(on.generation.vars_json, R"({"enable_thinking":true})");
  const OllamaRequest off = chat(R"({"model":"tiny","messages":[{"role":"user","content":"x"}],"think":false})");
  EXPECT_FALSE(off.wants_thinking);
  EXPECT_EQ(off.generation.vars_json, R"({"enable_thinking":false})");
  const OllamaRequest level = generate(R"({"model":"tiny","prompt":"x","think":"high"})");
  EXPECT_TRUE(level.wants_thinking);
  EXPECT_EQ(level.generation.vars_json, R"({"enable_thinking":true,"reasoning_effort":"high"})");
}

TEST(ServerOllamaRequest, ChatKeepsThoughts) {
  const OllamaRequest request =
      chat(R"({"model":"tiny","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b","thinking":"t"},)"
           R"({"role":"user","content":"c","images":null}]})");
  const json::array messages = json::parse(*request.generation.messages_json).as_array();
  ASSERT_EQ(messages.size(), 3U);
  EXPECT_EQ(messages[1].at("reasoning_content"), "t");
  EXPECT_FALSE(messages[2].as_object().contains("images"));
}

TEST(ServerOllamaRequest, RefusedByName) {
  const std::pair<const char*, const char*> kGenerate[] = {
      {R"({"prompt":"x"})", "model"},
      {R"({"model":5,"prompt":"x"})", "model"},
      {R"({"model":"tiny","prompt":["x"]})", "prompt"},
      {R"({"model":"tiny","prompt":"x","suffix":"y"})", "suffix"},
      {R"({"model":"tiny","prompt":"x","template":"y"})", "template"},
      {R"({"model":"tiny","prompt":"x","context":[1]})", "context"},
      {R"({"model":"tiny","prompt":"x","images":["aa"]})", "images"},
      {R"({"model":"tiny","prompt":"x","format":"json"})", "format"},
      {R"({"model":"tiny","prompt":"x","format":{"type":"object"}})", "format"},
      {R"({"model":"tiny","prompt":"x","stream":"yes"})", "stream"},
      {R"({"model":"tiny","prompt":"x","think":"deeply"})", "think"},
      {R"({"model":"tiny","prompt":"x","think":1})", "think"},
      {R"({"model":"tiny","prompt":"x","raw":true,"system":"s"})", "system"},
      {R"({"model":"tiny","prompt":"x","raw":true,"think":true})", "think"},
      {R"({"model":"tiny","prompt":"x","options":[]})", "options"},
      {R"({"model":"tiny","prompt":"x","logprobs":true})", "logprobs"},
      {R"({"model":"tiny","prompt":"x","messages":[]})", "messages"}};
  for (const auto& [text, name] : kGenerate) {
    try {
      generate(text);
      ADD_FAILURE() << text;
    } catch (const ApiError& error) {
      EXPECT_EQ(error.status, 400);
      EXPECT_NE(error.message.find(name), std::string::npos) << text << ": " << error.message;
    }
  }
  const std::pair<const char*, const char*> kChat[] = {
      {R"({"model":"tiny","messages":"x"})", "messages"},
      {R"({"model":"tiny","messages":["x"]})", "messages[0]"},
      {R"({"model":"tiny","messages":[{"role":"wizard","content":"x"}]})", "messages[0].role"},
      {R"({"model":"tiny","messages":[{"role":"user","content":"x","images":["aa"]}]})", "messages[0].images"},
      {R"({"model":"tiny","messages":[{"role":"user","content":"x"}],"tools":[{}]})", "tools"},
      {R"({"model":"tiny","messages":[{"role":"user","content":"x"}],"prompt":"y"})", "prompt"}};
  for (const auto& [text, name] : kChat) {
    try {
      chat(text);
      ADD_FAILURE() << text;
    } catch (const ApiError& error) {
      EXPECT_EQ(error.status, 400);
      EXPECT_NE(error.message.find(name), std::string::npos) << text << ": " << error.message;
    }
  }
}

}  // namespace
}  // namespace gainz::host
