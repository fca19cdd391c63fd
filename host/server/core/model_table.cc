#include "server/core/model_table.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <atomic>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/text.h"
#include "server/api_error.h"
#include "server/thinking.h"
#include "session/runtime_config.h"

namespace gainz::host {
namespace {

namespace asio = boost::asio;
constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::seconds kRetryFailed(10);  // a load that failed is not tried again by requests before
constexpr std::chrono::milliseconds kRetryAfter(1000);

enum class State : uint8_t { unloaded, loading, ready, unloading };

uint64_t file_bytes(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 ? static_cast<uint64_t>(info.st_size) : 0;
}

// Plain data: a copy of what the runtime tells of a loaded model, so that it stays readable when the model is gone.
class LoadedModel final : public ServedModel {
 public:
  LoadedModel(std::string name, gainz_model_id model, const gainz_model_info& info, Settings settings, int64_t created,
              bool opens_thinking)
      : id_(std::move(name)),
        runtime_id_(model),
        info_(info),
        settings_(std::move(settings)),
        created_(created),
        opens_thinking_(opens_thinking) {
    const char** texts[] = {&info_.path, &info_.architecture, &info_.name,      &info_.backend,  &info_.device,
                            &info_.isa,  &info_.kv_type,      &info_.kv_type_v, &info_.tokenizer};
    texts_.reserve(std::size(texts));
    for (const char** text : texts) {
      texts_.emplace_back(*text != nullptr ? *text : "");
      *text = texts_.back().c_str();
    }
  }
  LoadedModel(const LoadedModel& other, Settings settings)
      : LoadedModel(other.id_, other.runtime_id_, other.info_, std::move(settings), other.created_, other.opens_thinking_) {}

  const std::string& id() const override { return id_; }
  gainz_model_id runtime_id() const override { return runtime_id_; }
  const gainz_model_info& info() const override { return info_; }
  const Settings& settings() const override { return settings_; }
  int64_t created() const override { return created_; }
  bool opens_thinking() const override { return opens_thinking_; }

 private:
  std::string id_;
  gainz_model_id runtime_id_;
  gainz_model_info info_;
  std::vector<std::string> texts_;
  Settings settings_;
  int64_t created_;
  bool opens_thinking_;
};

uint64_t bytes_of(const gainz_model_info& info) { return info.weight_bytes + info.kv_bytes; }

}  // namespace

struct ModelTable::Entry {
  Entry(asio::io_context& io, ModelSource from) : source(std::move(from)), changed(io, asio::steady_timer::time_point::max()) {}

  ModelSource source;
  State state = State::unloaded;
  std::string reason;  // why the last load failed
  Clock::time_point failed_at;
  std::shared_ptr<LoadedModel> model;
  gainz_model_id runtime_id = 0;
  uint64_t last_bytes = 0;  // of its last load
  uint64_t num_users = 0;
  Clock::time_point last_used = Clock::now();
  asio::steady_timer changed;  // cancelled whenever the state changes
  std::shared_ptr<std::atomic<double>> progress = std::make_shared<std::atomic<double>>(0);
  bool is_removed = false;  // from the configuration

  std::optional<std::chrono::seconds> asked_keep_alive;  // by a request, until it is unloaded

  // How long it stays after its last use; nothing: for ever.
  std::optional<std::chrono::seconds> keep_alive() const {
    if (asked_keep_alive) return asked_keep_alive->count() < 0 ? std::nullopt : asked_keep_alive;
    const int64_t seconds = source.settings.integer(key("server.keep_alive_seconds"));
    if (seconds == 0) return std::nullopt;
    return std::chrono::seconds(seconds);
  }
  void set(State next) {
    state = next;
    changed.cancel();
  }
  asio::awaitable<void> wait() {  // any number at once: none may set the timer, which would wake the others
    co_await changed.async_wait(kAwait);
  }
};

struct ModelTable::Loader {
  asio::thread_pool thread{1};
  std::atomic<bool> is_stopping = false;
};

ModelTable::ModelTable(asio::io_context& io, gainz_runtime* runtime, std::vector<ModelSource> sources, uint64_t memory_bytes,
                       Log log)
    : io_(io), runtime_(runtime), log_(std::move(log)), memory_bytes_(memory_bytes), loader_(std::make_unique<Loader>()) {
  for (ModelSource& source : sources) entries_.push_back(std::make_shared<Entry>(io, std::move(source)));
}

ModelTable::~ModelTable() {
  loader_->is_stopping = true;
  loader_->thread.join();
}

ModelTable::EntryPtr ModelTable::find(const std::string& name) const {
  std::string names;
  for (const EntryPtr& entry : entries_) {
    if (entry->is_removed) continue;
    if (name.empty() || entry->source.id == name) return entry;
    names += (names.empty() ? "" : ", ") + entry->source.id;
  }
  constexpr size_t kMaxShown = 200;
  throw not_found(fmt::format("The model `{}` does not exist; the models are: {}", printable(name.substr(0, kMaxShown)),
                              names.empty() ? "none" : printable(names)),
                  "model_not_found");
}

uint64_t ModelTable::used_bytes() const {
  uint64_t sum = 0;
  for (const EntryPtr& entry : entries_) {
    if (entry->state != State::unloaded) sum += entry->model ? bytes_of(entry->model->info()) : entry->last_bytes;
  }
  return sum;
}

ModelTable::EntryPtr ModelTable::longest_idle(const EntryPtr& except) const {
  EntryPtr best;
  for (const EntryPtr& entry : entries_) {
    const bool fits = entry != except && entry->state == State::ready && entry->num_users == 0;
    if (fits && (!best || entry->last_used < best->last_used)) best = entry;
  }
  return best;
}

void ModelTable::make_room(const EntryPtr& wanted, uint64_t wanted_bytes) {
  uint64_t used = used_bytes();
  while (memory_bytes_ > 0 && used + wanted_bytes > memory_bytes_) {
    const EntryPtr victim = longest_idle(wanted);
    if (!victim) return;
    used -= bytes_of(victim->model->info());
    start_unload(victim, fmt::format("to make room for {}", wanted->source.id));
  }
}

void ModelTable::start_load(EntryPtr entry) {
  const uint64_t estimate = entry->last_bytes > 0 ? entry->last_bytes : file_bytes(entry->source.path);
  make_room(entry, estimate);
  if (memory_bytes_ > 0 && used_bytes() + estimate > memory_bytes_) {
    bool may_come = false;  // an unload is on its way, or a busy model may become idle
    for (const EntryPtr& other : entries_) may_come |= other != entry && other->state != State::unloaded;
    const bool fits_alone = estimate <= memory_bytes_;
    bool is_freeing = false;
    for (const EntryPtr& other : entries_) is_freeing |= other->state == State::unloading;
    if (!fits_alone || !may_come) {
      throw ApiError{503,
                     fmt::format("The model `{}` needs about {}, more than server.memory_bytes, {}", entry->source.id,
                                 format_bytes(estimate), format_bytes(memory_bytes_)),
                     "server_error",
                     "out_of_memory",
                     "",
                     {}};
    }
    if (!is_freeing) {
      throw ApiError{503,
                     fmt::format("The model `{}` has no room now: {} of server.memory_bytes, {}, are in use by busy models",
                                 entry->source.id, format_bytes(used_bytes()), format_bytes(memory_bytes_)),
                     "server_error",
                     "model_busy",
                     "",
                     kRetryAfter};
    }
  }
  entry->reason.clear();
  *entry->progress = 0;
  entry->set(State::loading);
  log_(GAINZ_LOG_LEVEL_INFO, fmt::format("loading {} from {}", entry->source.id, entry->source.path));
  // After an unload that was started before, since both run on the one thread.
  asio::post(loader_->thread, [this, entry, path = entry->source.path, settings = entry->source.settings] {
    gainz_model_config config = model_config_of(path, settings);
    struct Watch {
      std::atomic<double>& progress;
      std::atomic<bool>& is_stopping;
    } watch{*entry->progress, loader_->is_stopping};
    config.progress_ctx = &watch;
    config.progress = [](void* ctx, const char*, double fraction) -> int32_t {
      Watch& seen = *static_cast<Watch*>(ctx);
      seen.progress = fraction;
      return seen.is_stopping ? 1 : 0;
    };
    char error[kErrorBytes] = "";
    gainz_model_id model = 0;
    const gainz_code code =
        loader_->is_stopping ? GAINZ_CANCELLED : gainz_model_load(runtime_, &config, &model, error, sizeof error);
    const bool opens = code == GAINZ_OK && template_opens_thinking(runtime_, model, nullptr);
    LoadResult result{model, code, error, opens};
    asio::post(io_, [this, entry, result = std::move(result)] { finish_load(entry, result); });
  });
}

void ModelTable::finish_load(EntryPtr entry, const LoadResult& result) {
  const gainz_model_id model = result.model;
  gainz_code code = result.code;
  gainz_model_info info{};
  info.struct_size = sizeof info;
  if (code == GAINZ_OK) code = gainz_model_get(runtime_, model, &info);
  if (code != GAINZ_OK) {
    entry->reason = failure_of(code, result.error.c_str()).sentence;
    entry->failed_at = Clock::now();
    log_(GAINZ_LOG_LEVEL_ERROR, fmt::format("{} could not be loaded: {}", entry->source.id, entry->reason));
    entry->set(State::unloaded);
    return;
  }
  const auto created = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  entry->runtime_id = model;
  entry->model = std::make_shared<LoadedModel>(entry->source.id, model, info, entry->source.settings, created.count(),
                                               result.opens_thinking);
  entry->last_bytes = bytes_of(info);
  entry->last_used = Clock::now();
  log_(GAINZ_LOG_LEVEL_INFO, fmt::format("{} is ready after {}: {}, {} of weights, {} of KV pages, context {}",
                                         entry->source.id, format_seconds(info.load_seconds), info.device,
                                         format_bytes(info.weight_bytes), format_bytes(info.kv_bytes), info.context));
  entry->set(State::ready);
  make_room(entry, 0);
  if (memory_bytes_ > 0 && used_bytes() > memory_bytes_ && entry->num_users == 0) {
    const std::string reason =
        fmt::format("it takes {}, and server.memory_bytes is {}", format_bytes(entry->last_bytes), format_bytes(memory_bytes_));
    if (entry->last_bytes > memory_bytes_) {
      start_unload(entry, reason);
      entry->reason = reason;
      entry->failed_at = Clock::now();
    }
  }
  if (entry->is_removed) start_unload(entry, "it is no longer configured");
}

void ModelTable::start_unload(EntryPtr entry, const std::string& why) {
  entry->model.reset();
  entry->asked_keep_alive.reset();
  entry->set(State::unloading);
  log_(GAINZ_LOG_LEVEL_INFO, fmt::format("unloading {} {}", entry->source.id, why));
  asio::post(loader_->thread, [this, entry, model = entry->runtime_id] {
    char error[kErrorBytes] = "";
    gainz_model_unload(runtime_, model, error, sizeof error);
    asio::post(io_, [entry] {
      entry->runtime_id = 0;
      entry->set(State::unloaded);
    });
  });
}

asio::awaitable<void> ModelTable::unloaded(EntryPtr entry) {
  while (entry->state == State::unloading) co_await entry->wait();
}

asio::awaitable<void> ModelTable::loaded(EntryPtr entry, bool is_forced) {
  co_await unloaded(entry);
  if (entry->state == State::unloaded) {
    const bool failed_lately = !entry->reason.empty() && Clock::now() - entry->failed_at < kRetryFailed;
    if (is_forced || !failed_lately) start_load(entry);
  }
  while (entry->state == State::loading) co_await entry->wait();
  if (entry->state == State::ready) co_return;
  throw ApiError{503,
                 fmt::format("The model `{}` is not available: {}", entry->source.id,
                             entry->reason.empty() ? "it was unloaded" : entry->reason),
                 "server_error",
                 "model_not_available",
                 "",
                 kRetryAfter};
}

asio::awaitable<std::shared_ptr<ServedModel>> ModelTable::get(std::string name) {
  const EntryPtr entry = find(name);
  entry->last_used = Clock::now();
  if (entry->state != State::ready) co_await loaded(entry, false);
  entry->last_used = Clock::now();
  co_return entry->model;
}

asio::awaitable<void> ModelTable::load(std::string id) {
  const EntryPtr entry = find(id);
  co_await loaded(entry, true);
}

asio::awaitable<void> ModelTable::unload(std::string id) {
  const EntryPtr entry = find(id);
  while (entry->state == State::loading) co_await entry->wait();
  if (entry->state == State::ready) start_unload(entry, "as asked");
  co_await unloaded(entry);
}

std::vector<ModelState> ModelTable::states() const {
  std::vector<ModelState> out;
  for (const EntryPtr& entry : entries_) {
    if (entry->is_removed) continue;
    ModelState state;
    state.id = entry->source.id;
    state.path = entry->source.path;
    state.state = entry->state == State::ready     ? "ready"
                  : entry->state == State::loading ? "loading"
                  : !entry->reason.empty()         ? "failed"
                                                   : "unloaded";
    state.progress = entry->state == State::loading ? entry->progress->load() : 0;
    state.reason = entry->reason;
    state.model = entry->model;
    const auto keep = entry->keep_alive();
    if (entry->model && keep) {
      const auto idle = Clock::now() - (entry->num_users > 0 ? Clock::now() : entry->last_used);
      state.expires = std::chrono::system_clock::now() + *keep - std::chrono::duration_cast<std::chrono::seconds>(idle);
    }
    state.memory_bytes = entry->model ? bytes_of(entry->model->info()) : 0;
    out.push_back(std::move(state));
  }
  return out;
}

void ModelTable::keep_alive(const std::string& id, std::chrono::seconds time) { find(id)->asked_keep_alive = time; }

std::shared_ptr<void> ModelTable::use(const std::string& id) {
  for (const EntryPtr& entry : entries_) {
    if (entry->source.id != id || entry->is_removed) continue;
    ++entry->num_users;
    return std::shared_ptr<void>(nullptr, [entry](void*) {
      --entry->num_users;
      entry->last_used = Clock::now();
    });
  }
  return nullptr;
}

void ModelTable::unload_idle(Clock::time_point now) {
  for (const EntryPtr& entry : entries_) {
    const auto keep = entry->keep_alive();
    const bool is_idle = keep && entry->state == State::ready && entry->num_users == 0 && now - entry->last_used >= *keep;
    if (is_idle) start_unload(entry, fmt::format("after {} s without a request", keep->count()));
  }
  std::erase_if(entries_, [](const EntryPtr& entry) { return entry->is_removed && entry->state == State::unloaded; });
}

std::vector<std::string> ModelTable::replace(std::vector<ModelSource> sources, uint64_t memory_bytes) {
  memory_bytes_ = memory_bytes;
  std::vector<std::string> told;
  const auto wanted = [&](const std::string& id) {
    return std::find_if(sources.begin(), sources.end(), [&](const ModelSource& source) { return source.id == id; });
  };
  for (const EntryPtr& entry : entries_) {
    if (entry->is_removed || wanted(entry->source.id) != sources.end()) continue;
    told.push_back(fmt::format("the model {} is no longer configured", entry->source.id));
    entry->is_removed = true;
    if (entry->state == State::ready) start_unload(entry, "it is no longer configured");
  }
  std::vector<EntryPtr> order;
  for (ModelSource& source : sources) {
    const auto there = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const EntryPtr& entry) { return !entry->is_removed && entry->source.id == source.id; });
    if (there == entries_.end()) {
      told.push_back(fmt::format("the model {} is new", source.id));
      order.push_back(std::make_shared<Entry>(io_, std::move(source)));
      continue;
    }
    Entry& entry = **there;
    bool needs_load = entry.source.path != source.path;
    for (size_t i = 0; i < kNumKeys; ++i) {
      const bool is_of_load = (kSchema[i].flags & kInModel) != 0 && (kSchema[i].flags & kLive) == 0;
      needs_load |= is_of_load && entry.source.settings.at(i).value != source.settings.at(i).value;
    }
    if (needs_load && entry.state != State::unloaded)
      told.push_back(fmt::format("what changed of the model {} counts from its next load", source.id));
    entry.source = std::move(source);
    if (entry.model) entry.model = std::make_shared<LoadedModel>(*entry.model, entry.source.settings);
    order.push_back(*there);
  }
  for (const EntryPtr& entry : entries_) {
    if (entry->is_removed) order.push_back(entry);
  }
  entries_ = std::move(order);
  return told;
}

}  // namespace gainz::host
