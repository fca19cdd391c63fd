// ServerContext: what handlers see of the server. Owner: the server; outlives every exchange. Thread: the network thread.
#pragma once

#include <gainz/gainz.h>

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/generation.h"

namespace gainz::host {

class Settings;

// A model that can be asked: its id for clients and, while loaded, the runtime's. Alive as long as somebody holds it; an unload
// waits for nobody, requests of an unloaded model end with an error.
class ServedModel {
 public:
  virtual ~ServedModel() = default;
  virtual const std::string& id() const = 0;  // what clients call it
  virtual gainz_model_id runtime_id() const = 0;
  virtual const gainz_model_info& info() const = 0;
  virtual const Settings& settings() const = 0;  // with the entry's overrides
  virtual int64_t created() const = 0;           // Unix seconds of its load
  virtual bool opens_thinking() const = 0;       // its chat template, unless told otherwise, ends the prompt with <think>
};

struct ModelState {  // one entry of the configuration
  std::string id, path;
  std::string state;                              // "ready", "loading", "unloaded", "failed"
  double progress = 0;                            // of "loading"
  std::string reason;                             // of "failed"
  std::shared_ptr<ServedModel> model;             // while ready
  std::chrono::system_clock::time_point expires;  // idle unload; the epoch: never
  uint64_t memory_bytes = 0;                      // weights and pages, while ready
};

class ServerContext {
 public:
  virtual ~ServerContext() = default;
  virtual gainz_runtime* runtime() = 0;
  virtual const Settings& settings() const = 0;
  virtual Generations& generations() = 0;

  // The model a request names; "" is the only or first one. Loads it if it is configured and not in memory (others that are
  // idle make room). Throws ApiError: 404 model_not_found, 503 loading or failed.
  virtual boost::asio::awaitable<std::shared_ptr<ServedModel>> model(std::string name) = 0;
  virtual std::vector<ModelState> models() const = 0;
  virtual boost::asio::awaitable<void> load_model(std::string id) = 0;
  virtual boost::asio::awaitable<void> unload_model(std::string id) = 0;
  // Until it is loaded again the model stays so long after its last use; negative: for ever.
  virtual void keep_alive(const std::string& id, std::chrono::seconds time) = 0;

  // Runs work that takes its time (tokenizing, templates, large JSON) on a worker and comes back to the network thread. What
  // the work throws is thrown here.
  virtual boost::asio::awaitable<void> off_thread(std::function<void()> work) = 0;

  virtual std::string metrics_text() = 0;  // Prometheus 0.0.4
  virtual bool is_draining() const = 0;
  virtual double uptime_seconds() const = 0;
};

}  // namespace gainz::host
