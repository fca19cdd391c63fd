// The exported symbol: query, the list of the one device, and opening it with its options.
#include <algorithm>
#include <cstring>

#include "device.h"

namespace gainz::onednn {

namespace {

Status read_host(const gainz_host* host, gainz_host* out) {
  GAINZ_SDK_TRY(sdk::read_struct(host, out, "gainz_host"));
  if (out->abi_major != GAINZ_ABI_MAJOR || out->abi_minor != GAINZ_ABI_MINOR)
    return failure(GAINZ_STATUS_UNSUPPORTED, "the plugin speaks ABI %u.%u and the host %u.%u", GAINZ_ABI_MAJOR, GAINZ_ABI_MINOR,
                   out->abi_major, out->abi_minor);
  if (out->allocate != nullptr && out->release != nullptr && out->parallel_for != nullptr && out->num_workers != nullptr)
    return {};
  return failure(GAINZ_STATUS_INVALID, "gainz_host: allocate, release, parallel_for or num_workers is NULL");
}

Status read_options(const gainz_option* options, uint64_t stride, uint32_t num_options, Isa* out_bound) {
  bool is_exact = false;  // prompt tokens on the kernels of generated ones: no tiles
  for (uint32_t i = 0; i < num_options; ++i) {
    gainz_option option{};
    GAINZ_SDK_TRY(sdk::read_element(options, stride, i, &option, "gainz_option"));
    if (option.key == nullptr || option.value == nullptr)
      return failure(GAINZ_STATUS_INVALID, "option %u has no key or no value", i);
    for (uint32_t j = 0; j < i; ++j)
      if (std::strcmp(at_stride(options, stride, j).key, option.key) == 0)
        return failure(GAINZ_STATUS_INVALID, "option %.64s is given twice", option.key);
    const bool automatic = std::strcmp(option.value, "auto") == 0;
    if (std::strcmp(option.key, "prefill") == 0 && automatic) continue;
    if (std::strcmp(option.key, "prefill") == 0 && std::strcmp(option.value, "exact") == 0) {
      is_exact = true;
      continue;
    }
    if (std::strcmp(option.key, "isa") == 0 && (automatic || parse_isa(option.value, out_bound))) continue;
    return failure(
        GAINZ_STATUS_INVALID,
        "option %.64s = \"%.64s\"; there are isa (auto, scalar, avx2, avx_vnni, avx512_vnni, amx) and prefill (auto, exact)",
        option.key, option.value);
  }
  if (is_exact) *out_bound = std::min(*out_bound, Isa::kAvx512Vnni);
  return {};
}

gainz_status device_list(const gainz_host* host, gainz_device_desc* out_devices, uint64_t stride, uint32_t capacity,
                         uint32_t* out_count, gainz_error* error) {
  return sdk::guard(error, [&]() -> Status {
    gainz_host own{};
    GAINZ_SDK_TRY(read_host(host, &own));
    if (out_count == nullptr || (capacity != 0 && (out_devices == nullptr || stride < sizeof(uint32_t))))
      return failure(GAINZ_STATUS_INVALID, "device_list: no room is given for what it fills");
    // The strings must outlive the call: made once, constant afterwards.
    static const Choice kBest = choose(Isa::kAmx);
    const gainz_device_desc desc = describe(kBest);
    if (capacity != 0) std::memcpy(out_devices, &desc, std::min<uint64_t>(stride, sizeof desc));
    *out_count = 1;
    return {};
  });
}

gainz_status device_open(const gainz_host* host, uint32_t index, const gainz_option* options, uint64_t stride,
                         uint32_t num_options, gainz_device_api* out_api, gainz_device** out_device, gainz_error* error) {
  return sdk::guard(error, [&]() -> Status {
    if (out_api == nullptr || out_device == nullptr)
      return failure(GAINZ_STATUS_INVALID, "device_open: out_api or out_device is NULL");
    if (index != 0) return failure(GAINZ_STATUS_NOT_FOUND, "device_open: device %u of 1", index);
    gainz_host own{};
    GAINZ_SDK_TRY(read_host(host, &own));
    Isa bound = Isa::kAmx;
    GAINZ_SDK_TRY(read_options(options, stride, num_options, &bound));
    const gainz_device_api api = device_table();
    sdk::fill_struct_raw(out_api, &api, sizeof api);
    *out_device = open_device(own, choose(bound));
    return {};
  });
}

}  // namespace

}  // namespace gainz::onednn

extern "C" GAINZ_SDK_EXPORT gainz_status gainz_plugin_query_v0(const gainz_host* host, gainz_plugin* out_plugin,
                                                               gainz_error* error) {
  using namespace gainz::onednn;
  return gainz::sdk::guard(error, [&]() -> Status {
    gainz_host own{};
    GAINZ_SDK_TRY(read_host(host, &own));
    if (out_plugin == nullptr) return failure(GAINZ_STATUS_INVALID, "query: out_plugin is NULL");
    gainz_plugin plugin{};
    plugin.struct_size = sizeof plugin;
    plugin.abi_major = GAINZ_ABI_MAJOR;
    plugin.abi_minor = GAINZ_ABI_MINOR;
    plugin.name = "onednn";
    plugin.version = "0.1.0";
    plugin.vendor = "gainz";
    plugin.device_list = device_list;
    plugin.device_open = device_open;
    gainz::sdk::fill_struct_raw(out_plugin, &plugin, sizeof plugin);
    return {};
  });
}
