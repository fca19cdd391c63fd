// The options of device_open, read and checked. Pure function, any thread.
#pragma once

#include "context.h"

namespace gainz::vulkan {

// INVALID names an option that is unknown, given twice or out of range.
Status read_options(const gainz_option* options, uint64_t stride, uint32_t num_options, Options* out);

}  // namespace gainz::vulkan
