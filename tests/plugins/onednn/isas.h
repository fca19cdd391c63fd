// The instruction sets that a test runs on: those of this machine; for each other one a line says that it is left out.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "gainz/sdk/sdk.h"
#include "support/plugin_harness.h"

namespace gainz::test {

// By asking the plugin: a device opened with a bound below says what it took.
inline std::vector<std::string> isas_of(const Plugin& plugin) {
  std::vector<std::string> isas;
  for (const std::string isa : {"scalar", "avx2", "avx_vnni", "avx512_vnni", "amx"}) {
    Device device(plugin, {{"isa", isa}});
    gainz_device_desc desc{};
    desc.struct_size = sizeof desc;
    device->describe(device.get(), &desc, nullptr);
    if (desc.isa == isa) {
      isas.push_back(isa);
    } else {
      std::printf("left out: this machine has no %s\n", isa.c_str());
    }
  }
  return isas;
}

// A toy whose widths are whole blocks of every type.
inline ToyShape wide_toy(uint32_t type) {
  return {.vocabulary = 150, .width = 256, .num_heads = 4, .num_kv_heads = 2, .head_dim = 64, .ffn = 512, .weight_type = type};
}

}  // namespace gainz::test
