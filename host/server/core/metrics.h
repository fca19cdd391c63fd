// Metrics of the server in Prometheus' text format 0.0.4. Labels are models, routes and statuses, all of them bounded by the
// configuration and the route tables; nothing a client sends becomes one. Owner: the server. Thread: the network thread.
#pragma once

#include <gainz/gainz.h>

#include <map>
#include <memory>
#include <string>

#include "server/http_server.h"
#include "server/server.h"

namespace gainz::host {

// What generations of one model tell, in seconds.
class ModelMetrics {
 public:
  virtual ~ModelMetrics() = default;
  virtual void first_token(double seconds_since_request) = 0;
  virtual void next_token(double seconds_since_last) = 0;
  // outcome: stop, length, cancelled, timeout, error, slow_reader.
  virtual void ended(const GenerationEvent& done, std::string_view outcome, double seconds) = 0;
};

class Metrics {
 public:
  Metrics();
  ~Metrics();

  ModelMetrics& of_model(const std::string& id);  // valid as long as this
  void exchange(const ExchangeRecord& record);
  void refused(const ApiError& error);  // of a generation: 429 and the like, by code

  struct Gauges {  // read at the time of the scrape
    double uptime_seconds = 0;
    size_t num_connections = 0;
    uint64_t num_dropped_log_lines = 0;
  };
  std::string text(gainz_runtime* runtime, const std::vector<ModelState>& models, const Gauges& gauges);

 private:
  struct Families;
  struct OfModel;
  void read_models(gainz_runtime* runtime, const std::vector<ModelState>& models);
  void read_devices(gainz_runtime* runtime);
  void read_process();

  std::unique_ptr<Families> families_;
  std::map<std::string, std::unique_ptr<OfModel>> models_;
};

}  // namespace gainz::host
