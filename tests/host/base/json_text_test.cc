#include "base/json_text.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <limits>

namespace gainz::host {
namespace {

TEST(HostJsonText, NumbersAreShortAndExact) {
  const boost::json::array values{
      0.7, 3.0, 1e300, 12, -1, std::numeric_limits<uint64_t>::max(), std::numeric_limits<double>::infinity()};
  EXPECT_EQ(json_text(values), "[0.7,3,1e+300,12,-1,18446744073709551615,null]");
}

TEST(HostJsonText, OrderAndEscapesAreKept) {
  EXPECT_EQ(json_text(boost::json::object{{"z", "q\"\n"}, {"a", nullptr}, {"e", boost::json::object{}}}),
            R"({"z":"q\"\n","a":null,"e":{}})");
}

TEST(HostJsonText, Pretty) {
  EXPECT_EQ(json_text(boost::json::object{{"a", {1, true}}}, true), "{\n  \"a\": [\n    1,\n    true\n  ]\n}");
}

}  // namespace
}  // namespace gainz::host
