// Completions, embeddings and models over generations that say what they are told; keep-alives of streams.
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <cmath>

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
using test::token;

json::value ask(FakeServer& server, const char* path, const std::string& body) {
  FakeExchange exchange("POST", path, body);
  server.run(test::handler_of("POST", path), exchange);
  EXPECT_TRUE(exchange.response) << "no answer";
  return exchange.response ? json::parse(exchange.response->body) : json::value();
}

GenerationEvent prompt_logprob(int32_t id) {
  GenerationEvent out;
  out.kind = GAINZ_EVENT_PROMPT_LOGPROB;
  out.id = id;
  out.logprob = -1;
  return out;
}

TEST(ServerOpenaiCompletions, ChoicesOfPromptsInOrder) {
  FakeServer server;
  server.scripts = {{token("a"), done(GAINZ_FINISH_STOP)},
                    {token("b"), done(GAINZ_FINISH_LENGTH)},
                    {token("c"), done(GAINZ_FINISH_STOP)},
                    {token("d"), done(GAINZ_FINISH_STOP)}};
  const json::value answer = ask(server, "/v1/completions", R"({"prompt":["p",[7,8]],"n":2,"seed":3})");
  ASSERT_EQ(server.requests.size(), 4U);
  EXPECT_EQ(server.requests[1].prompt, "p");
  EXPECT_EQ(server.requests[2].prompt_ids, (std::vector<int32_t>{7, 8}));
  EXPECT_EQ(server.requests[1].sampling.seed, 4U);
  EXPECT_EQ(server.requests[2].sampling.seed, 3U) << "each prompt begins anew";
  std::string text;
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(answer.at("choices").at(i).at("index"), i);
    text += answer.at("choices").at(i).at("text").as_string();
  }
  EXPECT_EQ(text, "abcd");
  EXPECT_EQ(answer.at("object"), "text_completion");
  EXPECT_EQ(answer.at("usage").at("prompt_tokens"), 10) << "of two prompts";
  EXPECT_EQ(answer.at("usage").at("completion_tokens"), 4);
}

TEST(ServerOpenaiCompletions, APromptsScoresComeWithTheFirstToken) {
  FakeServer server;
  server.scripts = {{prompt_logprob(1), prompt_logprob(2), token("x"), token(""), done(GAINZ_FINISH_LENGTH)}};
  FakeExchange exchange("POST", "/v1/completions", R"({"prompt":"p","echo":true,"logprobs":0,"stream":true})");
  server.run(completions, exchange);
  const std::vector<json::value> events = events_of(exchange.stream);
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].at("choices").at(0).at("text"), "px");
  EXPECT_EQ(events[0].at("choices").at(0).at("logprobs").at("token_logprobs"), json::parse("[-1,-1,-0.5]"));
  EXPECT_EQ(events[1].at("choices").at(0).at("logprobs").at("token_logprobs"), json::parse("[-0.5]"));
  EXPECT_EQ(events[2].at("choices").at(0).at("finish_reason"), "length");
  EXPECT_TRUE(exchange.stream.ends_with("data: [DONE]\n\n"));
}

TEST(ServerOpenaiCompletions, WithoutScoresATokenWithoutTextIsNoEvent) {
  FakeServer server;
  server.scripts = {{token(""), token("x"), done(GAINZ_FINISH_STOP, "y")}};
  FakeExchange exchange("POST", "/v1/completions", R"({"prompt":"p","stream":true,"stream_options":{"include_usage":true}})");
  server.run(completions, exchange);
  const std::vector<json::value> events = events_of(exchange.stream);
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[1].at("choices").at(0).at("text"), "y");
  EXPECT_EQ(events[1].at("choices").at(0).at("finish_reason"), "stop");
  EXPECT_TRUE(events[1].at("usage").is_null());
  EXPECT_EQ(events[2].at("usage").at("completion_tokens"), 2);
}

TEST(ServerOpenaiEmbeddings, Forms) {
  FakeServer server;
  GenerationEvent embedding;
  embedding.kind = GAINZ_EVENT_EMBEDDING;
  embedding.values = {3, -4};
  server.scripts = {{embedding, done(GAINZ_FINISH_STOP)}};
  const json::value floats = ask(server, "/v1/embeddings", R"({"input":["a",[1]],"pooling":"last","dimensions":2,"user":"u"})");
  EXPECT_EQ(floats.at("data").at(0), json::parse(R"({"object":"embedding","index":0,"embedding":[0.6,-0.8]})"));
  EXPECT_EQ(floats.at("data").at(1).at("index"), 1);
  EXPECT_EQ(floats.at("usage"), json::parse(R"({"prompt_tokens":10,"total_tokens":10})"));
  EXPECT_EQ(server.requests[0].pooling, GAINZ_POOLING_LAST);
  EXPECT_EQ(ask(server, "/v1/embeddings", R"({"input":"a","encoding_format":"base64"})").at("data").at(0).at("embedding"),
            "mpkZP83MTL8=")
      << "0.6 and -0.8, little-endian";
  for (const auto& [body, name] :
       {std::pair(R"({"input":"a","dimensions":3})", "dimensions"),
        std::pair(R"({"input":"a","encoding_format":"hex"})", "encoding_format"),
        std::pair(R"({"input":"a","pooling":"max"})", "pooling"), std::pair(R"({"input":"a","other":1})", "other")})
    test::expect_refused([&, text = body] { ask(server, "/v1/embeddings", text); }, name, body);
}

TEST(ServerOpenaiModels, ListedAndShown) {
  FakeServer server;
  FakeExchange list("GET", "/v1/models", "");
  server.run(test::handler_of("GET", "/v1/models"), list);
  EXPECT_EQ(json::parse(list.response->body),
            json::parse(R"({"object":"list","data":[{"id":"fake","object":"model","created":1234,"owned_by":"gainz"},)"
                        R"({"id":"org/away","object":"model","created":0,"owned_by":"gainz"}]})"));
  FakeExchange one("GET", "/v1/models/org/away", "");
  server.run(test::handler_of("GET", "/v1/models/org/away"), one);
  EXPECT_EQ(json::parse(one.response->body).at("id"), "org/away") << "with a slash";
  FakeExchange none("GET", "/v1/models/none", "");
  const auto run = [&] { server.run(test::handler_of("GET", "/v1/models/none"), none); };
  EXPECT_EQ(test::error_of(run, "none").code, "model_not_found");
}

struct Silent {  // a writer without words
  void take(const ChoiceEvent&) {}
  std::string events() { return ""; }
  std::string last_events() { return "end"; }
};

boost::asio::awaitable<void> wait_for(FakeServer& server, FakeExchange& exchange) {
  std::shared_ptr<ServedModel> model = co_await server.model("");
  std::vector<GenerationRequest> one(1);
  std::unique_ptr<Choices> choices = co_await Choices::start(server, exchange, model, std::move(one));
  Silent writer;
  co_await stream_events(exchange, *choices, writer, std::chrono::milliseconds(5));
}

// A comment line now and then keeps those between from thinking that nobody is there.
TEST(ServerOpenaiStream, KeepAlive) {
  FakeServer server;
  server.scripts = {{}};  // says nothing
  FakeExchange exchange("POST", "/v1/completions", "");
  exchange.leave_after(3);
  boost::asio::io_context io;
  boost::asio::co_spawn(io, wait_for(server, exchange), [](const std::exception_ptr& error) { EXPECT_FALSE(error); });
  io.run();
  EXPECT_EQ(exchange.writes, std::vector<std::string>(3, ": still at work\n\n"));
  EXPECT_EQ(server.num_cancelled, 1U) << "and who left cancels";
}

}  // namespace
}  // namespace gainz::host
