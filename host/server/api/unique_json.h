// JSON text to a value, for texts of strangers: a name that comes twice in an object is an error, as readers differ in which of
// the two they take, and so is a number beyond a double. Pure function; any thread.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>

namespace gainz::host {

inline constexpr size_t kMaxNames = 8192;  // of an object: they are kept while it is open

struct UniqueJson {
  boost::json::value value;
  boost::system::error_code error;  // of JSON; too_deep: beyond max_depth; object_too_large: more than kMaxNames
  size_t offset = 0;                // about where
  std::string where;                // a name that comes twice, or a number: "messages[2].content"; "": it is another error
  std::string problem;              // what it does: "is in the body twice"
};
// Invalid UTF-8 is an error too.
UniqueJson parse_unique_json(std::string_view text, size_t max_depth);

}  // namespace gainz::host
