#include "server/api/chat_request.h"

#include <gtest/gtest.h>

#include "host/server/api/refused.h"
#include "server/api/json_fields.h"

namespace gainz::host {
namespace {

namespace json = boost::json;
constexpr const char* kUser = R"("messages":[{"role":"user","content":"u"}])";

ChatRequest chat(std::string_view text) { return read_chat_request(parse_body(text, 64), Settings()); }
// Further fields of a good chat: R"("n":2)".
ChatRequest with(const std::string& fields) { return chat("{" + std::string(kUser) + "," + fields + "}"); }
std::string messages_of(std::string_view messages) {
  return *chat("{\"messages\":" + std::string(messages) + "}").generation.messages_json;
}

TEST(ServerChatRequest, Plain) {
  const ChatRequest request = with(R"("model":"tiny")");
  EXPECT_EQ(request.model, "tiny");
  EXPECT_EQ(request.generation.messages_json, R"([{"role":"user","content":"u"}])");
  EXPECT_EQ(request.num_choices, 1U);
  EXPECT_FALSE(request.is_stream || request.wants_usage);
  EXPECT_EQ(request.generation.sampling.max_tokens, -1);
  EXPECT_EQ(request.generation.sampling.logprobs, -1);
  EXPECT_FALSE(request.generation.vars_json || request.generation.tools_json || request.generation.prompt);
}

TEST(ServerChatRequest, Messages) {
  EXPECT_EQ(messages_of(R"([{"role":"developer","content":"d"}])"), R"([{"role":"system","content":"d"}])");
  EXPECT_EQ(messages_of(R"([{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"name":"ann"}])"),
            R"([{"role":"user","content":"a\nb","name":"ann"}])");
  EXPECT_EQ(
      messages_of(R"([{"role":"assistant","content":null,"tool_calls":null,"refusal":null,"audio":null,"annotations":[]}])"),
      R"([{"role":"assistant","content":""}])");
  EXPECT_EQ(messages_of(R"([{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]}])"),
            R"([{"role":"assistant","content":"no"}])");
  for (const char* name : {"reasoning_content", "reasoning"}) {
    EXPECT_EQ(messages_of(std::string(R"([{"role":"assistant","content":"a",")") + name + R"(":"why"}])"),
              R"([{"role":"assistant","content":"a","reasoning_content":"why"}])");
  }
}

TEST(ServerChatRequest, MessagesRefused) {
  const std::pair<const char*, const char*> kBad[] = {
      {R"([])", "messages"},
      {R"("x")", "messages"},
      {R"(["x"])", "messages[0]"},
      {R"([{"content":"x"}])", "messages[0].role"},
      {R"([{"role":7,"content":"x"}])", "messages[0].role"},
      {R"([{"role":"wizard","content":"x"}])", "messages[0].role"},
      {R"([{"role":"tool","content":"x","tool_call_id":"1"}])", "messages[0].role"},
      {R"([{"role":"function","content":"x","name":"f"}])", "messages[0].role"},
      {R"([{"role":"user","content":"a"},{"role":"user"}])", "messages[1].content"},
      {R"([{"role":"user","content":null}])", "messages[0].content"},
      {R"([{"role":"user","content":7}])", "messages[0].content"},
      {R"([{"role":"user","content":"x","extra":1}])", "messages[0].extra"},
      {R"([{"role":"user","content":"x","name":1}])", "messages[0].name"},
      {R"([{"role":"user","content":"x","reasoning_content":"r"}])", "messages[0].reasoning_content"},
      {R"([{"role":"user","content":[7]}])", "messages[0].content[0]"},
      {R"([{"role":"user","content":[{"type":"text"}]}])", "messages[0].content[0].text"},
      {R"([{"role":"user","content":[{"text":"x"}]}])", "messages[0].content[0].type"},
      {R"([{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}])",
       "messages[0].content[0].cache_control"},
      {R"([{"role":"user","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"data:"}}]}])",
       "messages[0].content[1].type"},
      {R"([{"role":"user","content":[{"type":"input_audio","input_audio":{}}]}])", "messages[0].content[0].type"},
      {R"([{"role":"user","content":[{"type":"file","file":{}}]}])", "messages[0].content[0].type"},
      {R"([{"role":"assistant","content":"x","tool_calls":[{"id":"1"}]}])", "messages[0].tool_calls"},
      {R"([{"role":"assistant","content":"x","function_call":{}}])", "messages[0].function_call"},
      {R"([{"role":"assistant","content":"x","audio":{"id":"1"}}])", "messages[0].audio"},
      {R"([{"role":"assistant","content":"x","refusal":"no"}])", "messages[0].refusal"},
      {R"([{"role":"assistant","content":"x","annotations":[{}]}])", "messages[0].annotations"},
      {R"([{"role":"assistant","content":"x","reasoning":"a","reasoning_content":"b"}])", "messages[0].reasoning"}};
  for (const auto& [text, name] : kBad) test::expect_refused([text = text] { messages_of(text); }, name, text);
  test::expect_refused([] { chat("{}"); }, "messages", "none at all");
}

TEST(ServerChatRequest, TokensAndChoices) {
  EXPECT_EQ(with(R"("max_tokens":5)").generation.sampling.max_tokens, 5);
  EXPECT_EQ(with(R"("max_tokens":5,"max_completion_tokens":3)").generation.sampling.max_tokens, 3) << "it wins";
  EXPECT_EQ(with(R"("max_tokens":0)").generation.sampling.max_tokens, 0);
  EXPECT_EQ(with(R"("n":4)").num_choices, 4U);
}

TEST(ServerChatRequest, Logprobs) {
  EXPECT_EQ(with(R"("logprobs":false)").generation.sampling.logprobs, -1);
  EXPECT_EQ(with(R"("logprobs":true)").generation.sampling.logprobs, 0);
  EXPECT_EQ(with(R"("logprobs":true,"top_logprobs":20)").generation.sampling.logprobs, 20);
  EXPECT_EQ(with(R"("logprobs":null,"top_logprobs":null)").generation.sampling.logprobs, -1);
}

TEST(ServerChatRequest, Streams) {
  EXPECT_TRUE(with(R"("stream":true)").is_stream);
  EXPECT_FALSE(with(R"("stream":true,"stream_options":{})").wants_usage);
  EXPECT_TRUE(with(R"("stream":true,"stream_options":{"include_usage":true})").wants_usage);
  EXPECT_FALSE(with(R"("stream":false,"stream_options":null)").is_stream);
}

TEST(ServerChatRequest, VariablesOfTheTemplate) {
  EXPECT_EQ(with(R"("chat_template_kwargs":{"enable_thinking":false})").generation.vars_json, R"({"enable_thinking":false})");
  EXPECT_EQ(with(R"("reasoning_effort":"high")").generation.vars_json, R"({"reasoning_effort":"high"})");
  EXPECT_EQ(with(R"("reasoning_effort":"none")").generation.vars_json,
            R"({"reasoning_effort":"none","enable_thinking":false})");
  EXPECT_EQ(with(R"("reasoning_effort":"none","chat_template_kwargs":{"enable_thinking":true})").generation.vars_json,
            R"({"enable_thinking":true,"reasoning_effort":"none"})");
  EXPECT_FALSE(with(R"("chat_template_kwargs":{})").generation.vars_json);
}

TEST(ServerChatRequest, AcceptedWithoutEffect) {
  EXPECT_NO_THROW(with(R"("user":"me","metadata":{"a":"b"},"store":true,"service_tier":"flex")"));
  EXPECT_NO_THROW(with(R"("response_format":{"type":"text"},"tools":[],"functions":null,"tool_choice":"none")"));
  EXPECT_NO_THROW(with(R"("tool_choice":"auto","parallel_tool_calls":false,"modalities":["text"],"audio":null)"));
}

TEST(ServerChatRequest, RefusedByName) {
  const std::pair<const char*, const char*> kBad[] = {
      {R"("model":7)", "model"},
      {R"("max_tokens":-1)", "max_tokens"},
      {R"("max_tokens":2147483648)", "max_tokens"},
      {R"("max_completion_tokens":1.5)", "max_completion_tokens"},
      {R"("n":0)", "n"},
      {R"("n":17)", "n"},
      {R"("logprobs":1)", "logprobs"},
      {R"("top_logprobs":2)", "top_logprobs"},
      {R"("logprobs":true,"top_logprobs":21)", "top_logprobs"},
      {R"("stream":1)", "stream"},
      {R"("stream_options":{"include_usage":true})", "stream_options"},
      {R"("stream":true,"stream_options":{"other":1})", "stream_options.other"},
      {R"("stream":true,"stream_options":{"include_usage":1})", "stream_options.include_usage"},
      {R"("response_format":{"type":"json_object"})", "response_format.type"},
      {R"("response_format":{"type":"json_schema","json_schema":{}})", "response_format.type"},
      {R"("response_format":{"type":"text","x":1})", "response_format.x"},
      {R"("response_format":"text")", "response_format"},
      {R"("tools":[{"type":"function"}])", "tools"},
      {R"("functions":[{}])", "functions"},
      {R"("tool_choice":"required")", "tool_choice"},
      {R"("tool_choice":{"type":"function"})", "tool_choice"},
      {R"("function_call":{"name":"f"})", "function_call"},
      {R"("parallel_tool_calls":1)", "parallel_tool_calls"},
      {R"("modalities":["audio"])", "modalities"},
      {R"("audio":{})", "audio"},
      {R"("prediction":{})", "prediction.content"},
      {R"("prediction":"text")", "prediction"},
      {R"("prediction":{"type":"diff","content":"a"})", "prediction.type"},
      {R"("prediction":{"type":"content","content":{}})", "prediction.content"},
      {R"("prediction":{"type":"content","content":["a"]})", "prediction.content[0]"},
      {R"("prediction":{"type":"content","content":[{"type":"image"}]})", "prediction.content[0].type"},
      {R"("prediction":{"type":"content","content":"a","x":1})", "prediction.x"},
      {R"("speculation":"turbo")", "speculation"},
      {R"("speculation":4)", "speculation"},
      {R"("speculation":"depth=4")", "speculation"},
      {R"("speculation":{"kinds":["noise"]})", "speculation"},
      {R"("speculation":{"kinds":[1]})", "speculation"},
      {R"("speculation":{"depth":4})", "speculation.depth"},
      {R"("speculation":{"max_depth":17})", "speculation.max_depth"},
      {R"("web_search_options":{})", "web_search_options"},
      {R"("verbosity":"low")", "verbosity"},
      {R"("guided_json":{})", "guided_json"},
      {R"("reasoning_effort":"lots")", "reasoning_effort"},
      {R"("chat_template_kwargs":[1])", "chat_template_kwargs"},
      {R"("prompt_cache_key":"x")", "prompt_cache_key"},
      {R"("echo":true)", "echo"},
      {R"("best_of":1)", "best_of"}};
  for (const auto& [text, name] : kBad) test::expect_refused([text = text] { with(text); }, name, text);
  EXPECT_EQ(
      test::error_of([] { with(R"("reasoning_effort":"low","chat_template_kwargs":{"reasoning_effort":"high"})"); }, "two")
          .parameter,
      "chat_template_kwargs.reasoning_effort");
}

TEST(ServerChatRequest, SpeculationAndPrediction) {
  const auto read = [](const char* fields) { return with(fields).generation; };
  EXPECT_EQ(read("\"n\":1").speculation.mode, GAINZ_SPECULATION_DEFAULT);
  EXPECT_EQ(read(R"("speculation":"off")").speculation.mode, GAINZ_SPECULATION_OFF);
  const gainz_speculation some = read(R"("speculation":{"kinds":["ngram","cache"],"max_depth":4})").speculation;
  EXPECT_EQ(some.mode, GAINZ_SPECULATION_AUTO);
  EXPECT_EQ(some.kinds, 1u << GAINZ_DRAFT_NGRAM | 1u << GAINZ_DRAFT_CACHE);
  EXPECT_EQ(some.depth, 4u);
  EXPECT_EQ(read(R"("speculation":{})").speculation.mode, GAINZ_SPECULATION_AUTO);
  EXPECT_FALSE(read("\"n\":1").prediction);
  EXPECT_EQ(read(R"("prediction":{"type":"content","content":"abc"})").prediction, "abc");
  EXPECT_EQ(
      read(R"("prediction":{"type":"content","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]})").prediction,
      "ab");
}

CompletionRequest completion(std::string_view text) { return read_completion_request(parse_body(text, 64), Settings()); }

TEST(ServerCompletionRequest, Prompts) {
  const CompletionRequest one = completion(R"({"prompt":"a"})");
  ASSERT_EQ(one.prompts.size(), 1U);
  EXPECT_EQ(one.prompts[0].prompt, "a");
  EXPECT_EQ(one.prompts[0].sampling.max_tokens, 16) << "the contract's default";
  EXPECT_EQ(one.prompts[0].prompt_logprobs, -1);
  EXPECT_EQ(completion(R"({"prompt":["a","b"]})").prompts[1].prompt, "b");
  EXPECT_EQ(completion(R"({"prompt":[5,6]})").prompts[0].prompt_ids, (std::vector<int32_t>{5, 6}));
  const CompletionRequest mixed = completion(R"({"prompt":[[5,6],"a",[7]]})");
  ASSERT_EQ(mixed.prompts.size(), 3U);
  EXPECT_EQ(mixed.prompts[0].prompt_ids, (std::vector<int32_t>{5, 6}));
  EXPECT_EQ(mixed.prompts[1].prompt, "a");
}

TEST(ServerCompletionRequest, Fields) {
  const CompletionRequest request = completion(
      R"({"model":"m","prompt":"a","max_tokens":3,"logprobs":2,"echo":true,"n":2,"best_of":2,"suffix":"","stream":true,)"
      R"("stream_options":{"include_usage":true},"user":"u","seed":1,"temperature":0})");
  EXPECT_EQ(request.model, "m");
  EXPECT_TRUE(request.echoes && request.is_stream && request.wants_usage);
  EXPECT_EQ(request.num_choices, 2U);
  EXPECT_EQ(request.prompts[0].sampling.max_tokens, 3);
  EXPECT_EQ(request.prompts[0].sampling.logprobs, 2);
  EXPECT_EQ(request.prompts[0].prompt_logprobs, 2);
  EXPECT_EQ(completion(R"({"prompt":"a","logprobs":2})").prompts[0].prompt_logprobs, -1) << "only of an echo";
  EXPECT_EQ(completion(R"({"prompt":"a","logprobs":0})").prompts[0].sampling.logprobs, 0);
  EXPECT_EQ(completion(R"({"prompt":"a","logprobs":null,"max_tokens":null})").prompts[0].sampling.max_tokens, 16);
}

TEST(ServerCompletionRequest, RefusedByName) {
  const std::pair<const char*, const char*> kBad[] = {{R"({})", "prompt"},
                                                      {R"({"prompt":null})", "prompt"},
                                                      {R"({"prompt":[]})", "prompt"},
                                                      {R"({"prompt":{}})", "prompt"},
                                                      {R"({"prompt":7})", "prompt"},
                                                      {R"({"prompt":["a",7]})", "prompt[1]"},
                                                      {R"({"prompt":[1,"a"]})", "prompt[1]"},
                                                      {R"({"prompt":[1,-1]})", "prompt[1]"},
                                                      {R"({"prompt":[[1],[2.5]]})", "prompt[1][0]"},
                                                      {R"({"prompt":[[]]})", "prompt[0]"},
                                                      {R"({"prompt":"a","suffix":"b"})", "suffix"},
                                                      {R"({"prompt":"a","best_of":2})", "best_of"},
                                                      {R"({"prompt":"a","logprobs":21})", "logprobs"},
                                                      {R"({"prompt":"a","logprobs":true})", "logprobs"},
                                                      {R"({"prompt":"a","echo":1})", "echo"},
                                                      {R"({"prompt":"a","messages":[]})", "messages"},
                                                      {R"({"prompt":"a","max_completion_tokens":1})", "max_completion_tokens"},
                                                      {R"({"prompt":["a","b","c"],"n":6})", "n"}};
  for (const auto& [text, name] : kBad) test::expect_refused([text = text] { completion(text); }, name, text);
}

}  // namespace
}  // namespace gainz::host
