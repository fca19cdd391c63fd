// A bench result as a picture: tokens/s over the number of streams and over the depth of the context, as SVG. Pure; any thread.
#pragma once

#include <string>

#include "bench/report.h"

namespace gainz::host {

// Two panels side by side, one line a phase; medians with bars from least to most. Panels without two points are left out.
std::string report_svg(const Report& report);

}  // namespace gainz::host
