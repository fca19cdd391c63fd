// The table of Ollama's routes, and what they tell of the models.
#include <fmt/format.h>
#include <sys/stat.h>
#include <time.h>

#include <boost/json.hpp>
#include <map>

#include "base/text.h"
#include "server/api/body.h"
#include "server/api/json_fields.h"
#include "server/api/ollama_form.h"
#include "server/api/ollama_request.h"
#include "server/api/openai_form.h"
#include "server/api_error.h"
#include "server/route.h"
#include "server/thinking.h"

namespace gainz::host {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;

struct FileState {
  uint64_t num_bytes = 0;
  std::chrono::system_clock::time_point modified;
};

FileState file_state(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return {};
  return {static_cast<uint64_t>(info.st_size), std::chrono::system_clock::from_time_t(info.st_mtime)};
}

std::string parameter_size(uint64_t count) {
  if (count >= 1000000000) return fmt::format("{:.1f}B", static_cast<double>(count) / 1e9);
  return fmt::format("{:.0f}M", static_cast<double>(count) / 1e6);
}

struct FileDetails {  // what only the opened file tells
  std::string family, quantization;
  uint64_t num_parameters = 0;
};

// Of a model that is not loaded, family and size are not known without opening its file.
json::object details_of(const ModelState& state, FileDetails file = {}) {
  if (state.model) {
    file.family = valid_utf8(state.model->info().architecture);
    file.num_parameters = state.model->info().num_parameters;
  }
  json::array families;
  if (!file.family.empty()) families.push_back(json::string(file.family));
  return {{"parent_model", ""},
          {"format", "gguf"},
          {"family", file.family},
          {"families", std::move(families)},
          {"parameter_size", file.num_parameters > 0 ? parameter_size(file.num_parameters) : ""},
          {"quantization_level", file.quantization}};
}

// general.file_type by the GGUF specification; "": not in it.
std::string_view name_of_file_type(int64_t number) {
  static constexpr std::string_view kNames[] = {"F32",    "F16",    "Q4_0",   "Q4_1",   "",       "",       "",
                                                "Q8_0",   "Q5_0",   "Q5_1",   "Q2_K",   "Q3_K_S", "Q3_K_M", "Q3_K_L",
                                                "Q4_K_S", "Q4_K_M", "Q5_K_S", "Q5_K_M", "Q6_K"};
  return number >= 0 && number < static_cast<int64_t>(std::size(kNames)) ? kNames[number] : "";
}

// `file` as gainz_inspect describes it. The quantization is what the file says, else the type that most of its bytes have.
FileDetails details_in(const json::object& file) {
  FileDetails out;
  if (const json::value* family = file.if_contains("architecture"); family != nullptr && family->is_string())
    out.family = family->get_string();
  const json::value* tensors = file.if_contains("tensors");
  if (tensors == nullptr || !tensors->is_array()) return out;
  std::map<std::string, uint64_t> bytes;
  for (const json::value& tensor : tensors->get_array()) {
    uint64_t count = 1;
    for (const json::value& dim : tensor.at("dims").as_array()) count *= dim.to_number<uint64_t>();
    out.num_parameters += count;
    bytes[std::string(tensor.at("type").as_string())] += tensor.at("bytes").to_number<uint64_t>();
  }
  const json::value* metadata = file.if_contains("metadata");
  const json::value* number =
      metadata != nullptr && metadata->is_object() ? metadata->get_object().if_contains("general.file_type") : nullptr;
  if (number != nullptr && number->is_int64()) out.quantization = name_of_file_type(number->get_int64());
  if (!out.quantization.empty()) return out;
  uint64_t most = 0;
  for (const auto& [type, num_bytes] : bytes) {
    if (num_bytes <= most) continue;
    most = num_bytes;
    out.quantization = type;
  }
  return out;
}

asio::awaitable<void> tags(ServerContext& server, Exchange& exchange) {
  json::array models;
  for (const ModelState& state : server.models()) {
    const FileState file = file_state(state.path);
    models.push_back({{"name", state.id},
                      {"model", state.id},
                      {"modified_at", rfc3339(file.modified)},
                      {"size", file.num_bytes},
                      {"digest", ""},
                      {"details", details_of(state)}});
  }
  HttpResponse response = json_response(json::object{{"models", std::move(models)}});
  co_await exchange.send(std::move(response));
}

asio::awaitable<void> ps(ServerContext& server, Exchange& exchange) {
  json::array models;
  for (const ModelState& state : server.models()) {
    if (!state.model) continue;
    const bool expires = state.expires != std::chrono::system_clock::time_point();
    models.push_back({{"name", state.id},
                      {"model", state.id},
                      {"size", state.memory_bytes},
                      {"digest", ""},
                      {"details", details_of(state)},
                      {"expires_at", expires ? rfc3339(state.expires) : "2318-01-01T00:00:00Z"},  // as Ollama writes "never"
                      {"size_vram", 0},
                      {"context_length", state.model->info().context}});
  }
  HttpResponse response = json_response(json::object{{"models", std::move(models)}});
  co_await exchange.send(std::move(response));
}

json::object inspected(gainz_runtime* runtime, const std::string& path) {
  char* text = nullptr;
  size_t num_bytes = 0;
  char error[1024] = "";
  const gainz_code code = gainz_inspect(runtime, path.c_str(), &text, &num_bytes, error, sizeof error);
  if (code != GAINZ_OK) throw of_runtime(code, error);
  json::value value = json::parse({text, num_bytes});
  gainz_free(runtime, text);
  return std::move(value.as_object());
}

asio::awaitable<void> show(ServerContext& server, Exchange& exchange) {
  const json::object body = co_await read_body(server, exchange);
  JsonFields fields(body);
  auto name = fields.text("model");
  if (!name) name = fields.required_text("name");
  fields.accept({"name", "verbose"});
  fields.refuse({"system", "template", "options"}, "a model's settings are those of the server's configuration");
  fields.finish();
  const std::string id = ollama_model_id(server, *name);
  for (const ModelState& state : server.models()) {
    if (state.id != id) continue;
    const auto file = std::make_shared<json::object>();
    std::function<void()> work = [file, path = state.path, runtime = server.runtime()] { *file = inspected(runtime, path); };
    co_await server.off_thread(std::move(work));
    json::object metadata;
    if (const json::value* found = file->if_contains("metadata"); found != nullptr && found->is_object())
      metadata = found->get_object();
    json::value chat_template = "";
    if (const json::value* found = metadata.if_contains("tokenizer.chat_template"); found != nullptr && found->is_string())
      chat_template = *found;
    json::array capabilities{"completion", "embedding"};
    bool can_think = false;
    if (state.model) can_think = co_await model_can_think(server, state.model);
    if (can_think) capabilities.push_back("thinking");
    HttpResponse response = json_response(json::object{{"modelfile", ""},
                                                       {"parameters", ""},
                                                       {"template", std::move(chat_template)},
                                                       {"details", details_of(state, details_in(*file))},
                                                       {"model_info", std::move(metadata)},
                                                       {"capabilities", std::move(capabilities)},
                                                       {"modified_at", rfc3339(file_state(state.path).modified)}});
    co_await exchange.send(std::move(response));
    co_return;
  }
  throw not_found(fmt::format("model \"{}\" not found", printable(*name)), "model_not_found");
}

asio::awaitable<void> version(ServerContext&, Exchange& exchange) {
  HttpResponse response = json_response(json::object{{"version", gainz_version()}});
  co_await exchange.send(std::move(response));
}

asio::awaitable<void> refuse_change(ServerContext&, Exchange&) {
  throw bad_request("", "This server's models are those of its configuration: `gainz pull` fetches one, [[model]] serves it");
  co_return;
}

constexpr Route kRoutes[] = {
    {"POST", "/api/generate", ollama_generate, ErrorForm::ollama, true, "Answer a prompt"},
    {"POST", "/api/chat", ollama_chat, ErrorForm::ollama, true, "Answer a chat"},
    {"POST", "/api/embed", ollama_embed, ErrorForm::ollama, true, "Texts as vectors of length 1"},
    {"POST", "/api/embeddings", ollama_embeddings, ErrorForm::ollama, true, "One text as a vector"},
    {"GET", "/api/tags", tags, ErrorForm::ollama, true, "List the models"},
    {"POST", "/api/show", show, ErrorForm::ollama, true, "What a model file holds"},
    {"GET", "/api/ps", ps, ErrorForm::ollama, true, "List the models in memory"},
    {"GET", "/api/version", version, ErrorForm::ollama, true, "The server's version"},
    {"POST", "/api/pull", refuse_change, ErrorForm::ollama, true, "Refused: models are configured"},
    {"POST", "/api/push", refuse_change, ErrorForm::ollama, true, "Refused: models are configured"},
    {"POST", "/api/create", refuse_change, ErrorForm::ollama, true, "Refused: models are configured"},
    {"POST", "/api/blobs/{}", refuse_change, ErrorForm::ollama, true, "Refused: models are configured"},
    {"POST", "/api/copy", refuse_change, ErrorForm::ollama, true, "Refused: models are configured"},
    {"DELETE", "/api/delete", refuse_change, ErrorForm::ollama, true, "Refused: models are configured"},
};

}  // namespace

std::string rfc3339(std::chrono::system_clock::time_point time) {
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
  const time_t seconds = micros / 1000000;
  tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec, micros % 1000000);
}

asio::awaitable<bool> model_can_think(ServerContext& server, std::shared_ptr<ServedModel> model) {
  const auto can = std::make_shared<bool>(model->opens_thinking());
  if (*can) co_return true;
  std::function<void()> work = [can, model, runtime = server.runtime()] {
    *can = template_can_think(runtime, model->runtime_id());
  };
  co_await server.off_thread(std::move(work));
  co_return *can;
}

std::string rfc3339_now() { return rfc3339(std::chrono::system_clock::now()); }

std::span<const Route> ollama_routes() { return kRoutes; }

}  // namespace gainz::host
