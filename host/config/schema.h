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
  kInModel = 1,   // also allowed in [[model]], for that model alone
  kSecret = 2,    // shown as ***
  kIsFolders = 4  // folders separated by ':', in a file relative to it
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
    {"", "max_sequences", KeyType::integer, "16", 1, kMaxSequences, "", kInModel, "--max-sequences",
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
    {"", "speculation", KeyType::text, "none", 0, 0, "none", kInModel, "--speculation",
     "Speculative decoding. Only \"none\" is known."},
    {"", "threads", KeyType::integer, "0", 0, kMaxThreads, "", 0, "-t,--threads",
     "Threads that compute. 0: one for each core that the process may use."},
    {"", "cpu_isa", KeyType::text, "auto", 0, 0, "auto|scalar|avx2|avx_vnni|avx512_vnni|amx", 0, "--cpu-isa",
     "Upper bound for the instruction set of CPU plugins; it can only lower."},
    {"", "plugin_path", KeyType::text, "", 0, 0, "", kIsFolders, "--plugin-path",
     "Folders with plugins, separated by ':'. Empty: gainz/plugins beside the library."},
    {"", "models", KeyType::text, "", 0, 0, "", kIsFolders, "",
     "Folder of models that are given by name. Empty: gainz/models in the user's cache folder."},

    {"sampling", "temperature", KeyType::number, "0.7", 0, kMaxPenalty, "", 0, "--temperature",
     "0: always the most probable token."},
    {"sampling", "top_k", KeyType::integer, "0", 0, kMaxTokens, "", 0, "--top-k", "Keep the k most probable tokens. 0: off."},
    {"sampling", "top_p", KeyType::number, "1", 0, 1, "", 0, "--top-p",
     "Keep the most probable tokens up to this total. 1: off."},
    {"sampling", "min_p", KeyType::number, "0", 0, 1, "", 0, "--min-p",
     "Keep tokens with at least this part of the best one's probability. 0: off."},
    {"sampling", "typical_p", KeyType::number, "1", 0, 1, "", 0, "--typical-p",
     "Keep the most typical tokens up to this total. 1: off."},
    {"sampling", "repetition_penalty", KeyType::number, "1", 0, kMaxPenalty, "", 0, "--repetition-penalty",
     "Divides the logits of tokens of the prompt and the answer; above 0. 1: off."},
    {"sampling", "presence_penalty", KeyType::number, "0", -kMaxPenalty, kMaxPenalty, "", 0, "--presence-penalty",
     "Subtracted from the logits of tokens of the answer, once. 0: off."},
    {"sampling", "frequency_penalty", KeyType::number, "0", -kMaxPenalty, kMaxPenalty, "", 0, "--frequency-penalty",
     "Subtracted from the logits of tokens of the answer, for each time. 0: off."},
    {"sampling", "max_tokens", KeyType::integer, "-1", -1, kMaxTokens, "", 0, "-n,--max-tokens",
     "Most tokens of an answer. -1: until the context is full."},
    {"sampling", "min_tokens", KeyType::integer, "0", 0, kMaxTokens, "", 0, "--min-tokens",
     "No end of the answer before this many tokens."},

    {"log", "level", KeyType::text, "warning", 0, 0, "error|warning|info|debug", 0, "--log-level",
     "Least important messages that are written."},
    {"log", "format", KeyType::text, "text", 0, 0, "text|json", 0, "--log-format", "\"json\": one object a line."},
    {"log", "file", KeyType::text, "", 0, 0, "", kIsFolders, "--log-file",
     "Messages are appended to this file. Empty: standard error."},
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
