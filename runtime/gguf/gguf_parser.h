// parse_gguf: one file's header, key-values and tensor infos, checked. Inside this folder only; callers use gguf.h.
// Source of the format: the GGUF specification in ggml's docs/gguf.md.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "gguf/byte_source.h"
#include "gguf/gguf.h"

namespace gainz {

struct ParsedGguf {
  std::map<std::string_view, GgufValue> metadata;
  std::vector<GgufTensor> tensors;  // in file order, which is the order of rising offsets
};

// Views point into source. metadata_only: tensor data is neither needed nor given. Errors as in Gguf::open.
Result<ParsedGguf> parse_gguf(ByteSource& source, bool metadata_only, uint32_t shard);

}  // namespace gainz
