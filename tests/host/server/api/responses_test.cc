// /v1/responses over generations that say what they are told.
#include <gtest/gtest.h>

#include "host/server/api/fake_server.h"
#include "host/server/api/refused.h"

namespace gainz::host {
namespace {

namespace json = boost::json;
using test::done;
using test::events_of;
using test::FakeExchange;
using test::FakeServer;
using test::token;

constexpr const char* kPath = "/v1/responses";

json::value whole(FakeServer& server, const std::string& fields = "") {
  FakeExchange exchange("POST", kPath, R"({"input":"x")" + fields + "}");
  server.run(test::handler_of("POST", kPath), exchange);
  EXPECT_TRUE(exchange.response) << "no answer";
  return exchange.response ? json::parse(exchange.response->body) : json::value();
}

std::vector<json::value> streamed(FakeServer& server) {
  FakeExchange exchange("POST", kPath, R"({"input":"x","stream":true})");
  server.run(test::handler_of("POST", kPath), exchange);
  EXPECT_TRUE(exchange.has_ended);
  EXPECT_EQ(exchange.stream.find("[DONE]"), std::string::npos);
  std::vector<json::value> events = events_of(exchange.stream);
  for (size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].at("sequence_number"), i);
    const std::string head = "event: " + std::string(events[i].at("type").as_string()) + "\ndata: {\"type\":";
    EXPECT_NE(exchange.stream.find(head), std::string::npos) << head;
  }
  return events;
}

std::vector<std::string> types_of(const std::vector<json::value>& events) {
  std::vector<std::string> out;
  for (const json::value& event : events) out.emplace_back(event.at("type").as_string().subview(9));  // "response."
  return out;
}

using Types = std::vector<std::string>;

TEST(ServerResponses, Whole) {
  FakeServer server;
  server.scripts = {{token("Hel"), token("lo"), done(GAINZ_FINISH_STOP)}};
  const json::value answer = whole(server, R"(,"instructions":"i")");
  EXPECT_EQ(answer.at("status"), "completed");
  EXPECT_EQ(answer.at("instructions"), "i");
  EXPECT_TRUE(answer.at("error").is_null() && answer.at("incomplete_details").is_null());
  EXPECT_EQ(answer.at("output"),
            json::parse(R"([{"id":"msg_req-1","type":"message","status":"completed","role":"assistant",)"
                        R"("content":[{"type":"output_text","text":"Hello","annotations":[],"logprobs":[]}]}])"));
  EXPECT_EQ(answer.at("usage"), json::parse(R"({"input_tokens":5,"input_tokens_details":{"cached_tokens":2},"output_tokens":2,)"
                                            R"("output_tokens_details":{"reasoning_tokens":0},"total_tokens":7})"));
}

TEST(ServerResponses, Stream) {
  FakeServer server;
  server.scripts = {{token("Hel"), token("lo"), done(GAINZ_FINISH_LENGTH)}};
  const std::vector<json::value> events = streamed(server);
  EXPECT_EQ(types_of(events),
            (Types{"created", "in_progress", "output_item.added", "content_part.added", "output_text.delta",
                   "output_text.delta", "output_text.done", "content_part.done", "output_item.done", "incomplete"}));
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(events[i].at("response").at("status"), "in_progress");
    EXPECT_TRUE(events[i].at("response").at("output").as_array().empty());
    EXPECT_TRUE(events[i].at("response").at("usage").is_null());
  }
  EXPECT_EQ(events[2].at("item").at("content").as_array().size(), 0U);
  EXPECT_EQ(events[6].at("text"), "Hello");
  EXPECT_EQ(events[9].at("response").at("incomplete_details").at("reason"), "max_output_tokens");
  EXPECT_EQ(events[9].at("response").at("output").at(0), events[8].at("item"));
}

// Even if all of it is there before the first event is written.
TEST(ServerResponses, AnEmptyAnswerIsInProgressFirst) {
  FakeServer server;
  server.scripts = {{done(GAINZ_FINISH_STOP)}};
  const std::vector<json::value> events = streamed(server);
  EXPECT_EQ(types_of(events), (Types{"created", "in_progress", "output_item.added", "content_part.added", "output_text.done",
                                     "content_part.done", "output_item.done", "completed"}));
  EXPECT_EQ(events[0].at("response").at("status"), "in_progress");
  EXPECT_TRUE(events[0].at("response").at("output").as_array().empty());
}

TEST(ServerResponses, ReasoningIsAnItemOfItsOwn) {
  FakeServer server;
  server.scripts = {{token("<think>wh"), token("y</think>"), token("so"), done(GAINZ_FINISH_STOP)}};
  const std::vector<json::value> events = streamed(server);
  EXPECT_EQ(types_of(events), (Types{"created", "in_progress", "output_item.added", "content_part.added",
                                     "reasoning_text.delta", "reasoning_text.delta", "reasoning_text.done", "content_part.done",
                                     "output_item.done", "output_item.added", "content_part.added", "output_text.delta",
                                     "output_text.done", "content_part.done", "output_item.done", "completed"}));
  for (size_t i = 2; i + 1 < events.size(); ++i) EXPECT_EQ(events[i].at("output_index"), i < 9 ? 0 : 1) << i;
  const json::value& output = events.back().at("response").at("output");
  EXPECT_EQ(output.at(0), events[8].at("item"));
  EXPECT_EQ(output.at(0).at("content"), json::parse(R"([{"type":"reasoning_text","text":"why"}])"));
  EXPECT_EQ(output.at(0).at("status"), "completed");
  EXPECT_EQ(output.at(1), events[14].at("item"));
  server.requests.clear();
  EXPECT_EQ(whole(server).at("output"), output);
}

TEST(ServerResponses, ReasoningThatWasCutIsAll) {
  FakeServer server;
  server.scripts = {{token("<think>wh"), token("y"), done(GAINZ_FINISH_LENGTH)}};
  const std::vector<json::value> events = streamed(server);
  EXPECT_EQ(types_of(events),
            (Types{"created", "in_progress", "output_item.added", "content_part.added", "reasoning_text.delta",
                   "reasoning_text.delta", "reasoning_text.done", "content_part.done", "output_item.done", "incomplete"}));
  const json::value& output = events.back().at("response").at("output");
  ASSERT_EQ(output.as_array().size(), 1U);
  EXPECT_EQ(output.at(0).at("status"), "incomplete");
  EXPECT_EQ(output.at(0), events[8].at("item"));
}

TEST(ServerResponses, AFailureInTheStreamIsItsLastEvent) {
  FakeServer server;
  server.scripts = {{token("Hel"), test::failed(GAINZ_DEVICE_LOST, "the device is gone")}};
  const std::vector<json::value> events = streamed(server);
  EXPECT_EQ(types_of(events),
            (Types{"created", "in_progress", "output_item.added", "content_part.added", "output_text.delta", "failed"}));
  const json::value& response = events.back().at("response");
  EXPECT_EQ(response.at("status"), "failed");
  EXPECT_EQ(response.at("error"), json::parse(R"({"code":"device_lost","message":"the device is gone"})"));
  EXPECT_EQ(response.at("output").at(0).at("status"), "incomplete");
  EXPECT_EQ(response.at("output").at(0).at("content").at(0).at("text"), "Hel");
  EXPECT_TRUE(response.at("usage").is_null());
}

TEST(ServerResponses, AFailureBeforeTheFirstEventHasAStatus) {
  FakeServer server;
  server.scripts = {{test::failed(GAINZ_DEVICE_LOST, "the device is gone")}};
  for (const char* text : {R"({"input":"x"})", R"({"input":"x","stream":true})"}) {
    FakeExchange exchange("POST", kPath, text);
    const auto run = [&] { server.run(test::handler_of("POST", kPath), exchange); };
    EXPECT_EQ(test::error_of(run, text).status, 503);
    EXPECT_FALSE(exchange.has_begun());
  }
}

TEST(ServerResponses, ErrorsCallThePromptInput) {
  FakeServer server;
  server.refusal = bad_request("messages", "This model's maximum context length is exceeded", "context_length_exceeded");
  FakeExchange exchange("POST", kPath, R"({"input":"x"})");
  EXPECT_EQ(test::error_of([&] { server.run(test::handler_of("POST", kPath), exchange); }, "a long input").parameter, "input");
}

TEST(ServerResponses, AClientThatLeavesCancels) {
  FakeServer server;
  server.scripts = {{token("a")}};
  FakeExchange exchange("POST", kPath, R"({"input":"x","stream":true})");
  exchange.leave_after(0);
  server.run(test::handler_of("POST", kPath), exchange);
  EXPECT_EQ(server.num_cancelled, 1U);
}

}  // namespace
}  // namespace gainz::host
