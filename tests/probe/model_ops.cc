#include <cmath>
#include <cstdio>
#include <random>

#include <boost/json/parse.hpp>

#include "probe/probe.h"

namespace gainz::probe {
namespace {

constexpr size_t kFillPromptTokens = 24;

// Other sequences, unrelated to the one that is looked at, which decode in the same batches until this goes away.
class Fill {
 public:
  Fill(const Session::OpenModel& open, uint32_t count) : open_(open), count_(count) {}
  ~Fill() {
    for (const auto id : ids_) (void)gainz_cancel(open_.runtime, id);
    for (const auto id : ids_)
      for (const gainz_event* event = nullptr; gainz_poll(open_.runtime, id, -1, &event) == GAINZ_OK;)
        gainz_event_release(open_.runtime, event);
  }

  // Starts them and waits until each has made a token.
  Status start() {
    std::mt19937 random(12345);
    for (uint32_t i = 0; i < count_; ++i) {
      std::vector<int32_t> prompt(kFillPromptTokens + i % 7);
      for (auto& id : prompt) id = int32_t(random() % open_.info.vocab_size);
      gainz_request_config config;
      gainz_request_config_init(&config);
      config.model = open_.id;
      config.prompt_ids = prompt.data();
      config.num_prompt_ids = prompt.size();
      config.flags = GAINZ_REQUEST_NO_CACHE;
      config.priority = 1;  // never pushed out by the one that is looked at
      config.sampling.ignore_eos = 1;
      config.sampling.has_seed = 1;
      gainz_request_id id = 0;
      char error[512];
      if (const gainz_code code = gainz_submit(open_.runtime, &config, &id, error, sizeof(error)); code != GAINZ_OK)
        return {Code(code), error};
      ids_.push_back(id);
    }
    for (const auto id : ids_) {
      for (bool started = false; !started;) {
        const gainz_event* event = nullptr;
        if (gainz_poll(open_.runtime, id, -1, &event) != GAINZ_OK) return {Code::internal, "a filling sequence ended early"};
        started = event->kind == GAINZ_EVENT_TOKEN;
        gainz_event_release(open_.runtime, event);
      }
    }
    return {};
  }

 private:
  Session::OpenModel open_;
  uint32_t count_;
  std::vector<gainz_request_id> ids_;
};

// Submits and hands every event to `take`; the last one's failure becomes the status.
template <class Take>
Status run_request(const Session::OpenModel& open, const gainz_request_config& config, Take take) {
  char error[1024];
  gainz_request_id id = 0;
  if (const gainz_code code = gainz_submit(open.runtime, &config, &id, error, sizeof(error)); code != GAINZ_OK)
    return {Code(code), error};
  for (;;) {
    const gainz_event* event = nullptr;
    if (const gainz_code code = gainz_poll(open.runtime, id, -1, &event); code != GAINZ_OK)
      return {Code(code), "polling failed"};
    const bool last = event->kind == GAINZ_EVENT_DONE;
    Status status;
    if (last && event->code != GAINZ_OK) status = Status(Code(event->code), event->error);
    take(*event);
    gainz_event_release(open.runtime, event);
    if (last) return status;
  }
}

void add_device(const Session::OpenModel& open, json::object& answer) {
  answer["device"] = open.info.device;
  answer["isa"] = open.info.isa;
}

// FNV-1a, 64 bit, of the row's bytes.
std::string row_hash(const float* row, size_t count) {
  uint64_t hash = 0xcbf29ce484222325u;
  const auto* bytes = reinterpret_cast<const unsigned char*>(row);
  for (size_t i = 0; i < count * sizeof(float); ++i) hash = (hash ^ bytes[i]) * 0x100000001b3u;
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

json::object row_json(const gainz_event& event, uint32_t top, const std::vector<int32_t>& pick) {
  const float* row = event.values;
  const size_t n = event.num_values;
  float largest = -INFINITY;
  for (size_t i = 0; i < n; ++i) largest = std::max(largest, row[i]);
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += std::exp(double(row[i]) - largest);
  std::vector<int32_t> order(n);
  for (size_t i = 0; i < n; ++i) order[i] = int32_t(i);
  const size_t count = std::min<size_t>(top, n);
  std::partial_sort(order.begin(), order.begin() + long(count), order.end(),
                    [&](int32_t a, int32_t b) { return row[a] != row[b] ? row[a] > row[b] : a < b; });
  order.resize(count);
  json::array logits, pick_logits;
  for (const int32_t id : order) logits.push_back(row[id]);
  for (const int32_t id : pick) pick_logits.push_back(row[id]);
  json::object out{{"position", event.position}, {"ids", to_json(order)}, {"logits", std::move(logits)}};
  out["pick_logits"] = std::move(pick_logits);
  out["logsumexp"] = largest + std::log(sum);
  out["hash"] = row_hash(row, n);
  return out;
}

Status check_ids(const std::vector<int32_t>& ids, const char* name, uint32_t vocab_size) {
  for (const int32_t id : ids)
    if (id < 0 || uint32_t(id) >= vocab_size)
      return {Code::invalid,
              std::string(name) + ": " + std::to_string(id) + " is not in the vocabulary of " + std::to_string(vocab_size)};
  return {};
}

const char* finish_name(uint32_t reason) {
  static constexpr const char* kNames[] = {"none", "stop", "length", "cancelled", "error", "timeout"};
  return reason < std::size(kNames) ? kNames[reason] : "unknown";
}

// "auto", "off", or {"kinds": ["ngram", ...], "depth": always so many, "max_depth": at most}.
Status read_speculation(Fields& fields, gainz_speculation& out) {
  if (!fields.has("speculation")) return {};
  std::string text;
  GAINZ_TRY(fields.json_text("speculation", text));
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  out.mode = GAINZ_SPECULATION_AUTO;
  const auto is_text = [](const json::value& v, std::string_view t) { return v.is_string() && v.get_string() == t; };
  if (is_text(value, "auto")) return {};
  if (is_text(value, "off")) {
    out.mode = GAINZ_SPECULATION_OFF;
    return {};
  }
  const auto wrong = [&text] {
    return Status(Code::invalid, "speculation must be \"auto\", \"off\" or {kinds, depth, max_depth}, not " + text);
  };
  if (error || !value.is_object()) return wrong();
  for (const auto& [name, item] : value.get_object()) {
    if (name == "kinds" && item.is_array()) {
      static constexpr std::string_view kKinds[] = {"ngram", "prediction", "cache", "model", "noise"};
      for (const json::value& kind : item.get_array()) {
        const auto* found = std::find_if(std::begin(kKinds), std::end(kKinds), [&](auto k) { return is_text(kind, k); });
        if (found == std::end(kKinds)) return wrong();
        out.kinds |= 1u << (found - std::begin(kKinds));
      }
    } else if ((name == "depth" || name == "max_depth") && item.is_int64() && item.get_int64() >= 0) {
      out.depth = uint32_t(std::min<int64_t>(item.get_int64(), UINT32_MAX));
      if (name == "depth") out.mode = GAINZ_SPECULATION_FIXED;
    } else {
      return wrong();
    }
  }
  return {};
}

struct GenerateFields {
  std::vector<int32_t> ids;
  std::string prompt, messages, tools, vars;
  gainz_speculation speculation{sizeof(gainz_speculation), GAINZ_SPECULATION_DEFAULT, 0, 0};
  std::vector<int32_t> prediction;
  bool cache = true, has_ids = false, has_prompt = false;
  SamplingFields sampling;
  uint32_t preempt_after = 0;
};

Status read_generate(Fields& fields, GenerateFields& g) {
  g.has_ids = fields.has("ids");
  g.has_prompt = fields.has("prompt");
  GAINZ_TRY(fields.ids("ids", g.ids));
  GAINZ_TRY(fields.string("prompt", g.prompt));
  GAINZ_TRY(fields.json_text("messages", g.messages));
  GAINZ_TRY(fields.json_text("tools", g.tools));
  GAINZ_TRY(fields.json_text("vars", g.vars));
  GAINZ_TRY(read_speculation(fields, g.speculation));
  GAINZ_TRY(fields.ids("prediction", g.prediction));
  GAINZ_TRY(fields.boolean("cache", g.cache));
  GAINZ_TRY(fields.integer("preempt_after", g.preempt_after));
  GAINZ_TRY(read_sampling(fields, g.sampling));
  return {};
}

json::value logprob_json(const gainz_event& event) {
  json::array top;
  for (uint32_t i = 0; i < event.num_top; ++i) top.push_back(json::array{event.top[i].id, event.top[i].logprob});
  return json::object{{"id", event.id}, {"logprob", event.logprob}, {"top", std::move(top)}};
}

}  // namespace

Status load(Session& session, Fields& fields, json::object& answer) {
  Session::ModelKey key;
  GAINZ_TRY(session.read_model_key(fields, key));
  GAINZ_TRY(fields.unknown());
  GAINZ_ASSIGN(const auto open, session.model(key));
  answer["architecture"] = open.info.architecture;
  answer["vocab_size"] = open.info.vocab_size;
  answer["context_length"] = open.info.context_length;
  answer["num_tensors"] = open.info.num_tensors;
  answer["bytes"] = open.info.file_bytes;
  add_device(open, answer);
  return {};
}

Status logits(Session& session, Fields& fields, json::object& answer) {
  Session::ModelKey key;
  std::vector<int32_t> ids, positions, pick;
  uint32_t top = 32, num_prompt = 0, preempt_after = 0;
  GAINZ_TRY(session.read_model_key(fields, key));
  GAINZ_TRY(fields.ids("ids", ids));
  GAINZ_TRY(fields.ids("positions", positions));
  GAINZ_TRY(fields.ids("pick", pick));
  GAINZ_TRY(fields.integer("top", top));
  const bool has_num_prompt = fields.has("num_prompt");
  GAINZ_TRY(fields.integer("num_prompt", num_prompt));
  GAINZ_TRY(fields.integer("preempt_after", preempt_after));
  GAINZ_TRY(fields.unknown());
  if (ids.empty()) return {Code::invalid, "ids must not be empty"};
  if (has_num_prompt && (num_prompt == 0 || num_prompt > ids.size()))
    return {Code::invalid, "num_prompt is " + std::to_string(num_prompt) + ", it must be 1 to the number of ids"};
  if (positions.empty()) positions = {int32_t(ids.size()) - 1};
  GAINZ_ASSIGN(const auto open, session.model(key));
  GAINZ_TRY(check_ids(pick, "pick", open.info.vocab_size));
  Fill fill(open, key.fill);
  GAINZ_TRY(fill.start());
  const std::vector<uint32_t> wanted(positions.begin(), positions.end());
  gainz_request_config config;
  gainz_request_config_init(&config);
  config.kind = GAINZ_REQUEST_LOGITS;
  config.model = open.id;
  config.prompt_ids = ids.data();
  config.num_prompt_ids = ids.size();
  config.positions = wanted.data();
  config.num_positions = wanted.size();
  config.num_generated_ids = has_num_prompt ? ids.size() - num_prompt : 0;
  config.flags = GAINZ_REQUEST_NO_CACHE;
  config.preempt_after = preempt_after;
  json::array rows;
  GAINZ_TRY(run_request(open, config, [&](const gainz_event& event) {
    if (event.kind == GAINZ_EVENT_LOGITS) rows.push_back(row_json(event, top, pick));
  }));
  answer["rows"] = std::move(rows);
  add_device(open, answer);
  return {};
}

Status generate(Session& session, Fields& fields, json::object& answer) {
  Session::ModelKey key;
  GenerateFields g;
  GAINZ_TRY(session.read_model_key(fields, key));
  GAINZ_TRY(read_generate(fields, g));
  GAINZ_TRY(fields.unknown());
  GAINZ_ASSIGN(const auto open, session.model(key));
  Fill fill(open, key.fill);
  GAINZ_TRY(fill.start());
  gainz_request_config config;
  gainz_request_config_init(&config);
  config.model = open.id;
  if (g.has_ids) config.prompt_ids = g.ids.data();
  config.num_prompt_ids = g.ids.size();
  if (g.has_prompt) config.prompt = g.prompt.c_str();
  config.prompt_bytes = g.prompt.size();
  if (!g.messages.empty()) config.messages_json = g.messages.c_str();
  if (!g.tools.empty()) config.tools_json = g.tools.c_str();
  if (!g.vars.empty()) config.vars_json = g.vars.c_str();
  config.sampling = g.sampling.sampling;
  config.preempt_after = g.preempt_after;
  config.speculation = g.speculation;
  if (!g.prediction.empty()) config.prediction_ids = g.prediction.data();
  config.num_prediction_ids = g.prediction.size();
  if (!g.cache) config.flags |= GAINZ_REQUEST_NO_CACHE;
  std::vector<int32_t> ids;
  std::string text;
  json::array logprobs;
  GAINZ_TRY(run_request(open, config, [&](const gainz_event& event) {
    if (event.kind == GAINZ_EVENT_TOKEN) {
      ids.push_back(event.id);
      if (config.sampling.logprobs >= 0) logprobs.push_back(logprob_json(event));
    }
    if (event.kind == GAINZ_EVENT_TOKEN || event.kind == GAINZ_EVENT_DONE) text.append(event.text, event.text_bytes);
    if (event.kind != GAINZ_EVENT_DONE) return;
    answer["finish_reason"] = finish_name(event.finish_reason);
    answer["cached_tokens"] = event.num_cached_tokens;
    answer["prompt_tokens"] = event.num_prompt_tokens;
    answer["preemptions"] = event.num_preemptions;
    uint64_t drafted = 0, accepted = 0;
    for (uint32_t kind = 0; kind < GAINZ_NUM_DRAFT_KINDS; ++kind)
      drafted += event.num_drafted[kind], accepted += event.num_accepted[kind];
    answer["drafted"] = drafted;
    answer["accepted"] = accepted;
  }));
  answer["ids"] = to_json(ids);
  answer["text"] = text;
  if (config.sampling.logprobs >= 0) answer["logprobs"] = std::move(logprobs);
  add_device(open, answer);
  return {};
}

Status embed(Session& session, Fields& fields, json::object& answer) {
  Session::ModelKey key;
  std::vector<int32_t> ids;
  std::string text, pooling = "mean";
  GAINZ_TRY(session.read_model_key(fields, key));
  const bool has_ids = fields.has("ids"), has_text = fields.has("text");
  GAINZ_TRY(fields.ids("ids", ids));
  GAINZ_TRY(fields.string("text", text));
  GAINZ_TRY(fields.string("pooling", pooling));
  GAINZ_TRY(fields.unknown());
  if (pooling != "mean" && pooling != "last") return {Code::invalid, "pooling must be \"mean\" or \"last\""};
  GAINZ_ASSIGN(const auto open, session.model(key));
  gainz_request_config config;
  gainz_request_config_init(&config);
  config.kind = GAINZ_REQUEST_EMBED;
  config.model = open.id;
  if (has_ids) config.prompt_ids = ids.data();
  config.num_prompt_ids = ids.size();
  if (has_text) config.prompt = text.c_str();
  config.prompt_bytes = text.size();
  config.pooling = pooling == "last" ? GAINZ_POOLING_LAST : GAINZ_POOLING_MEAN;
  json::array embedding;
  GAINZ_TRY(run_request(open, config, [&](const gainz_event& event) {
    if (event.kind == GAINZ_EVENT_EMBEDDING) embedding = json::array(event.values, event.values + event.num_values);
  }));
  answer["embedding"] = std::move(embedding);
  add_device(open, answer);
  return {};
}

}  // namespace gainz::probe
