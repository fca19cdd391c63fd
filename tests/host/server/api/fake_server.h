// A server whose generations say what a test wrote down, to run handlers without sockets and models. Owner: the test. One
// thread.
#pragma once

#include <boost/json.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/settings.h"
#include "server/api_error.h"
#include "server/exchange.h"
#include "server/route.h"
#include "server/server.h"

namespace gainz::test {

host::GenerationEvent started(uint32_t num_prompt_tokens);
host::GenerationEvent token(std::string text, int32_t id = 1);
host::GenerationEvent done(uint32_t finish_reason, std::string tail = "");  // prompt 5 (2 cached); generated: see FakeServer
host::GenerationEvent failed(gainz_code code, std::string sentence);

class FakeExchange final : public host::Exchange {
 public:
  FakeExchange(std::string method, std::string path, std::string body);

  const host::HttpRequest& request() const override { return request_; }
  const std::string& id() const override { return id_; }
  const std::string& key() const override { return key_; }
  boost::asio::awaitable<void> send(host::HttpResponse response) override;
  boost::asio::awaitable<void> begin_stream(std::string_view content_type) override;
  boost::asio::awaitable<bool> write(std::string_view text) override;
  boost::asio::awaitable<void> end_stream() override;
  bool has_begun() const override { return has_begun_; }
  void on_gone(std::function<void()> callback) override { gone_callbacks_.push_back(std::move(callback)); }
  bool is_gone() const override { return is_gone_; }

  void leave_after(size_t num_writes) { writes_left_ = num_writes; }  // the client takes that many pieces

  std::optional<host::HttpResponse> response;
  std::string stream_type, stream;
  std::vector<std::string> writes;
  bool has_ended = false;

 private:
  host::HttpRequest request_;
  std::string id_ = "req-1", key_;
  std::vector<std::function<void()>> gone_callbacks_;
  std::optional<size_t> writes_left_;
  bool has_begun_ = false, is_gone_ = false;
};

class FakeServer final : public host::ServerContext, public host::Generations, public host::ServedModel {
 public:
  FakeServer();

  // One list for each generation, in the order in which they start; the last one for all that follow. Without a DONE at its
  // end a generation says nothing more.
  std::vector<std::vector<host::GenerationEvent>> scripts;
  std::optional<host::ApiError> refusal;          // of the next generation
  bool opens = false;                             // the template opens <think>
  gainz_model_info about;                         // the model
  std::vector<host::GenerationRequest> requests;  // that were started
  size_t num_cancelled = 0;                       // generations that were destroyed before their end

  // Runs a route's handler. What it throws is thrown here.
  void run(host::Handler handler, host::Exchange& exchange);

  gainz_runtime* runtime() override { return nullptr; }
  const host::Settings& settings() const override { return settings_; }
  host::Generations& generations() override { return *this; }
  boost::asio::awaitable<std::shared_ptr<host::ServedModel>> model(std::string name) override;
  std::vector<host::ModelState> models() const override;
  boost::asio::awaitable<void> load_model(std::string) override { co_return; }
  boost::asio::awaitable<void> unload_model(std::string) override { co_return; }
  void keep_alive(const std::string&, std::chrono::seconds) override {}
  boost::asio::awaitable<void> off_thread(std::function<void()> work) override;
  std::string metrics_text() override { return ""; }
  bool is_draining() const override { return false; }
  double uptime_seconds() const override { return 0; }

  boost::asio::awaitable<std::unique_ptr<host::Generation>> start(host::Exchange& exchange,
                                                                  std::shared_ptr<host::ServedModel> model,
                                                                  host::GenerationRequest request) override;

  const std::string& id() const override { return id_; }
  gainz_model_id runtime_id() const override { return 1; }
  const gainz_model_info& info() const override { return about; }
  int64_t created() const override { return 1234; }
  bool opens_thinking() const override { return opens; }

 private:
  host::Settings settings_;
  std::string id_ = "fake";
};

// The handler of a route of this server's tables.
host::Handler handler_of(std::string_view method, std::string_view path);
// The JSON of a stream's `data:` lines; [DONE] is left out.
std::vector<boost::json::value> events_of(const std::string& stream);

}  // namespace gainz::test
