// The conformance kit's host, graph maker and runner, for tests of plugins.
#pragma once

#include "conform/harness.h"

namespace gainz::test {
using namespace gainz::conform;
}
