#include "server/http/inbox.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

namespace gainz::host {
namespace {

namespace asio = boost::asio;
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

}  // namespace

Inbox::Inbox(Wire& wire, const asio::any_io_executor& executor, size_t max_bytes, std::function<void()> on_end)
    : wire_(wire), max_bytes_(max_bytes), on_end_(std::move(on_end)), news_(executor), room_(executor) {}

asio::awaitable<void> Inbox::run() {
  for (;;) {
    while (text_.size() - begin_ >= max_bytes_ && !is_stopped_) {
      room_.expires_at(asio::steady_timer::time_point::max());
      co_await room_.async_wait(kAwait);
    }
    if (is_stopped_) break;
    const Wire::Moved moved = co_await wire_.read_some(scratch_);
    text_.append(scratch_.data(), moved.num_bytes);
    if (moved.error) break;
    tell();
  }
  has_ended_ = true;
  on_end_();
  tell();
}

void Inbox::stop() {
  is_stopped_ = true;
  room_.cancel();
}

void Inbox::tell() {
  has_news_ = true;
  news_.cancel();
}

void Inbox::take(size_t num_bytes) {
  begin_ += num_bytes;
  if (begin_ == text_.size()) {
    text_.clear();
    begin_ = 0;
  } else if (begin_ >= kReadBytes) {
    text_.erase(0, begin_);
    begin_ = 0;
  }
  room_.cancel();
}

asio::awaitable<bool> Inbox::wait(std::chrono::steady_clock::time_point deadline) {
  if (!has_news_ && !has_ended_) {
    news_.expires_at(deadline);
    co_await news_.async_wait(kAwait);
  }
  co_return std::exchange(has_news_, false) || has_ended_;
}

}  // namespace gainz::host
