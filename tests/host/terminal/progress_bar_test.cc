#include "terminal/progress_bar.h"

#include <gmock/gmock.h>

#include <cmath>

namespace gainz::host {
namespace {

TEST(HostProgressBar, Line) {
  EXPECT_EQ(progress_line("load", 0.5, 80), "[############............]  50 %  load");
  EXPECT_EQ(progress_line("", 2, 80), "[########################] 100 %  ");
  EXPECT_EQ(progress_line("", -1, 80), "[........................]   0 %  ");
  EXPECT_EQ(progress_line("", NAN, 80), "[........................]   0 %  ");
}

TEST(HostProgressBar, FitsAndCannotMoveTheCursor) {
  EXPECT_EQ(progress_line("load", 0.5, 10).size(), 10u);
  EXPECT_EQ(progress_line("abcdef", 0.5, 37), "[############............]  50 %  abc");
  EXPECT_THAT(progress_line("a\x1b[2J\n", 0.5, 80), testing::EndsWith("a\\x1B[2J\\x0A"));
  EXPECT_THAT(progress_line("日本", 0.5, 36), testing::EndsWith("%  "));  // no half of a character
}

}  // namespace
}  // namespace gainz::host
