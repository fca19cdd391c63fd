#include "server/core/metrics.h"

#include <dirent.h>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/text.h"
#include "config/speculation.h"

namespace gainz::host {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;
using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::Registry;

using Buckets = Histogram::BucketBoundaries;
const Buckets kRequestBuckets = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600};
const Buckets kTokenBuckets = {0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1, 0.25, 0.5, 1};

uint64_t resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  unsigned long long total = 0, resident = 0;
  const int num_read = std::fscanf(file, "%llu %llu", &total, &resident);
  std::fclose(file);
  return num_read == 2 ? resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

size_t num_entries(const char* folder) {
  DIR* handle = opendir(folder);
  if (handle == nullptr) return 0;
  size_t count = 0;
  while (const dirent* entry = readdir(handle)) count += entry->d_name[0] != '.' ? 1 : 0;
  closedir(handle);
  return count;
}

}  // namespace

struct Metrics::Families {
  Registry registry;

  Family<Counter>& counter(const char* name, const char* help) {
    return BuildCounter().Name(name).Help(help).Register(registry);
  }
  Family<Gauge>& gauge(const char* name, const char* help) { return BuildGauge().Name(name).Help(help).Register(registry); }
  Family<Histogram>& histogram(const char* name, const char* help) {
    return BuildHistogram().Name(name).Help(help).Register(registry);
  }

  Family<Histogram>& first_token =
      histogram("gainz_time_to_first_token_seconds", "From a request's arrival to its first token");
  Family<Histogram>& inter_token = histogram("gainz_inter_token_seconds", "Between two tokens of an answer");
  Family<Histogram>& request = histogram("gainz_request_seconds", "From a generation's arrival to its end");
  Family<Histogram>& queue = histogram("gainz_queue_seconds", "Waiting to be admitted to the running batch");
  Family<Counter>& generations = counter("gainz_generations_total", "Generations that ended, by outcome");
  Family<Gauge>& running = gauge("gainz_requests_running", "Generations in the batch");
  Family<Gauge>& waiting = gauge("gainz_requests_waiting", "Generations that wait");
  Family<Gauge>& pages_total = gauge("gainz_kv_pages_total", "Pages of the KV cache");
  Family<Gauge>& pages_used = gauge("gainz_kv_pages_used", "Pages held by running generations");
  Family<Gauge>& pages_cached = gauge("gainz_kv_pages_cached", "Pages kept for prompts that begin alike, free to take");
  Family<Counter>& prompt_tokens = counter("gainz_prompt_tokens_total", "Prompt tokens computed");
  Family<Counter>& cached_tokens = counter("gainz_prefix_cache_hit_tokens_total", "Prompt tokens found in the prefix cache");
  Family<Counter>& tokens = counter("gainz_tokens_generated_total", "Generated tokens");
  Family<Counter>& drafted = counter("gainz_drafted_tokens_total", "Guessed tokens that were checked, by kind of guess");
  Family<Counter>& accepted = counter("gainz_accepted_draft_tokens_total", "Guessed tokens that stood, by kind of guess");
  Family<Counter>& preemptions = counter("gainz_preemptions_total", "Generations that gave their pages up and were recomputed");
  Family<Gauge>& loaded = gauge("gainz_model_loaded", "1 while the model can answer");
  Family<Gauge>& memory = gauge("gainz_model_memory_bytes", "Memory of a loaded model, by kind");
  Family<Counter>& http = counter("gainz_http_requests_total", "Answered requests, by route and status");
  Family<Counter>& errors = counter("gainz_errors_total", "Refused or failed requests, by kind");
  Family<Gauge>& device_memory = gauge("gainz_device_memory_bytes", "Memory of a device, where it is known");
  Family<Gauge>& device_free = gauge("gainz_device_free_bytes", "Free memory of a device, where it is known");
  Gauge& connections = gauge("gainz_connections", "Open connections").Add({});
  Gauge& uptime = gauge("gainz_uptime_seconds", "Since the start of the server").Add({});
  Gauge& resident = gauge("gainz_resident_bytes", "Resident memory of the process").Add({});
  Gauge& threads = gauge("gainz_threads", "Threads of the process").Add({});
  Gauge& descriptors = gauge("gainz_open_descriptors", "Open file descriptors of the process").Add({});
  Counter& dropped_lines = counter("gainz_log_lines_dropped_total", "Log lines that nobody took in time").Add({});
  Gauge& info = gauge("gainz_info", "Always 1").Add({{"version", gainz_version()}});
};

struct Metrics::OfModel final : ModelMetrics {
  OfModel(Families& all, const std::string& id)
      : families(all),
        label{{"model", id}},
        first(all.first_token.Add(label, kRequestBuckets)),
        inter(all.inter_token.Add(label, kTokenBuckets)),
        request(all.request.Add(label, kRequestBuckets)),
        queue(all.queue.Add(label, kRequestBuckets)),
        tokens(all.tokens.Add(label)),
        prompt_tokens(all.prompt_tokens.Add(label)),
        cached_tokens(all.cached_tokens.Add(label)),
        preemptions(all.preemptions.Add(label)) {}

  void first_token(double seconds) override {
    first.Observe(seconds);
    tokens.Increment();
  }
  void next_token(double seconds) override {
    inter.Observe(seconds);
    tokens.Increment();
  }
  void ended(const GenerationEvent& done, std::string_view outcome, double seconds) override {
    request.Observe(seconds);
    queue.Observe(static_cast<double>(done.queue_us) / 1e6);
    prompt_tokens.Increment(done.num_prompt_tokens - std::min(done.num_cached_tokens, done.num_prompt_tokens));
    cached_tokens.Increment(done.num_cached_tokens);
    preemptions.Increment(done.num_preemptions);
    for (size_t kind = 0; kind < GAINZ_NUM_DRAFT_KINDS; ++kind) {
      if (done.num_drafted[kind] == 0) continue;
      const prometheus::Labels labels{{"model", label.at("model")}, {"kind", std::string(kDraftKinds[kind])}};
      families.drafted.Add(labels).Increment(done.num_drafted[kind]);
      families.accepted.Add(labels).Increment(done.num_accepted[kind]);
    }
    families.generations.Add({{"model", label.at("model")}, {"outcome", std::string(outcome)}}).Increment();
  }

  void read(const ModelState& state, const gainz_model_stats& stats) {
    families.loaded.Add(label).Set(state.model ? 1 : 0);
    families.running.Add(label).Set(stats.num_running);
    families.waiting.Add(label).Set(stats.num_waiting);
    families.pages_total.Add(label).Set(static_cast<double>(stats.pages_total));
    families.pages_used.Add(label).Set(static_cast<double>(stats.pages_used));
    families.pages_cached.Add(label).Set(static_cast<double>(stats.pages_cached));
    const gainz_model_info* info = state.model ? &state.model->info() : nullptr;
    const auto memory = [&](const char* kind, uint64_t num_bytes) {
      families.memory.Add({{"model", label.at("model")}, {"kind", kind}}).Set(static_cast<double>(num_bytes));
    };
    memory("weights", info != nullptr ? info->weight_bytes : 0);
    memory("kv", info != nullptr ? info->kv_bytes : 0);
  }

  Families& families;
  const prometheus::Labels label;
  Histogram &first, &inter, &request, &queue;
  Counter &tokens, &prompt_tokens, &cached_tokens, &preemptions;
};

Metrics::Metrics() : families_(std::make_unique<Families>()) { families_->info.Set(1); }
Metrics::~Metrics() = default;

ModelMetrics& Metrics::of_model(const std::string& id) {
  std::unique_ptr<OfModel>& entry = models_[id];
  if (!entry) entry = std::make_unique<OfModel>(*families_, id);
  return *entry;
}

void Metrics::exchange(const ExchangeRecord& record) {
  const std::string route(record.route.empty() ? "none" : record.route);
  families_->http.Add({{"route", route}, {"status", std::to_string(record.status)}}).Increment();
  if (record.status >= 400) families_->errors.Add({{"kind", "http_" + std::to_string(record.status)}}).Increment();
}

void Metrics::refused(const ApiError& error) {
  families_->errors.Add({{"kind", error.code.empty() ? error.type : error.code}}).Increment();
}

void Metrics::read_models(gainz_runtime* runtime, const std::vector<ModelState>& models) {
  for (const ModelState& state : models) {
    of_model(state.id);
    gainz_model_stats stats{};
    stats.struct_size = sizeof stats;
    if (state.model && gainz_model_get_stats(runtime, state.model->runtime_id(), &stats) != GAINZ_OK) stats = {};
    models_[state.id]->read(state, stats);
  }
}

void Metrics::read_devices(gainz_runtime* runtime) {
  for (uint32_t i = 0; i < gainz_device_count(runtime); ++i) {
    gainz_device_info info{};
    info.struct_size = sizeof info;
    if (gainz_device_get(runtime, i, &info) != GAINZ_OK || info.memory_bytes == 0) continue;
    const prometheus::Labels label{{"backend", valid_utf8(info.backend)}, {"device", valid_utf8(info.name)}};
    families_->device_memory.Add(label).Set(static_cast<double>(info.memory_bytes));
    families_->device_free.Add(label).Set(static_cast<double>(info.free_bytes));
  }
}

void Metrics::read_process() {
  families_->resident.Set(static_cast<double>(resident_bytes()));
  families_->threads.Set(static_cast<double>(num_entries("/proc/self/task")));
  families_->descriptors.Set(static_cast<double>(num_entries("/proc/self/fd")));
}

std::string Metrics::text(gainz_runtime* runtime, const std::vector<ModelState>& models, const Gauges& gauges) {
  families_->uptime.Set(gauges.uptime_seconds);
  families_->connections.Set(static_cast<double>(gauges.num_connections));
  const double dropped = static_cast<double>(gauges.num_dropped_log_lines);
  families_->dropped_lines.Increment(dropped - families_->dropped_lines.Value());
  read_models(runtime, models);
  read_devices(runtime);
  read_process();
  return prometheus::TextSerializer().Serialize(families_->registry.Collect());
}

}  // namespace gainz::host
