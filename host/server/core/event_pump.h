// EventPump: takes the runtime's events on a thread of its own and brings them, in batches, to the network thread. Sleeps while
// no request is open. Owner: the server. Threads: opened() and closed() from the network thread, which also runs `deliver`.
#pragma once

#include <gainz/gainz.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "server/generation.h"

namespace boost::asio {
class io_context;
}

namespace gainz::host {

struct Delivery {
  uint64_t handle;  // gainz_request_config::user
  GenerationEvent event;
};

class EventPump {
 public:
  using Deliver = std::function<void(std::vector<Delivery>& batch)>;

  EventPump(boost::asio::io_context& io, gainz_runtime* runtime, Deliver deliver);
  ~EventPump();  // joins; before the runtime is destroyed
  EventPump(const EventPump&) = delete;
  EventPump& operator=(const EventPump&) = delete;

  void opened();  // before gainz_submit
  void closed();  // its last event was delivered, or it was refused

 private:
  void run();

  boost::asio::io_context& io_;
  gainz_runtime* runtime_;
  Deliver deliver_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  uint64_t num_open_ = 0;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace gainz::host
