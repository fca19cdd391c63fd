// gainz-probe: JSON lines in, JSON lines out, so that any script can point its own vectors at the runtime's parts. Built with
// the tests, installed nowhere. Threads: one.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/runtime.h"

namespace gainz::probe {

namespace json = boost::json;

// A request's object, read field by field. Every getter checks the type; unknown() names a field that nobody asked for.
class Fields {
 public:
  explicit Fields(const json::object& object) : object_(object) {}

  bool has(std::string_view name);
  Status string(std::string_view name, std::string& out);  // leaves `out` where the field is absent
  Status boolean(std::string_view name, bool& out);
  Status number(std::string_view name, double& out);
  Status real(std::string_view name, float& out);
  template <class T>
  Status integer(std::string_view name, T& out);
  Status ids(std::string_view name, std::vector<int32_t>& out);
  Status strings(std::string_view name, std::vector<std::string>& out);
  Status json_text(std::string_view name, std::string& out);  // any value, as JSON text
  const json::value* raw(std::string_view name);
  Status unknown() const;  // call last

 private:
  const json::object& object_;
  std::vector<std::string_view> known_;
};

Status wrong_type(std::string_view name, const char* expected);

template <class T>
Status Fields::integer(std::string_view name, T& out) {
  const json::value* value = raw(name);
  if (!value) return {};
  json::error_code error;
  const T number = value->is_number() ? value->to_number<T>(error) : T();
  if (!value->is_number() || error) return {Code::invalid, std::string(name) + " must be a whole number within its range"};
  out = number;
  return {};
}

// What is loaded once for all lines.
class Session {
 public:
  Session();
  ~Session();

  Result<std::shared_ptr<const Gguf>> metadata(const std::string& path);
  Result<std::shared_ptr<const Tokenizer>> tokenizer(const std::string& path);
  Result<std::shared_ptr<const ChatTemplate>> chat_template(const std::string& source);

  // What a loaded model is chosen by.
  struct ModelKey {
    std::string path, backend, kv_type, kv_type_v, prefill, draft_model;
    uint32_t threads = 0, chunk = 512, fill = 0;
    auto operator<=>(const ModelKey&) const = default;
  };
  Status read_model_key(Fields& fields, ModelKey& out_key);
  struct OpenModel {
    gainz_runtime* runtime = nullptr;
    gainz_model_id id = 0;
    gainz_model_info info{};
  };
  Result<OpenModel> model(const ModelKey& key);

 private:
  void close_models();
  std::map<std::string, std::shared_ptr<const Gguf>> files_;
  std::map<std::string, std::shared_ptr<const Tokenizer>> tokenizers_;
  std::map<std::string, std::shared_ptr<const ChatTemplate>> templates_;
  std::map<uint32_t, gainz_runtime*> runtimes_;  // by number of threads
  std::map<ModelKey, OpenModel> models_;
};

using Operation = Status (*)(Session&, Fields&, json::object& answer);
Status tokenize(Session&, Fields&, json::object&);
Status detokenize(Session&, Fields&, json::object&);
Status render(Session&, Fields&, json::object&);
Status load(Session&, Fields&, json::object&);
Status logits(Session&, Fields&, json::object&);
Status generate(Session&, Fields&, json::object&);
Status embed(Session&, Fields&, json::object&);
Status sample(Session&, Fields&, json::object&);
Status dequantize(Session&, Fields&, json::object&);
Status limits(Session&, Fields&, json::object&);

// Sampling fields by the engine's names, for `generate` and `sample`.
struct SamplingFields {
  gainz_sampling sampling{};
  std::vector<gainz_logit_bias> logit_bias;
  std::vector<std::string> stop;
  std::vector<const char*> stop_pointers;
  std::vector<int32_t> stop_token_ids;
};
Status read_sampling(Fields& fields, SamplingFields& out);

json::array to_json(const std::vector<int32_t>& ids);

}  // namespace gainz::probe
