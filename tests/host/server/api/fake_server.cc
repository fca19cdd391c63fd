#include "host/server/api/fake_server.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <stdexcept>

#include "server/router.h"

namespace gainz::test {

namespace asio = boost::asio;
using namespace host;

namespace {

class FakeGeneration final : public Generation {
 public:
  FakeGeneration(std::vector<GenerationEvent> events, size_t& num_cancelled)
      : events_(events.begin(), events.end()), num_cancelled_(num_cancelled) {}
  ~FakeGeneration() override {
    if (!has_ended_) ++num_cancelled_;
  }
  asio::awaitable<GenerationEvent> next() override { throw std::logic_error("handlers ask all choices at once"); }
  std::optional<GenerationEvent> try_next() override {
    if (events_.empty()) return std::nullopt;
    GenerationEvent event = std::move(events_.front());
    events_.pop_front();
    has_ended_ |= event.kind == GAINZ_EVENT_DONE;
    return event;
  }
  void cancel() override {}
  void wake(std::shared_ptr<asio::steady_timer>) override {}

 private:
  std::deque<GenerationEvent> events_;
  size_t& num_cancelled_;
  bool has_ended_ = false;
};

}  // namespace

GenerationEvent started(uint32_t num_prompt_tokens) {
  GenerationEvent out;
  out.kind = GAINZ_EVENT_STARTED;
  out.num_prompt_tokens = num_prompt_tokens;
  return out;
}

GenerationEvent token(std::string text, int32_t id) {
  GenerationEvent out;
  out.kind = GAINZ_EVENT_TOKEN;
  out.text = std::move(text);
  out.id = id;
  out.logprob = -0.5F;
  return out;
}

GenerationEvent done(uint32_t finish_reason, std::string tail) {
  GenerationEvent out;
  out.kind = GAINZ_EVENT_DONE;
  out.finish_reason = finish_reason;
  out.text = std::move(tail);
  out.num_prompt_tokens = 5;
  out.num_cached_tokens = 2;
  return out;
}

GenerationEvent failed(gainz_code code, std::string sentence) {
  GenerationEvent out = done(GAINZ_FINISH_ERROR);
  out.code = code;
  out.error = std::move(sentence);
  return out;
}

FakeExchange::FakeExchange(std::string method, std::string path, std::string body) {
  request_.method = std::move(method);
  request_.path = std::move(path);
  request_.body = std::move(body);
}

asio::awaitable<void> FakeExchange::send(HttpResponse sent) {
  if (response || has_begun_) throw std::logic_error("a second answer");
  response = std::move(sent);
  has_begun_ = true;
  co_return;
}

asio::awaitable<void> FakeExchange::begin_stream(std::string_view content_type) {
  if (has_begun_) throw std::logic_error("a stream after an answer");
  has_begun_ = true;
  stream_type = content_type;
  co_return;
}

asio::awaitable<bool> FakeExchange::write(std::string_view text) {
  if (stream_type.empty() || has_ended) throw std::logic_error("a piece outside a stream");
  if (writes_left_ && (*writes_left_)-- == 0) is_gone_ = true;
  if (is_gone_) {
    for (const auto& callback : std::exchange(gone_callbacks_, {})) callback();
    co_return false;
  }
  writes.emplace_back(text);
  stream += text;
  co_return true;
}

asio::awaitable<void> FakeExchange::end_stream() {
  if (stream_type.empty() || has_ended) throw std::logic_error("the end of no stream");
  has_ended = true;
  co_return;
}

FakeServer::FakeServer() : about() {
  about.struct_size = sizeof about;
  about.backend = "fake";
  about.isa = "none";
  about.kv_type = "f32";
  about.kv_type_v = "f32";
  about.embedding_length = 2;
}

void FakeServer::run(Handler handler, Exchange& exchange) {
  asio::io_context io;
  std::exception_ptr thrown;
  asio::co_spawn(io, handler(*this, exchange), [&](std::exception_ptr error) { thrown = std::move(error); });
  io.run();
  if (thrown) std::rethrow_exception(thrown);
}

asio::awaitable<std::shared_ptr<ServedModel>> FakeServer::model(std::string name) {
  if (!name.empty() && name != id_) throw not_found("The model `" + name + "` does not exist", "model_not_found");
  std::shared_ptr<ServedModel> out(std::shared_ptr<void>(), this);  // owned by the test
  co_return out;
}

std::vector<ModelState> FakeServer::models() const {
  ModelState ready, away;
  ready.id = id_;
  ready.model = std::shared_ptr<ServedModel>(std::shared_ptr<void>(), const_cast<FakeServer*>(this));
  away.id = "org/away";
  return {ready, away};
}

asio::awaitable<void> FakeServer::off_thread(std::function<void()> work) {
  work();
  co_return;
}

asio::awaitable<std::unique_ptr<Generation>> FakeServer::start(Exchange&, std::shared_ptr<ServedModel>,
                                                               GenerationRequest request) {
  if (refusal) throw *refusal;
  const size_t index = std::min(requests.size(), scripts.size() - 1);
  requests.push_back(std::move(request));
  std::vector<GenerationEvent> events = scripts.at(index);
  uint32_t num_tokens = 0;
  for (GenerationEvent& event : events) {
    if (event.kind == GAINZ_EVENT_TOKEN) ++num_tokens;
    if (event.kind == GAINZ_EVENT_DONE) event.num_generated_tokens = num_tokens;
  }
  std::unique_ptr<Generation> out = std::make_unique<FakeGeneration>(std::move(events), num_cancelled);
  co_return out;
}

Handler handler_of(std::string_view method, std::string_view path) {
  static const Router router = make_router();
  const RouteMatch match = router.match(method, path);
  if (match.route == nullptr) throw std::logic_error("no such route");
  return match.route->handler;
}

std::vector<boost::json::value> events_of(const std::string& stream) {
  std::vector<boost::json::value> out;
  size_t begin = 0;
  for (size_t end = stream.find("\n\n"); end != std::string::npos; begin = end + 2, end = stream.find("\n\n", begin)) {
    std::string event = stream.substr(begin, end - begin);
    const size_t data = event.find("data: ");
    if (data == std::string::npos || event == "data: [DONE]") continue;
    out.push_back(boost::json::parse(event.substr(data + 6)));
  }
  if (begin != stream.size()) throw std::logic_error("the stream ends within an event: " + stream.substr(begin));
  return out;
}

}  // namespace gainz::test
