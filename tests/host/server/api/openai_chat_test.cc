// /v1/chat/completions over generations that say what they are told: what the real ones say only by chance.
#include <gtest/gtest.h>

#include "host/server/api/fake_server.h"
#include "host/server/api/refused.h"
#include "server/api/openai_handlers.h"

namespace gainz::host {
namespace {

namespace json = boost::json;
using test::done;
using test::events_of;
using test::FakeExchange;
using test::FakeServer;
using test::started;
using test::token;

constexpr const char* kPath = "/v1/chat/completions";

std::string body(const std::string& fields = "") {
  return R"({"messages":[{"role":"user","content":"u"}])" + (fields.empty() ? "" : "," + fields) + "}";
}

json::value whole(FakeServer& server, const std::string& fields = "") {
  FakeExchange exchange("POST", kPath, body(fields));
  server.run(chat_completions, exchange);
  EXPECT_TRUE(exchange.response) << "no answer";
  return exchange.response ? json::parse(exchange.response->body) : json::value();
}

std::string streamed_text(FakeServer& server, const std::string& fields = "") {
  FakeExchange exchange("POST", kPath, body(R"("stream":true)" + (fields.empty() ? "" : "," + fields)));
  server.run(chat_completions, exchange);
  EXPECT_EQ(exchange.stream_type, "text/event-stream");
  EXPECT_TRUE(exchange.has_ended);
  EXPECT_TRUE(exchange.stream.ends_with("data: [DONE]\n\n")) << exchange.stream;
  return exchange.stream;
}

// All that one field of the deltas of a choice says.
std::string joined(const std::vector<json::value>& events, const char* field, int64_t index = 0) {
  std::string out;
  for (const json::value& event : events) {
    for (const json::value& choice : event.at("choices").as_array()) {
      const json::object& delta = choice.at("delta").as_object();
      if (choice.at("index") == index && delta.contains(field)) out += delta.at(field).as_string();
    }
  }
  return out;
}

TEST(ServerOpenaiChat, Whole) {
  FakeServer server;
  server.scripts = {{started(5), token("Hel"), token("lo"), done(GAINZ_FINISH_STOP, "!")}};
  const json::value answer = whole(server);
  EXPECT_EQ(answer.at("object"), "chat.completion");
  EXPECT_EQ(answer.at("id"), "chatcmpl-req-1");
  EXPECT_EQ(answer.at("model"), "fake");
  EXPECT_EQ(answer.at("choices").as_array(),
            json::parse(R"([{"index":0,"message":{"role":"assistant","content":"Hello!","refusal":null},"logprobs":null,)"
                        R"("finish_reason":"stop"}])"));
  EXPECT_EQ(answer.at("usage"), json::parse(R"({"prompt_tokens":5,"completion_tokens":2,"total_tokens":7,)"
                                            R"("prompt_tokens_details":{"cached_tokens":2},)"
                                            R"("completion_tokens_details":{"reasoning_tokens":0,)"
                                            R"("accepted_prediction_tokens":0,"rejected_prediction_tokens":0}})"));
}

// Whatever changes the numbers is in it.
TEST(ServerOpenaiChat, Fingerprint) {
  FakeServer server;
  const std::string plain = std::string("gainz-") + gainz_version() + "-fake-none-f32";
  EXPECT_EQ(system_fingerprint(server), plain);
  server.about.kv_type_v = "q8_0";
  EXPECT_EQ(system_fingerprint(server), plain + "-q8_0");
}

TEST(ServerOpenaiChat, Stream) {
  FakeServer server;
  server.scripts = {{started(5), token("Hel"), token(""), token("lo"), done(GAINZ_FINISH_LENGTH)}};
  const std::vector<json::value> events = events_of(streamed_text(server));
  ASSERT_EQ(events.size(), 3U) << "nothing is said of a token without text";
  EXPECT_EQ(events[0].at("choices"), json::parse(R"([{"index":0,"delta":{"role":"assistant","content":"Hel"},"logprobs":null,)"
                                                 R"("finish_reason":null}])"));
  EXPECT_EQ(events[1].at("choices"),
            json::parse(R"([{"index":0,"delta":{"content":"lo"},"logprobs":null,"finish_reason":null}])"));
  EXPECT_EQ(events[2].at("choices"), json::parse(R"([{"index":0,"delta":{},"logprobs":null,"finish_reason":"length"}])"));
  for (const json::value& event : events) {
    EXPECT_EQ(event.at("object"), "chat.completion.chunk");
    EXPECT_EQ(event.at("id"), events[0].at("id"));
    EXPECT_EQ(event.at("created"), events[0].at("created"));
    EXPECT_EQ(event.at("model"), "fake");
    EXPECT_FALSE(event.as_object().contains("usage")) << "never unasked";
  }
}

TEST(ServerOpenaiChat, UsageOfAStream) {
  FakeServer server;
  server.scripts = {{token("a"), done(GAINZ_FINISH_STOP)}};
  const std::vector<json::value> events = events_of(streamed_text(server, R"("stream_options":{"include_usage":true})"));
  ASSERT_EQ(events.size(), 3U);
  EXPECT_TRUE(events[0].at("usage").is_null() && events[1].at("usage").is_null());
  EXPECT_TRUE(events[2].at("choices").as_array().empty());
  EXPECT_EQ(events[2].at("usage").at("total_tokens"), 6);
}

TEST(ServerOpenaiChat, AnEmptyAnswerHasARoleToo) {
  FakeServer server;
  server.scripts = {{done(GAINZ_FINISH_LENGTH)}};
  const std::vector<json::value> events = events_of(streamed_text(server));
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].at("choices").at(0).at("delta"), json::parse(R"({"role":"assistant","content":""})"));
  EXPECT_EQ(whole(server).at("choices").at(0).at("message").at("content"), "");
}

TEST(ServerOpenaiChat, Choices) {
  FakeServer server;
  server.scripts = {{token("a"), token("b"), done(GAINZ_FINISH_STOP)}, {token("c"), done(GAINZ_FINISH_LENGTH)}};
  const json::value answer = whole(server, R"("n":2,"seed":9)");
  ASSERT_EQ(server.requests.size(), 2U);
  EXPECT_EQ(server.requests[0].sampling.seed, 9U);
  EXPECT_EQ(server.requests[1].sampling.seed, 10U);
  EXPECT_EQ(answer.at("choices").at(0).at("message").at("content"), "ab");
  EXPECT_EQ(answer.at("choices").at(1).at("message").at("content"), "c");
  EXPECT_EQ(answer.at("choices").at(1).at("index"), 1);
  EXPECT_EQ(answer.at("choices").at(1).at("finish_reason"), "length");
  EXPECT_EQ(answer.at("usage").at("prompt_tokens"), 5) << "once";
  EXPECT_EQ(answer.at("usage").at("completion_tokens"), 3) << "all of them";
  server.requests.clear();
  const std::vector<json::value> events = events_of(streamed_text(server, R"("n":2)"));
  EXPECT_EQ(joined(events, "content", 0), "ab");
  EXPECT_EQ(joined(events, "content", 1), "c");
  EXPECT_EQ(joined(events, "role", 0) + joined(events, "role", 1), "assistantassistant") << "once for each";
}

// A thought cut anywhere comes apart from the answer, and never leaves a piece of a tag behind.
TEST(ServerOpenaiChat, Reasoning) {
  const std::string text = "<think>\nwhy é not\n</think>\n\nso 你";
  for (size_t size = 1; size < 12; ++size) {
    std::vector<GenerationEvent> events;
    std::string piece;
    for (size_t i = 0; i < text.size(); ++i) {
      piece += text[i];
      const bool is_whole = i + 1 == text.size() || (static_cast<unsigned char>(text[i + 1]) & 0xc0) != 0x80;
      if (is_whole && piece.size() >= size) events.push_back(token(std::exchange(piece, {})));
    }
    if (!piece.empty()) events.push_back(token(piece));
    events.push_back(done(GAINZ_FINISH_STOP));
    FakeServer server;
    server.scripts = {events};
    const json::value message = whole(server).at("choices").at(0).at("message");
    EXPECT_EQ(message.at("reasoning_content"), "why é not") << size;
    EXPECT_EQ(message.at("content"), "so 你") << size;
    server.requests.clear();
    const std::vector<json::value> chunks = events_of(streamed_text(server));
    EXPECT_EQ(joined(chunks, "reasoning_content"), "why é not") << size;
    EXPECT_EQ(joined(chunks, "content"), "so 你") << size;
    EXPECT_EQ(joined(chunks, "role"), "assistant") << size;
  }
}

TEST(ServerOpenaiChat, ReasoningOfATemplateThatOpensIt) {
  FakeServer server;
  server.opens = true;
  server.scripts = {{token("why"), token("</think>"), token("so"), done(GAINZ_FINISH_STOP)}};
  const json::value answer = whole(server);
  EXPECT_EQ(answer.at("choices").at(0).at("message").at("reasoning_content"), "why");
  EXPECT_EQ(answer.at("choices").at(0).at("message").at("content"), "so");
  EXPECT_EQ(answer.at("usage").at("completion_tokens_details").at("reasoning_tokens"), 2);
}

TEST(ServerOpenaiChat, LogprobsOfEachToken) {
  FakeServer server;
  server.scripts = {{token("a"), token(""), token("b"), done(GAINZ_FINISH_STOP)}};
  const json::value logprobs = whole(server, R"("logprobs":true)").at("choices").at(0).at("logprobs");
  EXPECT_EQ(logprobs.at("content").as_array().size(), 3U);
  EXPECT_TRUE(logprobs.at("refusal").is_null());
  server.requests.clear();
  size_t num_entries = 0;
  for (const json::value& event : events_of(streamed_text(server, R"("logprobs":true)"))) {
    const json::value& part = event.at("choices").at(0).at("logprobs");
    if (!part.is_null()) num_entries += part.at("content").as_array().size();
  }
  EXPECT_EQ(num_entries, 3U) << "a token without text has its own too";
}

TEST(ServerOpenaiChat, RefusedBeforeItBegins) {
  FakeServer server;
  server.refusal = ApiError{429, "the queue is full", "rate_limit_error", "queue_full", "", std::chrono::milliseconds(1500)};
  for (const char* fields : {R"("stream":false)", R"("stream":true)"}) {
    FakeExchange exchange("POST", kPath, body(fields));
    EXPECT_EQ(test::error_of([&] { server.run(chat_completions, exchange); }, fields).status, 429);
    EXPECT_FALSE(exchange.has_begun()) << "the refusal has a status of its own";
  }
  FakeExchange unknown("POST", kPath, body(R"("model":"other")"));
  EXPECT_EQ(test::error_of([&] { server.run(chat_completions, unknown); }, "model").status, 404);
}

TEST(ServerOpenaiChat, FailuresBeforeTheFirstTokenHaveAStatus) {
  FakeServer server;
  server.scripts = {{started(5), test::failed(GAINZ_DEVICE_LOST, "the device is gone")}};
  FakeExchange exchange("POST", kPath, body(R"("stream":true)"));
  const ApiError error = test::error_of([&] { server.run(chat_completions, exchange); }, "a lost device");
  EXPECT_EQ(error.status, 503);
  EXPECT_EQ(error.message, "the device is gone");
  EXPECT_FALSE(exchange.has_begun());
}

TEST(ServerOpenaiChat, FailuresInAStreamComeAfterWhatWasSaid) {
  FakeServer server;
  server.scripts = {{token("a"), token("b"), test::failed(GAINZ_OUT_OF_DEVICE_MEMORY, "no pages")}};
  FakeExchange exchange("POST", kPath, body(R"("stream":true)"));
  EXPECT_EQ(test::error_of([&] { server.run(chat_completions, exchange); }, "a failure").code, "out_of_memory");
  EXPECT_EQ(joined(events_of(exchange.stream), "content"), "ab");
  EXPECT_EQ(exchange.stream.find("[DONE]"), std::string::npos);
  EXPECT_FALSE(exchange.has_ended) << "the connection writes the error and the end";
}

TEST(ServerOpenaiChat, OneFailureEndsAllChoices) {
  FakeServer server;
  server.scripts = {{token("a"), test::failed(GAINZ_INTERNAL, "broken")}, {token("b")}, {token("c")}};
  FakeExchange exchange("POST", kPath, body(R"("n":3)"));
  EXPECT_EQ(test::error_of([&] { server.run(chat_completions, exchange); }, "a failure").status, 500);
  EXPECT_EQ(server.num_cancelled, 2U);
  EXPECT_FALSE(exchange.response);
}

TEST(ServerOpenaiChat, ATimeoutIsA504) {
  FakeServer server;
  server.scripts = {{token("a"), done(GAINZ_FINISH_TIMEOUT)}};
  FakeExchange exchange("POST", kPath, body());
  EXPECT_EQ(test::error_of([&] { server.run(chat_completions, exchange); }, "a timeout").status, 504);
}

TEST(ServerOpenaiChat, AClientThatLeavesCancels) {
  FakeServer server;
  server.scripts = {{token("a")}, {token("b")}};  // neither ends by itself
  FakeExchange exchange("POST", kPath, body(R"("stream":true,"n":2)"));
  exchange.leave_after(0);
  server.run(chat_completions, exchange);
  EXPECT_EQ(server.num_cancelled, 2U);
  EXPECT_FALSE(exchange.has_ended);
}

TEST(ServerOpenaiChat, ACancelledGenerationSaysNothing) {
  FakeServer server;
  server.scripts = {{token("a"), done(GAINZ_FINISH_CANCELLED)}};
  FakeExchange exchange("POST", kPath, body());
  server.run(chat_completions, exchange);
  EXPECT_FALSE(exchange.response) << "the connection knows why";
}

// The text of a token that broke is shown, never passed on.
TEST(ServerOpenaiChat, WhatLeavesIsUtf8) {
  FakeServer server;
  server.scripts = {{token("a\x80"), token("\xe4\xbd"), done(GAINZ_FINISH_STOP)}};
  EXPECT_EQ(whole(server).at("choices").at(0).at("message").at("content"), "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  server.requests.clear();
  EXPECT_NO_THROW(events_of(streamed_text(server)));
}

}  // namespace
}  // namespace gainz::host
