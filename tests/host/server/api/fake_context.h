// FakeContext: a ServerContext with settings and the names of models, for what reads bodies. Owner: the test.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "config/settings.h"
#include "server/server.h"

namespace gainz::test {

class FakeContext final : public host::ServerContext {
 public:
  explicit FakeContext(const std::vector<std::string>& ids) {
    for (const std::string& id : ids) states_.emplace_back().id = id;
  }
  gainz_runtime* runtime() override { return nullptr; }
  const host::Settings& settings() const override { return settings_; }
  host::Generations& generations() override { throw std::logic_error("no generations here"); }
  boost::asio::awaitable<std::shared_ptr<host::ServedModel>> model(std::string) override { co_return nullptr; }
  std::vector<host::ModelState> models() const override { return states_; }
  boost::asio::awaitable<void> load_model(std::string) override { co_return; }
  boost::asio::awaitable<void> unload_model(std::string) override { co_return; }
  void keep_alive(const std::string&, std::chrono::seconds) override {}
  boost::asio::awaitable<void> off_thread(std::function<void()>) override { co_return; }
  std::string metrics_text() override { return ""; }
  bool is_draining() const override { return false; }
  double uptime_seconds() const override { return 0; }

 private:
  host::Settings settings_;
  std::vector<host::ModelState> states_;
};

}  // namespace gainz::test
