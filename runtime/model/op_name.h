// The name of an operation of the plugin ABI, for messages and for values that nodes make. Constant text; any thread.
#pragma once

#include <cstdint>

namespace gainz {

const char* op_name(uint32_t op);  // "linear"; "an unknown operation" for a number that ops.h does not have

}  // namespace gainz
