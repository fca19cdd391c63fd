// Messages of the chat routes, checked and brought to the form that chat templates know. Throws ApiError 400. One thread.
#pragma once

#include <boost/json.hpp>
#include <string>

#include "server/api/json_fields.h"
#include "server/generation.h"
#include "server/server.h"

namespace gainz::host {

inline constexpr size_t kMaxMessages = 65536;

// "messages": roles system, developer (a system message for the template), user and assistant; content a text, a list of text
// parts (joined by line ends) or, of an assistant, null. Tool calls and images are refused by name.
boost::json::array read_messages(JsonFields& fields);
// One of them; `path` names it. The fields in `without_effect` may hold anything.
boost::json::object read_message(const boost::json::value& value, const std::string& path,
                                 std::initializer_list<std::string_view> without_effect = {});
// One content, of a message or an input item; `path` names it.
std::string read_content(const boost::json::value& content, const std::string& path);

// chat_template_kwargs and reasoning_effort: variables of the template.
void read_template_vars(JsonFields& fields, GenerationRequest& request);
void read_template_vars(JsonFields& fields, const std::optional<std::string>& effort, GenerationRequest& request);
std::optional<std::string> read_effort(JsonFields& fields, std::string_view name);

// Whether this request's prompt ends inside <think>. Asks the template if the request changes its variables.
boost::asio::awaitable<bool> starts_thinking(ServerContext& server, std::shared_ptr<ServedModel> model,
                                             std::optional<std::string> vars_json);

}  // namespace gainz::host
