// Boost.JSON, compiled once for the probe.
#include <boost/json/src.hpp>
