// RuntimeGenerations: Generations over the runtime: admits, submits on a worker, hands out events as they come, counts and
// cancels. Owner: the server. Thread: the network thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "server/core/event_pump.h"
#include "server/core/key_limits.h"
#include "server/core/metrics.h"
#include "server/core/running.h"
#include "server/generation.h"
#include "server/server.h"

namespace gainz::host {

class ModelTable;

struct GenerationLog {  // one generation that ended, for [log].content
  const Running& running;
  const GenerationEvent& done;
  std::string_view outcome;
};

class RuntimeGenerations final : public Generations {
 public:
  struct Parts {
    boost::asio::io_context& io;
    ServerContext& context;
    ModelTable& models;
    Metrics& metrics;
    KeyLimits& key_limits;
    std::function<void(const GenerationLog&)> on_end;  // may be empty
  };
  explicit RuntimeGenerations(Parts parts);
  ~RuntimeGenerations() override;

  boost::asio::awaitable<std::unique_ptr<Generation>> start(Exchange& exchange, std::shared_ptr<ServedModel> model,
                                                            GenerationRequest request) override;
  size_t num_running() const { return running_.size(); }

 private:
  struct OfModel {  // what the admission knows of a model
    uint64_t num_admitted = 0;
    double mean_seconds = 1;  // of its generations, the latest counting most
  };
  void admit(const std::string& model, const Settings& settings);
  void deliver(std::vector<Delivery>& batch);
  void take(Running& running, GenerationEvent event);
  void end(Running& running, GenerationEvent& done);
  void remove(uint64_t handle);

  Parts parts_;
  std::unordered_map<uint64_t, std::shared_ptr<Running>> running_;  // by handle
  std::unordered_map<std::string, OfModel> models_;
  uint64_t last_handle_ = 0;
  EventPump pump_;
};

}  // namespace gainz::host
