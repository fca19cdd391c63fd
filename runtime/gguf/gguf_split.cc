#include "gguf/gguf_split.h"

#include <algorithm>
#include <cstdio>
#include <variant>

#include "gguf/limits.h"
#include "gguf/text.h"

namespace gainz {

namespace {

Status bad(const std::string& name, const std::string& text) { return {Code::invalid, joined(name, ": ", text)}; }

Result<uint64_t> number_or(const std::string& name, const ParsedGguf& file, std::string_view key, uint64_t otherwise) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end()) return otherwise;
  if (const auto* value = std::get_if<uint64_t>(&found->second)) return *value;
  if (const auto* value = std::get_if<int64_t>(&found->second); value != nullptr && *value >= 0)
    return static_cast<uint64_t>(*value);
  return bad(name, joined("key ", quoted(key), " is ", gguf_value_text(found->second, 4), ", not a number from 0 on"));
}

std::string shard_suffix(uint64_t number, uint64_t count) {
  char text[64];
  std::snprintf(text, sizeof text, "-%05llu-of-%05llu.gguf", static_cast<unsigned long long>(number + 1),
                static_cast<unsigned long long>(count));
  return text;
}

bool same(const GgufValue& a, const GgufValue& b) {
  if (a.index() != b.index()) return false;
  if (const auto* array = std::get_if<GgufArray>(&a)) {
    const GgufArray& other = std::get<GgufArray>(b);
    return array->element_type == other.element_type && array->size == other.size && array->strings == other.strings &&
           std::equal(array->numbers.begin(), array->numbers.end(), other.numbers.begin(), other.numbers.end());
  }
  return gguf_value_text(a, 0) == gguf_value_text(b, 0);  // two NaNs are the same here
}

}  // namespace

Result<SplitInfo> read_split_info(const std::string& name, const ParsedGguf& file) {
  SplitInfo info;
  GAINZ_ASSIGN(info.number, number_or(name, file, "split.no", 0));
  GAINZ_ASSIGN(info.count, number_or(name, file, "split.count", 0));
  info.has_num_tensors = info.count > 0 && file.metadata.contains("split.tensors.count");
  GAINZ_ASSIGN(info.num_tensors, number_or(name, file, "split.tensors.count", 0));
  if (info.count > kGgufMaxShards) {
    return bad(name, joined("key \"split.count\" is ", info.count, ", the limit is ", kGgufMaxShards));
  }
  if (info.count > 0 && info.number >= info.count) {
    return bad(name, joined("key \"split.no\" is ", info.number, ", not below \"split.count\", which is ", info.count));
  }
  return info;
}

Result<std::string> shard_path(const std::string& first, uint64_t number, uint64_t count) {
  const std::string suffix = shard_suffix(0, count);
  if (!first.ends_with(suffix)) {
    return bad(first, joined("the first of ", count, " parts of a split model must have a name that ends in ", suffix));
  }
  return first.substr(0, first.size() - suffix.size()) + shard_suffix(number, count);
}

Status check_shard(const std::string& name, const ParsedGguf& file, const ParsedGguf& first, const SplitInfo& first_info,
                   uint64_t number) {
  GAINZ_ASSIGN(const SplitInfo info, read_split_info(name, file));
  if (info.count != first_info.count || info.number != number) {
    return bad(name, joined("is part ", info.number + 1, " of ", info.count, " by its keys, expected part ", number + 1, " of ",
                            first_info.count, " (from another model?)"));
  }
  if (info.has_num_tensors && first_info.has_num_tensors && info.num_tensors != first_info.num_tensors) {
    return bad(name, joined("key \"split.tensors.count\" is ", info.num_tensors, ", in the first part ", first_info.num_tensors,
                            " (from another model?)"));
  }
  for (const auto& [key, value] : file.metadata) {
    if (key.starts_with("split.") || key == "general.alignment") continue;
    const auto found = first.metadata.find(key);
    if (found != first.metadata.end() && same(found->second, value)) continue;
    return bad(name,
               joined("key ", quoted(key), " is ", gguf_value_text(value, 4), ", in the first part ",
                      found == first.metadata.end() ? "absent" : gguf_value_text(found->second, 4), " (from another model?)"));
  }
  return {};
}

}  // namespace gainz
