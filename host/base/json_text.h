// JSON text for people and programs: keys in the order they were added, numbers in their shortest form that gives back the same
// value (Boost.JSON would print 0.7 as 7E-1), two spaces of indentation if asked. Not finite: null. Any thread.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>

namespace gainz::host {

std::string json_text(const boost::json::value& value, bool pretty = false);

}  // namespace gainz::host
