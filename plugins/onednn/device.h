// Device: the opened CPU and everything that lives on it; the C table is in device.cc. Threads: as in device.h of the SDK.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "cpu.h"
#include "program.h"

namespace gainz::onednn {

// What an opened device is, by its options.
struct Choice {
  Isa isa = Isa::kScalar;
  bool use_dnn = false;  // F32 products by oneDNN: only where the instruction set was not lowered and is AVX-512
  std::string brand, identity;
  std::string isa_text;  // for people: a fallback says why
};
// `bound`: the highest instruction set that may be used.
Choice choose(Isa bound);
gainz_device_desc describe(const Choice& choice);  // its strings belong to `choice`

// The table of an opened device, and the handle of a new one.
gainz_device_api device_table();
gainz_device* open_device(const gainz_host& host, Choice choice);

}  // namespace gainz::onednn
