#include "session/session.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "session/runtime_config.h"
#include "terminal/interrupt.h"
#include "terminal/progress_bar.h"

namespace gainz::host {
namespace {

int32_t on_progress(void* ctx, const char* stage, double fraction) {
  static_cast<ProgressBar*>(ctx)->show(stage != nullptr ? stage : "", fraction);
  return num_interrupts() > 0 ? 1 : 0;
}

const char* finish_name(uint32_t reason) {
  switch (reason) {
    case GAINZ_FINISH_STOP:
      return "stop";
    case GAINZ_FINISH_LENGTH:
      return "length";
    case GAINZ_FINISH_CANCELLED:
      return "cancelled";
    case GAINZ_FINISH_TIMEOUT:
      return "timeout";
    default:
      return "error";
  }
}

constexpr int32_t kPollMs = 50;  // how soon a Ctrl-C is seen

void take_token(const gainz_event& event, int32_t num_logprobs, Answer& answer) {
  if (event.id < 0) return;
  answer.ids.push_back(event.id);
  if (num_logprobs < 0) return;
  TokenLogprob entry{event.id, event.logprob, std::string(event.text, event.text_bytes), {}};
  if (event.num_top > 0) entry.top.assign(event.top, event.top + event.num_top);
  answer.logprobs.push_back(std::move(entry));
}

void take_end(const gainz_event& event, Answer& answer) {
  answer.finish_reason = finish_name(event.finish_reason);
  answer.num_prompt_tokens = event.num_prompt_tokens;
  answer.num_cached_tokens = event.num_cached_tokens;
  answer.num_generated_tokens = event.num_generated_tokens;
  answer.num_preemptions = event.num_preemptions;
  answer.seed = event.seed;
  std::copy_n(event.num_drafted, GAINZ_NUM_DRAFT_KINDS, answer.num_drafted.begin());
  std::copy_n(event.num_accepted, GAINZ_NUM_DRAFT_KINDS, answer.num_accepted.begin());
  answer.queue_seconds = static_cast<double>(event.queue_us) / 1e6;
  answer.prefill_seconds = static_cast<double>(event.prefill_us) / 1e6;
  answer.decode_seconds = static_cast<double>(event.decode_us) / 1e6;
}

}  // namespace

Result<std::unique_ptr<Session>> Session::open(const Settings& settings) {
  Result<std::unique_ptr<LogSink>> log = LogSink::open(settings);
  if (!log.ok()) return log.failure();
  std::unique_ptr<Session> session(new Session());
  session->log_ = *std::move(log);
  Result<gainz_runtime*> runtime = make_runtime(settings, *session->log_);
  if (!runtime.ok()) return runtime.failure();
  session->runtime_ = *runtime;
  return session;
}

Session::~Session() { gainz_runtime_destroy(runtime_); }

Outcome Session::load(const std::string& path, const Settings& settings,
                      const std::function<void(gainz_model_config&)>& change) {
  gainz_model_config config = model_config_of(path, settings);
  ProgressBar bar;
  config.progress_ctx = &bar;
  config.progress = on_progress;
  if (change) change(config);
  char error[kErrorBytes] = "";
  gainz_code code = gainz_model_load(runtime_, &config, &model_, error, sizeof error);
  bar.clear();
  if (code == GAINZ_CANCELLED) return Failure{"stopped while the model was loading"};
  if (code != GAINZ_OK) return failure_of(code, error);
  info_ = {};
  info_.struct_size = sizeof info_;
  code = gainz_model_get(runtime_, model_, &info_);
  if (code != GAINZ_OK) return failure_of(code, "");
  return Done{};
}

Outcome Session::unload() {
  char error[kErrorBytes] = "";
  const gainz_code code = gainz_model_unload(runtime_, model_, error, sizeof error);
  model_ = 0;
  info_ = {};
  if (code != GAINZ_OK) return failure_of(code, error);
  return Done{};
}

Outcome Session::refresh_devices() {
  char error[kErrorBytes] = "";
  const gainz_code code = gainz_devices_refresh(runtime_, error, sizeof error);
  if (code != GAINZ_OK) return failure_of(code, error);
  return Done{};
}

Result<std::string> Session::inspect(const std::string& path) {
  char error[kErrorBytes] = "";
  char* text = nullptr;
  size_t num_bytes = 0;
  const gainz_code code = gainz_inspect(runtime_, path.c_str(), &text, &num_bytes, error, sizeof error);
  if (code != GAINZ_OK) return failure_of(code, error);
  std::string copy(text, num_bytes);
  gainz_free(runtime_, text);
  return copy;
}

std::string model_line(const gainz_model_info& info) {
  const std::string_view path = info.path;
  const std::string_view name = *info.name != '\0' ? std::string_view(info.name) : path.substr(path.rfind('/') + 1);
  std::string line = fmt::format("{} · {} · {}", printable(name), printable(info.device), printable(info.isa));
  if (info.num_scalar_nodes > 0) line += fmt::format(" · {} operations on the scalar fallback", info.num_scalar_nodes);
  return line;
}

Result<Answer> generate(Session& session, const gainz_request_config& request,
                        const std::function<void(std::string_view)>& on_text) {
  gainz_runtime* runtime = session.runtime();
  char error[kErrorBytes] = "";
  gainz_request_id id = 0;
  const gainz_code submitted = gainz_submit(runtime, &request, &id, error, sizeof error);
  if (submitted != GAINZ_OK) return failure_of(submitted, error);
  Answer answer;
  bool cancelled = false;
  for (;;) {
    if (!cancelled && num_interrupts() > 0) {
      gainz_cancel(runtime, id);
      cancelled = true;
    }
    const gainz_event* event = nullptr;
    const gainz_code code = gainz_poll(runtime, id, kPollMs, &event);
    if (code == GAINZ_BUSY) continue;
    if (code != GAINZ_OK) return failure_of(code, "");
    const std::unique_ptr<const gainz_event, std::function<void(const gainz_event*)>> owner(
        event, [&](const gainz_event* used) { gainz_event_release(runtime, used); });
    if (event->kind == GAINZ_EVENT_TOKEN) take_token(*event, request.sampling.logprobs, answer);
    if (event->text_bytes > 0 && (event->kind == GAINZ_EVENT_TOKEN || event->kind == GAINZ_EVENT_DONE)) {
      answer.text.append(event->text, event->text_bytes);
      if (on_text) on_text(std::string_view(event->text, event->text_bytes));
    }
    if (event->kind != GAINZ_EVENT_DONE) continue;
    take_end(*event, answer);
    if (event->finish_reason == GAINZ_FINISH_ERROR) return failure_of(event->code, event->error != nullptr ? event->error : "");
    return answer;
  }
}

gainz_sampling sampling_of(const Settings& settings) {
  gainz_sampling sampling;
  gainz_sampling_init(&sampling);
  sampling.temperature = static_cast<float>(settings.number(key("sampling.temperature")));
  sampling.top_k = static_cast<int32_t>(settings.integer(key("sampling.top_k")));
  sampling.top_p = static_cast<float>(settings.number(key("sampling.top_p")));
  sampling.min_p = static_cast<float>(settings.number(key("sampling.min_p")));
  sampling.typical_p = static_cast<float>(settings.number(key("sampling.typical_p")));
  sampling.repetition_penalty = static_cast<float>(settings.number(key("sampling.repetition_penalty")));
  sampling.presence_penalty = static_cast<float>(settings.number(key("sampling.presence_penalty")));
  sampling.frequency_penalty = static_cast<float>(settings.number(key("sampling.frequency_penalty")));
  sampling.max_tokens = static_cast<int32_t>(settings.integer(key("sampling.max_tokens")));
  sampling.min_tokens = static_cast<int32_t>(settings.integer(key("sampling.min_tokens")));
  return sampling;
}

}  // namespace gainz::host
