#include "server/core/server_core.h"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>
#include <cmath>
#include <numeric>

#include "base/text.h"
#include "models/model_folder.h"

namespace gainz::host {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;

asio::awaitable<void> run_work(std::function<void()> work) {
  work();
  co_return;
}

double rounded_ms(double seconds) { return std::round(seconds * 1e6) / 1e3; }

}  // namespace

struct ServerCore::Workers {
  explicit Workers(size_t num_threads) : pool(num_threads) {}
  ~Workers() { pool.join(); }
  asio::thread_pool pool;
};

ServerCore::ServerCore(asio::io_context& io, gainz_runtime* runtime, Settings settings, std::vector<ModelSource> sources,
                       LogSink& log)
    : io_(io),
      log_(log),
      runtime_(runtime),
      settings_(std::make_shared<const Settings>(std::move(settings))),
      workers_(std::make_unique<Workers>(static_cast<size_t>(settings_->integer(key("server.worker_threads"))))),
      models_(std::make_unique<ModelTable>(
          io, runtime, std::move(sources), static_cast<uint64_t>(settings_->integer(key("server.memory_bytes"))),
          [this](uint32_t level, const std::string& sentence) { log_.write(level, sentence); })) {
  generations_ = std::make_unique<RuntimeGenerations>(RuntimeGenerations::Parts{
      io, *this, *models_, metrics_, key_limits_, [this](const GenerationLog& entry) { log_generation(entry); }});
  for (const ModelState& state : models_->states()) metrics_.of_model(state.id);
  set_limits();
}

ServerCore::~ServerCore() {
  workers_.reset();
  generations_.reset();
  models_.reset();
  gainz_runtime_destroy(runtime_);
}

void ServerCore::set_limits() {
  key_limits_.set({static_cast<uint64_t>(settings_->integer(key("server.key_requests_per_minute"))),
                   static_cast<uint64_t>(settings_->integer(key("server.key_concurrency")))});
}

asio::awaitable<std::shared_ptr<ServedModel>> ServerCore::model(std::string name) {
  std::shared_ptr<ServedModel> out = co_await models_->get(std::move(name));
  co_return out;
}
asio::awaitable<void> ServerCore::load_model(std::string id) { co_await models_->load(std::move(id)); }
asio::awaitable<void> ServerCore::unload_model(std::string id) { co_await models_->unload(std::move(id)); }

asio::awaitable<void> ServerCore::off_thread(std::function<void()> work) {
  co_await asio::co_spawn(workers_->pool, run_work(std::move(work)), asio::use_awaitable);
}

std::string ServerCore::metrics_text() {
  Metrics::Gauges gauges;
  gauges.uptime_seconds = uptime_seconds();
  gauges.num_connections = num_connections_ ? num_connections_() : 0;
  gauges.num_dropped_log_lines = log_.num_dropped();
  return metrics_.text(runtime_, models_->states(), gauges);
}

double ServerCore::uptime_seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

void ServerCore::log_exchange(const ExchangeRecord& record) {
  metrics_.exchange(record);
  if (!record.problem.empty()) log_.write(GAINZ_LOG_LEVEL_ERROR, fmt::format("request {}: {}", record.id, record.problem));
  if (!settings_->boolean(key("log.access"))) return;
  json::object fields{{"id", valid_utf8(record.id)},
                      {"client", valid_utf8(record.client)},
                      {"method", valid_utf8(record.method)},
                      {"path", valid_utf8(record.path)},
                      {"status", record.status},
                      {"bytes_in", record.bytes_in},
                      {"bytes_out", record.bytes_out},
                      {"ms", rounded_ms(record.seconds)}};
  if (!record.key.empty()) fields["key"] = valid_utf8(record.key);
  if (record.is_gone) fields["gone"] = true;
  log_.record("request", fields);
}

void ServerCore::log_generation(const GenerationLog& entry) {
  if (!settings_->boolean(key("log.access"))) return;
  const GenerationEvent& done = entry.done;
  json::object fields{{"id", valid_utf8(entry.running.id)},
                      {"model", valid_utf8(entry.running.model)},
                      {"outcome", entry.outcome},
                      {"prompt_tokens", done.num_prompt_tokens},
                      {"cached_tokens", done.num_cached_tokens},
                      {"tokens", done.num_generated_tokens},
                      {"queue_ms", static_cast<double>(done.queue_us) / 1e3},
                      {"prefill_ms", static_cast<double>(done.prefill_us) / 1e3},
                      {"decode_ms", static_cast<double>(done.decode_us) / 1e3}};
  if (!entry.running.key.empty()) fields["key"] = valid_utf8(entry.running.key);
  if (const uint32_t drafted = std::accumulate(done.num_drafted.begin(), done.num_drafted.end(), 0u); drafted > 0) {
    fields["drafted"] = drafted;
    fields["accepted"] = std::accumulate(done.num_accepted.begin(), done.num_accepted.end(), 0u);
  }
  if (!done.error.empty()) fields["error"] = valid_utf8(done.error);
  if (entry.running.logs_content) {
    fields["prompt"] = valid_utf8(entry.running.prompt);
    fields["answer"] = valid_utf8(entry.running.answer);
  }
  log_.record("generation", fields);
}

std::vector<std::string> ServerCore::replace(Settings settings, std::vector<ModelSource> sources) {
  former_.push_back(std::exchange(settings_, std::make_shared<const Settings>(std::move(settings))));
  set_limits();
  std::vector<std::string> told =
      models_->replace(std::move(sources), static_cast<uint64_t>(settings_->integer(key("server.memory_bytes"))));
  for (const ModelState& state : models_->states()) metrics_.of_model(state.id);
  return told;
}

Result<std::vector<ModelSource>> model_sources(const Settings& settings, const Environment& environment,
                                               const std::optional<std::string>& wanted,
                                               const std::optional<std::string>& name) {
  std::vector<ModelSource> out;
  const auto add = [&](const std::optional<std::string>& model, std::string id) -> Outcome {
    Result<ChosenModel> chosen = choose_model(settings, environment, model);
    if (!chosen.ok()) return chosen.failure();
    if (id.empty()) id = base_name(chosen->path);
    if (id.ends_with(".gguf")) id.resize(id.size() - 5);
    id = valid_utf8(id);
    for (const ModelSource& other : out) {
      if (other.id == id)
        return Failure{fmt::format("two models would be called \"{}\"; give one of them a name", printable(id))};
    }
    out.push_back({std::move(id), std::move(chosen->path), std::move(chosen->settings)});
    return Done{};
  };
  const auto name_of = [&](const std::string& model) {  // a [[model]]'s own name, or what its file is called
    for (const ModelEntry& entry : settings.models) {
      if (entry.name == model) return model;
    }
    return std::string();
  };
  if (wanted || settings.models.empty()) {
    if (Outcome added = add(wanted, name.value_or(name_of(wanted.value_or("")))); !added.ok()) return added.failure();
    return out;
  }
  if (name && settings.models.size() > 1)
    return Failure{fmt::format("--name is for one model, and the configuration has {}; use -m", settings.models.size()),
                   kExitUsage};
  for (const ModelEntry& entry : settings.models) {
    Outcome added = add(entry.name.empty() ? entry.path : entry.name, name.value_or(entry.name));
    if (!added.ok()) return added.failure();
  }
  return out;
}

Settings keep_fixed(const Settings& now, Settings next, std::vector<std::string>& told) {
  for (size_t i = 0; i < kNumKeys; ++i) {
    if (now.at(i).value == next.at(i).value || (kSchema[i].flags & kLive) != 0) continue;
    if ((kSchema[i].flags & kInModel) != 0) continue;  // ModelTable tells what counts from a model's next load
    told.push_back(fmt::format("{} cannot change while the server runs: it stays {}; {} takes effect after a restart",
                               dotted_name(kSchema[i]), shown_value(kSchema[i], now.at(i).value),
                               shown_value(kSchema[i], next.at(i).value)));
    next.set(i, now.at(i));
  }
  return next;
}

}  // namespace gainz::host
