// The handlers of the OpenAI routes, and how they stream. Thread: the network thread.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "server/api/choices.h"
#include "server/api/openai_form.h"
#include "server/exchange.h"
#include "server/server.h"

namespace gainz::host {

boost::asio::awaitable<void> chat_completions(ServerContext& server, Exchange& exchange);
boost::asio::awaitable<void> completions(ServerContext& server, Exchange& exchange);
boost::asio::awaitable<void> embeddings(ServerContext& server, Exchange& exchange);
boost::asio::awaitable<void> list_models(ServerContext& server, Exchange& exchange);
boost::asio::awaitable<void> show_model(ServerContext& server, Exchange& exchange);

// Server-sent events of an answer until it is over: Writer has take(const ChoiceEvent&), events() and last_events(). What is
// here at once goes out at once, and a comment when nothing came in the time of keep_alive. Errors before the first event leave
// the answer unbegun, so that they get a status of their own.
template <class Writer>
boost::asio::awaitable<void> stream_events(Exchange& exchange, Choices& choices, Writer& writer,
                                           std::chrono::milliseconds keep_alive = kKeepAlive) {
  while (!choices.is_over()) {
    std::optional<ChoiceEvent> event = co_await choices.next(keep_alive);
    std::string text(event ? "" : kSseKeepAlive);
    while (event && !choices.is_cancelled()) {
      writer.take(*event);
      text += writer.events();
      event = choices.try_next();
    }
    if (choices.is_cancelled()) co_return;
    if (choices.is_over()) text += writer.last_events();
    if (text.empty()) continue;
    if (!exchange.has_begun()) co_await exchange.begin_stream("text/event-stream");
    const bool is_open = co_await exchange.write(text);
    if (!is_open) co_return;
  }
  co_await exchange.end_stream();
}

}  // namespace gainz::host
