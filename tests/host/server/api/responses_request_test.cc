#include "server/api/responses_request.h"

#include <gtest/gtest.h>

#include "host/server/api/refused.h"
#include "server/api/json_fields.h"

namespace gainz::host {
namespace {

namespace json = boost::json;

ResponsesRequest read(std::string_view text) { return read_responses_request(parse_body(text, 64), Settings()); }
std::string messages_of(std::string_view text) { return *read(text).generation.messages_json; }

TEST(ServerResponsesRequest, Input) {
  EXPECT_EQ(messages_of(R"({"input":"Hi"})"), R"([{"role":"user","content":"Hi"}])");
  EXPECT_EQ(messages_of(R"({"input":"Hi","instructions":"Be brief"})"),
            R"([{"role":"system","content":"Be brief"},{"role":"user","content":"Hi"}])");
  EXPECT_EQ(messages_of(R"({"input":[{"role":"developer","content":"d"},{"type":"message","role":"user",)"
                        R"("content":[{"type":"input_text","text":"u"}]}]})"),
            R"([{"role":"system","content":"d"},{"role":"user","content":"u"}])");
}

// What an earlier response held can be sent back as it is; reasoning stays with its answer.
TEST(ServerResponsesRequest, EarlierOutput) {
  EXPECT_EQ(messages_of(R"({"input":[{"role":"user","content":"u"},)"
                        R"({"id":"rs_1","type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"why"}],)"
                        R"("status":"completed"},)"
                        R"({"id":"msg_1","type":"message","status":"completed","phase":null,"role":"assistant",)"
                        R"("content":[{"type":"output_text","text":"a","annotations":[],"logprobs":[]}]},)"
                        R"({"role":"user","content":"v"}]})"),
            R"([{"role":"user","content":"u"},{"role":"assistant","content":"a","reasoning_content":"why"},)"
            R"({"role":"user","content":"v"}])");
  EXPECT_EQ(
      messages_of(R"({"input":[{"type":"reasoning","summary":[{"type":"summary_text","text":"s"}],"encrypted_content":null},)"
                  R"({"role":"user","content":"u"}]})"),
      R"([{"role":"user","content":"u"}])")
      << "of no answer";
}

TEST(ServerResponsesRequest, Fields) {
  const ResponsesRequest request =
      read(R"({"model":"m","input":"x","max_output_tokens":5,"temperature":0.5,"top_p":0.25,"stream":true,)"
           R"("stream_options":{"include_obfuscation":false},)"
           R"("reasoning":{"effort":"low"},"chat_template_kwargs":{"a":1},"metadata":{"k":"v"},"user":"u",)"
           R"("store":true,"service_tier":"auto",)"
           R"("text":{"format":{"type":"text"}},"tools":[],"tool_choice":"auto","truncation":"disabled",)"
           R"("background":false,"include":[],"seed":3})");
  EXPECT_EQ(request.model, "m");
  EXPECT_TRUE(request.is_stream);
  EXPECT_EQ(request.generation.sampling.max_tokens, 5);
  EXPECT_EQ(request.generation.sampling.seed, 3U);
  EXPECT_EQ(request.generation.vars_json, R"({"a":1,"reasoning_effort":"low"})");
  EXPECT_EQ(request.echoed.at("temperature"), 0.5);
  EXPECT_EQ(request.echoed.at("top_p"), 0.25);
  EXPECT_EQ(request.echoed.at("max_output_tokens"), 5);
  EXPECT_EQ(request.echoed.at("metadata"), (json::object{{"k", "v"}}));
  EXPECT_EQ(request.echoed.at("reasoning"), (json::object{{"effort", "low"}, {"summary", nullptr}}));
  EXPECT_EQ(request.echoed.at("store"), false) << "nothing is kept, whatever was asked";
  EXPECT_EQ(read(R"({"input":"x"})").echoed.at("instructions"), nullptr);
}

TEST(ServerResponsesRequest, RefusedByName) {
  const std::pair<const char*, const char*> kBad[] = {
      {R"({})", "input"},
      {R"({"input":7})", "input"},
      {R"({"input":[]})", "input"},
      {R"({"input":[7]})", "input[0]"},
      {R"({"input":[{"role":"user"}],"instructions":"i"})", "input[0].content"},
      {R"({"input":[{"role":"user","content":"a"},{"role":"wizard","content":"x"}],"instructions":"i"})", "input[1].role"},
      {R"({"input":[{"role":"user","content":"a","extra":1}]})", "input[0].extra"},
      {R"({"input":[{"role":"user","content":[{"type":"input_image","image_url":"x"}]}]})", "input[0].content[0].type"},
      {R"({"input":[{"type":"function_call","name":"f"}]})", "input[0].type"},
      {R"({"input":[{"type":"item_reference","id":"x"}]})", "input[0].type"},
      {R"({"input":[{"type":"reasoning","summary":[],"encrypted_content":"x"}]})", "input[0].encrypted_content"},
      {R"({"input":[{"type":"reasoning","content":[7]}]})", "input[0].content[0]"},
      {R"({"input":[{"type":"reasoning","extra":1}]})", "input[0].extra"},
      {R"({"input":"x","instructions":7})", "instructions"},
      {R"({"input":"x","max_output_tokens":-1})", "max_output_tokens"},
      {R"({"input":"x","max_tokens":1})", "max_tokens"},
      {R"({"input":"x","previous_response_id":"r"})", "previous_response_id"},
      {R"({"input":"x","conversation":"c"})", "conversation"},
      {R"({"input":"x","prompt":{"id":"p"}})", "prompt"},
      {R"({"input":"x","background":true})", "background"},
      {R"({"input":"x","tools":[{"type":"web_search"}]})", "tools"},
      {R"({"input":"x","tool_choice":"required"})", "tool_choice"},
      {R"({"input":"x","include":["reasoning.encrypted_content"]})", "include"},
      {R"({"input":"x","top_logprobs":2})", "top_logprobs"},
      {R"({"input":"x","truncation":"auto"})", "truncation"},
      {R"({"input":"x","text":{"format":{"type":"json_schema"}}})", "text.format.type"},
      {R"({"input":"x","text":{"verbosity":"low"}})", "text.verbosity"},
      {R"({"input":"x","text":{"other":1}})", "text.other"},
      {R"({"input":"x","reasoning":{"effort":"lots"}})", "reasoning.effort"},
      {R"({"input":"x","reasoning":{"summary":"auto"}})", "reasoning.summary"},
      {R"({"input":"x","stream_options":{"include_obfuscation":true}})", "stream_options"},
      {R"({"input":"x","stream":true,"stream_options":{"include_usage":true}})", "stream_options.include_usage"},
      {R"({"input":"x","extra":1})", "extra"}};
  for (const auto& [text, name] : kBad) test::expect_refused([text = text] { read(text); }, name, text);
}

}  // namespace
}  // namespace gainz::host
