// Device: the opened Vulkan device and everything that lives on it; the C table is in device.cc. Threads: as in device.h of the
// SDK.
#pragma once

#include "context.h"

namespace gainz::vulkan {

// Its strings belong to `candidate`.
gainz_device_desc describe(const Candidate& candidate, uint64_t memory_limit_bytes);

// The table of an opened device, and the handle of a new one.
gainz_device_api device_table();
Status open_device(const gainz_host& host, uint32_t index, const Options& options, gainz_device** out_device);

}  // namespace gainz::vulkan
