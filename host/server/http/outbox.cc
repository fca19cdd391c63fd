#include "server/http/outbox.h"

namespace gainz::host {

namespace asio = boost::asio;

Outbox::Outbox(Wire& wire, const asio::any_io_executor& executor, const HttpLimits& limits)
    : wire_(wire), limits_(limits), watch_(executor, [this] {
        was_slow_ = true;
        wire_.close();
      }) {}

asio::awaitable<bool> Outbox::write(std::string_view bytes) {
  if (is_broken_) co_return false;
  bytes.remove_prefix(wire_.write_now(bytes));
  if (bytes.empty()) co_return true;
  watch_.arm(limits_.write_time + std::chrono::milliseconds(bytes.size() * 1000 / limits_.write_rate));
  while (!bytes.empty() && !is_broken_) {
    const Wire::Moved moved = co_await wire_.write_some(bytes);
    if (moved.error) is_broken_ = true;
    bytes.remove_prefix(moved.num_bytes);
  }
  watch_.disarm();
  co_return !is_broken_;
}

}  // namespace gainz::host
