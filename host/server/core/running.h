// Running: one generation between gainz_submit and its last event, as the server keeps it. Owner: the table of
// RuntimeGenerations until the last event, and the Generation that a handler holds. Thread: the network thread.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <deque>
#include <memory>
#include <string>

#include "server/core/metrics.h"
#include "server/generation.h"

namespace gainz::host {

struct Running {
  using Clock = std::chrono::steady_clock;

  Running(boost::asio::io_context& io, gainz_runtime* of, ModelMetrics& model_metrics)
      : runtime(of), metrics(model_metrics), changed(io) {}

  void cancel() {
    is_cancelled = true;
    if (request != 0) gainz_cancel(runtime, request);
  }

  gainz_runtime* runtime;
  ModelMetrics& metrics;
  gainz_request_id request = 0;  // 0: not submitted yet
  bool is_cancelled = false;     // by the client or the handler
  bool is_unread = false;        // cancelled because what waits grew beyond the bound
  bool is_abandoned = false;     // no handler takes events any more
  bool has_ended = false;        // its last event is among `events`, or was taken
  std::deque<GenerationEvent> events;
  size_t num_bytes = 0;                                 // of `events`
  boost::asio::steady_timer changed;                    // cancelled when an event comes, as is:
  std::shared_ptr<boost::asio::steady_timer> listener;  // of a handler that waits for several

  std::string id, key, model;  // of the exchange, for the log
  bool logs_content = false;
  std::string prompt, answer;  // if logs_content
  Clock::time_point begin = Clock::now(), last_token;
  bool has_token = false;
  uint64_t max_bytes = 0;        // of `num_bytes`
  std::shared_ptr<void> place;   // of KeyLimits
  std::shared_ptr<void> in_use;  // of ModelTable
};

}  // namespace gainz::host
