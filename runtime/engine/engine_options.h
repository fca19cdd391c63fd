// EngineOptions: what an engine serves: how long, how many, with which pages and which speculation. Plain values.
#pragma once

#include <vector>

#include "engine/scheduler.h"

namespace gainz {

struct EngineOptions {
  SchedulerLimits limits;
  uint32_t context = 0;  // most tokens of one sequence
  std::vector<PageGroupLimits> page_groups;
  uint32_t k_type = 0, v_type = 0;  // GAINZ_TYPE_*
  bool prefix_cache = true;
  uint64_t secret = 0;  // random; keys the prefix index
};

}  // namespace gainz
