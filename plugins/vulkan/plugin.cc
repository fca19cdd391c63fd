// The exported symbol: query, the list of devices, and opening one with its options.
#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>

#include "device.h"
#include "options.h"

namespace gainz::vulkan {

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

// Strings of a listed device must outlive the call and another host's list: each text is kept once, for ever.
const char* keep(const std::string& text) {
  static std::mutex mutex;
  static std::set<std::string> kept;
  const std::lock_guard lock(mutex);
  return kept.insert(text).first->c_str();
}

gainz_status device_list(const gainz_host* host, gainz_device_desc* out_devices, uint64_t stride, uint32_t capacity,
                         uint32_t* out_count, gainz_error* error) {
  return sdk::guard(error, [&]() -> Status {
    gainz_host own{};
    GAINZ_SDK_TRY(read_host(host, &own));
    if (out_count == nullptr || (capacity != 0 && (out_devices == nullptr || stride < sizeof(uint32_t))))
      return failure(GAINZ_STATUS_INVALID, "device_list: no room is given for what it fills");
    Instance instance;
    std::vector<Candidate> candidates;
    GAINZ_SDK_TRY(instance.create(own, false));
    GAINZ_SDK_TRY(instance.candidates(&candidates));
    *out_count = static_cast<uint32_t>(candidates.size());
    for (uint32_t i = 0; i < std::min(capacity, *out_count); ++i) {
      gainz_device_desc desc = describe(candidates[i], 0);
      desc.name = keep(candidates[i].name);
      desc.isa = keep(candidates[i].api_text);
      desc.identity = keep(candidates[i].identity);
      std::memcpy(reinterpret_cast<char*>(out_devices) + stride * i, &desc, std::min<uint64_t>(stride, sizeof desc));
    }
    return {};
  });
}

gainz_status device_open(const gainz_host* host, uint32_t index, const gainz_option* options, uint64_t stride,
                         uint32_t num_options, gainz_device_api* out_api, gainz_device** out_device, gainz_error* error) {
  return sdk::guard(error, [&]() -> Status {
    if (out_api == nullptr || out_device == nullptr)
      return failure(GAINZ_STATUS_INVALID, "device_open: out_api or out_device is NULL");
    gainz_host own{};
    GAINZ_SDK_TRY(read_host(host, &own));
    Options chosen;
    GAINZ_SDK_TRY(read_options(options, stride, num_options, &chosen));
    GAINZ_SDK_TRY(open_device(own, index, chosen, out_device));
    const gainz_device_api api = device_table();
    sdk::fill_struct_raw(out_api, &api, sizeof api);
    return {};
  });
}

}  // namespace

}  // namespace gainz::vulkan

extern "C" GAINZ_SDK_EXPORT gainz_status gainz_plugin_query_v0(const gainz_host* host, gainz_plugin* out_plugin,
                                                               gainz_error* error) {
  using namespace gainz::vulkan;
  return gainz::sdk::guard(error, [&]() -> Status {
    gainz_host own{};
    GAINZ_SDK_TRY(read_host(host, &own));
    if (out_plugin == nullptr) return failure(GAINZ_STATUS_INVALID, "query: out_plugin is NULL");
    gainz_plugin plugin{};
    plugin.struct_size = sizeof plugin;
    plugin.abi_major = GAINZ_ABI_MAJOR;
    plugin.abi_minor = GAINZ_ABI_MINOR;
    plugin.name = "vulkan";
    plugin.version = "0.1.0";
    plugin.vendor = "gainz";
    plugin.device_list = device_list;
    plugin.device_open = device_open;
    gainz::sdk::fill_struct_raw(out_plugin, &plugin, sizeof plugin);
    return {};
  });
}
