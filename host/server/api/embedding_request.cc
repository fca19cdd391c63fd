#include "server/api/embedding_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <cmath>

#include "server/api/chat_request.h"
#include "server/api/choices.h"
#include "server/api_error.h"

namespace gainz::host {
namespace {

namespace json = boost::json;
constexpr size_t kAtOnce = 16;

GenerationRequest embedding_of(const json::value& input, const std::string& name) {
  GenerationRequest out;
  out.kind = GAINZ_REQUEST_EMBED;
  if (input.is_array()) {
    out.prompt_ids = read_ids(input.get_array(), name);
    return out;
  }
  if (!input.is_string() || input.get_string().empty())
    throw bad_request(
        name, fmt::format("{} must be a text that is not empty or a list of token ids, not {}", name, shown_json(input)),
        "invalid_value");
  out.prompt = std::string(input.get_string());
  return out;
}

}  // namespace

std::vector<float> Embedding::unit() const {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * value;
  const double scale = sum > 0 ? 1 / std::sqrt(sum) : 0;
  std::vector<float> out;
  for (const float value : values) out.push_back(static_cast<float>(value * scale));
  return out;
}

json::array Embedding::json(bool is_unit) const {
  json::array out;
  for (const float value : is_unit ? unit() : values) out.push_back(shortest(value));
  return out;
}

std::vector<GenerationRequest> read_embedding_inputs(JsonFields& fields, std::string_view name) {
  const json::value* input = fields.any(name);
  const std::string full = fields.name_of(name);
  if (input == nullptr) throw bad_request(full, fmt::format("{} is missing", full), "missing_required_parameter");
  std::vector<GenerationRequest> out;
  const bool is_list = input->is_array() && !input->get_array().empty() && !input->get_array()[0].is_number();
  if (!is_list) {
    out.push_back(embedding_of(*input, full));
    return out;
  }
  const json::array& list = input->get_array();
  if (list.size() > kMaxEmbeddingInputs)
    throw bad_request(full, fmt::format("{} has {} items, more than the limit of {}", full, list.size(), kMaxEmbeddingInputs),
                      "invalid_value");
  for (size_t i = 0; i < list.size(); ++i) out.push_back(embedding_of(list[i], fmt::format("{}[{}]", full, i)));
  return out;
}

boost::asio::awaitable<std::vector<Embedding>> embed(ServerContext& server, Exchange& exchange,
                                                     std::shared_ptr<ServedModel> model,
                                                     std::vector<GenerationRequest> requests) {
  std::vector<Embedding> out(requests.size());
  for (size_t begin = 0; begin < requests.size(); begin += kAtOnce) {
    const size_t end = std::min(requests.size(), begin + kAtOnce);
    std::vector<GenerationRequest> part(std::make_move_iterator(requests.begin() + static_cast<ptrdiff_t>(begin)),
                                        std::make_move_iterator(requests.begin() + static_cast<ptrdiff_t>(end)));
    std::unique_ptr<Choices> running = co_await Choices::start(server, exchange, model, std::move(part));
    while (!running->is_over()) {
      std::optional<ChoiceEvent> event = co_await running->next(kNoLimit);
      if (!event) continue;
      Embedding& target = out[begin + event->index];
      if (event->event.kind == GAINZ_EVENT_EMBEDDING) target.values = std::move(event->event.values);
      if (event->event.kind == GAINZ_EVENT_DONE) target.num_prompt_tokens = event->event.num_prompt_tokens;
    }
    if (running->is_cancelled()) throw ApiError{503, "The request was cancelled", "server_error", "cancelled", "", {}};
  }
  co_return out;
}

}  // namespace gainz::host
