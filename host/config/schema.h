// Every setting of the program, once: its section and name in the TOML, type, range, default, flag and meaning. Parsing,
// environment names, `gainz config`, configs/gainz.toml and docs/configuration.md all come from this table. Constant data; any
// thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"

namespace gainz::host {

enum class KeyType : uint8_t { text, integer, number, boolean };

enum KeyFlags : uint8_t {
  kInModel = 1,         // also allowed in [[model]], for that model alone
  kSecret = 2,          // shown as ***
  kIsFolders = 4,       // folders separated by ':', in a file relative to it
  kLive = 8,            // `gainz serve` takes a new value on SIGHUP
  kIsSpeculation = 16,  // a text of speculation.h; in a file also a table
};

struct Key {
  std::string_view section;  // "": top level
  std::string_view name;
  KeyType type;
  std::string_view standard;  // the default, as in TOML but without quotes
  double least, most;         // integer and number
  std::string_view choices;   // text: "a|b", or "" for any
  uint8_t flags;
  std::string_view flag;  // "-c,--context", or "" if no command has one
  std::string_view doc;   // for people; lines end with \n but the last
};

inline constexpr double kMaxContext = 16777216;
inline constexpr double kMaxThreads = 1024;
inline constexpr double kMaxSequences = 1024;
inline constexpr double kMaxBatchTokens = 8192;
inline constexpr double kMaxKvBytes = 1125899906842624;  // 1 PiB
inline constexpr double kMaxTokens = 2147483647;
inline constexpr double kMaxPenalty = 1e6;
inline constexpr double kMaxSeconds = 86400;
inline constexpr double kMaxCount = 1e9;
inline constexpr double kMaxBytes = 1125899906842624;  // 1 PiB

inline constexpr Key kSchema[] = {
    {"", "backend", KeyType::text, "auto", 0, 0, "", kInModel, "--backend",
     "Plugin that computes: \"onednn\", \"reference\" or any other by its name.\n\"auto\": the first of onednn, reference that "
     "serves."},
    {"", "fallback", KeyType::text, "error", 0, 0, "error|scalar", kInModel, "--fallback",
     "What happens to operations that the backend does not claim: \"error\" refuses the model,\n\"scalar\" runs them on the "
     "slow "
     "built-in kernels and says so."},
    {"", "prefill", KeyType::text, "auto", 0, 0, "auto|exact", kInModel, "--prefill",
     "Kernels for prompt tokens: \"auto\" may take faster ones than for generated tokens,\n\"exact\" takes the same."},
    {"", "kv_type", KeyType::text, "auto", 0, 0, "auto|f32|f16|q8_0", kInModel, "--kv-type",
     "Type of the KV cache. \"auto\": f16, on the backend reference f32."},
    {"", "kv_type_v", KeyType::text, "auto", 0, 0, "auto|f32|f16|q8_0", kInModel, "--kv-type-v",
     "Type of the V half alone. \"auto\": as kv_type."},
    {"", "context", KeyType::integer, "0", 0, kMaxContext, "", kInModel, "-c,--context",
     "Most tokens of one conversation, prompt and answer. 0: the model's own, but at most 4096."},
    {"", "max_sequences", KeyType::integer, "16", 1, kMaxSequences, "", kInModel, "--max-sequences,--parallel",
     "Requests that run at once."},
    {"", "batch_tokens", KeyType::integer, "512", 1, kMaxBatchTokens, "", kInModel, "--batch-tokens",
     "Most tokens of one step, at least max_sequences; long prompts are cut into chunks of this size."},
    {"", "kv_memory_bytes", KeyType::integer, "0", 0, kMaxKvBytes, "", kInModel, "--kv-memory-bytes",
     "Memory for the KV cache. 0: room for max_sequences half-full contexts, at least one full one,\nwithin half of the free "
     "memory."},
    {"", "mmap", KeyType::boolean, "true", 0, 0, "", kInModel, "--mmap",
     "Map model files into memory instead of reading them."},
    {"", "prefix_cache", KeyType::boolean, "true", 0, 0, "", kInModel, "--prefix-cache",
     "Keep the KV pages of finished requests for prompts that begin alike."},
    {"", "speculation", KeyType::text, "auto", 0, 0, "", kInModel | kIsSpeculation, "--speculation",
     "Speculative decoding: several guessed tokens are checked in one step; it never changes an answer. \"auto\", \"off\",\nor "
     "what "
     "to guess from: some of \"ngram,prediction,cache,model\"; max_depth=N bounds, depth=N fixes the number of\ntokens. Also a "
     "table: {kinds = [\"ngram\"], max_depth = 4}."},
    {"", "draft_model", KeyType::text, "", 0, 0, "", kInModel, "--draft-model",
     "A smaller model with the same vocabulary that writes guesses, by path or by name. Empty: none."},
    {"", "draft_backend", KeyType::text, "", 0, 0, "", kInModel, "--draft-backend",
     "Plugin that computes the draft model. Empty: as backend."},
    {"", "threads", KeyType::integer, "0", 0, kMaxThreads, "", 0, "-t,--threads",
     "Threads that compute. 0: one for each core that the process may use."},
    {"", "cpu_isa", KeyType::text, "auto", 0, 0, "auto|scalar|avx2|avx_vnni|avx512_vnni|amx", 0, "--cpu-isa",
     "Upper bound for the instruction set of CPU plugins; it can only lower."},
    {"", "plugin_path", KeyType::text, "", 0, 0, "", kIsFolders, "--plugin-path",
     "Folders with plugins, separated by ':'. Empty: gainz/plugins beside the library."},
    {"", "models", KeyType::text, "", 0, 0, "", kIsFolders, "",
     "Folder of models that are given by name. Empty: gainz/models in the user's cache folder."},

    {"sampling", "temperature", KeyType::number, "0.7", 0, kMaxPenalty, "", kLive, "--temperature",
     "0: always the most probable token."},
    {"sampling", "top_k", KeyType::integer, "0", 0, kMaxTokens, "", kLive, "--top-k",
     "Keep the k most probable tokens. 0: off."},
    {"sampling", "top_p", KeyType::number, "1", 0, 1, "", kLive, "--top-p",
     "Keep the most probable tokens up to this total. 1: off."},
    {"sampling", "min_p", KeyType::number, "0", 0, 1, "", kLive, "--min-p",
     "Keep tokens with at least this part of the best one's probability. 0: off."},
    {"sampling", "typical_p", KeyType::number, "1", 0, 1, "", kLive, "--typical-p",
     "Keep the most typical tokens up to this total. 1: off."},
    {"sampling", "repetition_penalty", KeyType::number, "1", 0, kMaxPenalty, "", kLive, "--repetition-penalty",
     "Divides the logits of tokens of the prompt and the answer; above 0. 1: off."},
    {"sampling", "presence_penalty", KeyType::number, "0", -kMaxPenalty, kMaxPenalty, "", kLive, "--presence-penalty",
     "Subtracted from the logits of tokens of the answer, once. 0: off."},
    {"sampling", "frequency_penalty", KeyType::number, "0", -kMaxPenalty, kMaxPenalty, "", kLive, "--frequency-penalty",
     "Subtracted from the logits of tokens of the answer, for each time. 0: off."},
    {"sampling", "max_tokens", KeyType::integer, "-1", -1, kMaxTokens, "", kLive, "-n,--max-tokens",
     "Most tokens of an answer. -1: until the context is full."},
    {"sampling", "min_tokens", KeyType::integer, "0", 0, kMaxTokens, "", kLive, "--min-tokens",
     "No end of the answer before this many tokens."},

    {"server", "host", KeyType::text, "127.0.0.1", 0, 0, "", 0, "--host",
     "Address to listen on: \"127.0.0.1\", \"::1\", \"localhost\" (both families), \"0.0.0.0\", \"::\" (both families), or "
     "any\nother of this machine. Beyond loopback a key is needed, or allow_without_keys."},
    {"server", "port", KeyType::integer, "8080", 0, 65535, "", 0, "--port", "0: any free port."},
    {"server", "allow_without_keys", KeyType::boolean, "false", 0, 0, "", kLive, "--allow-without-keys",
     "Serve beyond loopback although there are no keys: whoever reaches the port may use the models."},
    {"server", "api_key", KeyType::text, "", 0, 0, "", kSecret | kLive, "--api-key",
     "A key that requests must carry (authorization: Bearer KEY), named \"default\" in logs. Give it in the\nenvironment or in "
     "api_key_file; what is on a command line, other users see."},
    {"server", "api_key_file", KeyType::text, "", 0, 0, "", kIsFolders | kLive, "--api-key-file",
     "File of keys, one a line: KEY, or NAME KEY; # begins a comment. Read again on SIGHUP."},
    {"server", "cors_origins", KeyType::text, "", 0, 0, "", kLive, "--cors-origins",
     "Web pages that may use the server from a browser, by origin, with commas between: \"https://chat.example\".\n\"*\": "
     "any."},
    {"server", "tls_certificate", KeyType::text, "", 0, 0, "", kIsFolders | kLive, "--tls-certificate",
     "PEM file with the certificate chain; with tls_key the server speaks https. Read again on SIGHUP."},
    {"server", "tls_key", KeyType::text, "", 0, 0, "", kIsFolders | kLive, "--tls-key",
     "PEM file with the certificate's private key."},
    {"server", "load", KeyType::text, "start", 0, 0, "start|demand", kInModel, "",
     "When a model is loaded: \"start\", as far as memory_bytes allows, or \"demand\", by the first request that names it."},
    {"server", "keep_alive_seconds", KeyType::integer, "0", 0, kMaxSeconds, "", kInModel | kLive, "",
     "A model that nobody has used for so long is unloaded; the next request loads it again. 0: never."},
    {"server", "memory_bytes", KeyType::integer, "0", 0, kMaxBytes, "", kLive, "",
     "Most memory of all loaded models, weights and KV pages. Idle models make room for a wanted one. 0: no bound."},
    {"server", "max_queue", KeyType::integer, "256", 0, kMaxCount, "", kLive, "",
     "Requests of one model that wait while max_sequences run; beyond: 429."},
    {"server", "key_requests_per_minute", KeyType::integer, "0", 0, kMaxCount, "", kLive, "",
     "Requests of one key (without keys: of one address) in a minute; beyond: 429. 0: any number."},
    {"server", "key_concurrency", KeyType::integer, "0", 0, kMaxCount, "", kLive, "",
     "Generations of one key (without keys: of one address) at once; beyond: 429. 0: any number."},
    {"server", "max_prompt_tokens", KeyType::integer, "0", 0, kMaxContext, "", kLive, "",
     "Of one prompt. 0: what the context holds."},
    {"server", "max_output_tokens", KeyType::integer, "0", 0, kMaxContext, "", kLive, "",
     "Of one answer; a request that names more is refused, one that names none gets this. 0: what the context holds."},
    {"server", "reasoning_field", KeyType::text, "reasoning_content", 0, 0, "reasoning_content|reasoning", kLive, "",
     "What the reasoning in answers of /v1/chat/completions is called, for clients that know one name alone."},
    {"server", "max_choices", KeyType::integer, "16", 1, 1024, "", kLive, "", "Answers to one request (\"n\")."},
    {"server", "max_stops", KeyType::integer, "16", 0, 1024, "", kLive, "", "Stop texts of one request, and stop token ids."},
    {"server", "max_json_depth", KeyType::integer, "64", 1, 1024, "", kLive, "", "Nesting of a request's body."},
    {"server", "max_priority", KeyType::integer, "0", 0, 1000000, "", kLive, "",
     "Highest priority that a request may ask for; a lower or negative one is always allowed."},
    {"server", "request_seconds", KeyType::integer, "600", 1, kMaxSeconds, "", kLive, "",
     "Longest time of one generation, waiting included; a request may ask for less."},
    {"server", "unread_bytes", KeyType::integer, "4194304", 4096, kMaxBytes, "", kLive, "",
     "Memory of one generation's tokens that its client has not taken yet; beyond: the generation is cancelled."},
    {"server", "grace_seconds", KeyType::integer, "30", 0, kMaxSeconds, "", kLive, "",
     "After SIGTERM running requests may go on for so long; then they get a last error event."},
    {"server", "worker_threads", KeyType::integer, "2", 1, 64, "", 0, "",
     "Threads that tokenize prompts and read large bodies, beside the one of the network and those that compute."},
    {"server", "max_connections", KeyType::integer, "1024", 1, 1000000, "", kLive, "",
     "Open connections; beyond: the longest idle one is closed, if none is idle 503."},
    {"server", "max_uri_bytes", KeyType::integer, "8192", 64, 16777216, "", kLive, "", "Of a request's target; beyond: 414."},
    {"server", "max_header_bytes", KeyType::integer, "65536", 256, 16777216, "", kLive, "",
     "Of a request's header fields together; beyond: 431."},
    {"server", "max_headers", KeyType::integer, "100", 1, 100000, "", kLive, "", "Header fields of a request; beyond: 431."},
    {"server", "max_body_bytes", KeyType::integer, "16777216", 1024, kMaxBytes, "", kLive, "",
     "Of a request's body; beyond: 413."},
    {"server", "all_body_bytes", KeyType::integer, "536870912", 1024, kMaxBytes, "", kLive, "",
     "Of the bodies of all requests at once; beyond: 503."},
    {"server", "header_seconds", KeyType::integer, "10", 1, kMaxSeconds, "", kLive, "",
     "From the first to the last byte of a request's header; beyond: 408."},
    {"server", "body_seconds", KeyType::integer, "30", 1, kMaxSeconds, "", kLive, "",
     "For a request's body, and a second more for each 64 KiB; beyond: 408."},
    {"server", "idle_seconds", KeyType::integer, "75", 1, kMaxSeconds, "", kLive, "",
     "Between two requests of a connection; beyond: it is closed."},
    {"server", "write_seconds", KeyType::integer, "30", 1, kMaxSeconds, "", kLive, "",
     "Until a client has taken a piece of an answer, and a second more for each 64 KiB; beyond: the connection is closed."},

    {"log", "level", KeyType::text, "warning", 0, 0, "error|warning|info|debug", kLive, "--log-level",
     "Least important messages that are written."},
    {"log", "format", KeyType::text, "text", 0, 0, "text|json", kLive, "--log-format", "\"json\": one object a line."},
    {"log", "file", KeyType::text, "", 0, 0, "", kIsFolders | kLive, "--log-file",
     "Messages are appended to this file, which is opened again on SIGHUP. Empty: standard error."},
    {"log", "access", KeyType::boolean, "true", 0, 0, "", kLive, "",
     "`gainz serve` writes one line for each request, whatever the level."},
    {"log", "content", KeyType::boolean, "false", 0, 0, "", kLive, "",
     "These lines also hold the texts of prompts and answers."},
};
inline constexpr size_t kNumKeys = std::size(kSchema);

// Index of "context" or "sampling.temperature" in kSchema; a name that is not there does not compile.
consteval size_t key(std::string_view name) {
  for (size_t i = 0; i < kNumKeys; ++i) {
    const Key& candidate = kSchema[i];
    const size_t dot = name.find('.');
    const std::string_view section = dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
    const std::string_view rest = dot == std::string_view::npos ? name : name.substr(dot + 1);
    if (candidate.section == section && candidate.name == rest) return i;
  }
  throw "no such key";
}

using Value = std::variant<std::string, int64_t, double, bool>;  // in the order of KeyType

std::string dotted_name(const Key& key);       // "sampling.top_k"
std::string environment_name(const Key& key);  // "GAINZ_SAMPLING_TOP_K"
std::string long_flag(const Key& key);         // "--top-k", or ""

// Type, range and choices, with a sentence that begins after the place: "context must be an integer from 0 to 16777216, not
// \"many\"".
Result<Value> parse_value(const Key& key, std::string_view text);
Result<Value> check_value(const Key& key, Value value);
Value default_value(const Key& key);
std::string what_it_must_be(const Key& key);            // "an integer from 0 to 16777216"
std::string toml_value(const Value& value);             // as written in a TOML file
std::string shown_value(const Key& key, const Value&);  // the same; secrets masked

}  // namespace gainz::host
