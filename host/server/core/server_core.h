// ServerCore: the ServerContext of `gainz serve`: the runtime, its models, generations, metrics and workers behind one face.
// Owner: the command. Thread: the network thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/core/generations.h"
#include "server/core/key_limits.h"
#include "server/core/metrics.h"
#include "server/core/model_table.h"
#include "server/server.h"
#include "session/log_sink.h"

namespace gainz::host {

class ServerCore final : public ServerContext {
 public:
  // The runtime is taken over.
  ServerCore(boost::asio::io_context& io, gainz_runtime* runtime, Settings settings, std::vector<ModelSource> sources,
             LogSink& log);
  ~ServerCore() override;

  gainz_runtime* runtime() override { return runtime_; }
  const Settings& settings() const override { return *settings_; }
  Generations& generations() override { return *generations_; }
  boost::asio::awaitable<std::shared_ptr<ServedModel>> model(std::string name) override;
  std::vector<ModelState> models() const override { return models_->states(); }
  boost::asio::awaitable<void> load_model(std::string id) override;
  boost::asio::awaitable<void> unload_model(std::string id) override;
  void keep_alive(const std::string& id, std::chrono::seconds time) override { models_->keep_alive(id, time); }
  boost::asio::awaitable<void> off_thread(std::function<void()> work) override;
  std::string metrics_text() override;
  bool is_draining() const override { return is_draining_; }
  double uptime_seconds() const override;

  void unload_idle() { models_->unload_idle(ModelTable::Clock::now()); }
  void begin_draining() { is_draining_ = true; }
  size_t num_generations() const { return generations_->num_running(); }
  void set_num_connections(std::function<size_t()> count) { num_connections_ = std::move(count); }
  // Hooks of the HTTP server.
  void log_exchange(const ExchangeRecord& record);
  void log(uint32_t level, const std::string& sentence) { log_.write(level, sentence); }

  // A new configuration: what can change live does. Answers what a person should know, a sentence each.
  std::vector<std::string> replace(Settings settings, std::vector<ModelSource> sources);

 private:
  struct Workers;
  void set_limits();
  void log_generation(const GenerationLog& entry);

  boost::asio::io_context& io_;
  LogSink& log_;
  gainz_runtime* runtime_;
  std::shared_ptr<const Settings> settings_;
  std::vector<std::shared_ptr<const Settings>> former_;  // references to them may live on in handlers; one for each SIGHUP
  Metrics metrics_;
  KeyLimits key_limits_;
  std::unique_ptr<Workers> workers_;
  std::unique_ptr<ModelTable> models_;
  std::unique_ptr<RuntimeGenerations> generations_;
  std::function<size_t()> num_connections_;
  bool is_draining_ = false;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// The models to serve: `wanted` (-m, called `name` if given) alone, else each [[model]]. Ids: a model's name, else its file's
// without ".gguf".
Result<std::vector<ModelSource>> model_sources(const Settings& settings, const Environment& environment,
                                               const std::optional<std::string>& wanted,
                                               const std::optional<std::string>& name);

// The next settings with what cannot change live as it is now; `told` gets a sentence for each such key that differs.
Settings keep_fixed(const Settings& now, Settings next, std::vector<std::string>& told);

}  // namespace gainz::host
