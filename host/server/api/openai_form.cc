#include "server/api/openai_form.h"

#include <fmt/format.h>

#include <chrono>

#include "base/json_text.h"
#include "base/text.h"
#include "config/settings.h"

namespace gainz::host {

namespace json = boost::json;

std::string system_fingerprint(const ServedModel& model) {
  const gainz_model_info& info = model.info();
  std::string out = fmt::format("gainz-{}-{}-{}-{}", gainz_version(), info.backend, info.isa, info.kv_type);
  if (std::string_view(info.kv_type_v) != info.kv_type) out += fmt::format("-{}", info.kv_type_v);
  if (model.settings().text(key("prefill")) == "exact") out += "-exact";
  return valid_utf8(out);
}

int64_t unix_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void UsageCount::add_prompt(const GenerationEvent& done) {
  prompt += done.num_prompt_tokens;
  cached += done.num_cached_tokens;
}

// Rejected are the predicted tokens that were tried and did not stand, not those that the answer never came to.
void UsageCount::add_answer(const GenerationEvent& done) {
  completion += done.num_generated_tokens;
  accepted_prediction += done.num_accepted[GAINZ_DRAFT_PREDICTION];
  rejected_prediction += done.num_drafted[GAINZ_DRAFT_PREDICTION] - done.num_accepted[GAINZ_DRAFT_PREDICTION];
}

json::object UsageCount::json() const {
  return {{"prompt_tokens", prompt},
          {"completion_tokens", completion},
          {"total_tokens", prompt + completion},
          {"prompt_tokens_details", {{"cached_tokens", cached}}},
          {"completion_tokens_details",
           {{"reasoning_tokens", reasoning},
            {"accepted_prediction_tokens", accepted_prediction},
            {"rejected_prediction_tokens", rejected_prediction}}}};
}

std::string sse(std::string_view text) { return fmt::format("data: {}\n\n", text); }

HttpResponse json_response(const json::value& value) {
  HttpResponse out;
  out.body = json_text(value);
  return out;
}

}  // namespace gainz::host
