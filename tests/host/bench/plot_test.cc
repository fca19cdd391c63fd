#include "bench/plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gainz::host {
namespace {

using testing::HasSubstr;
using testing::Not;

Report with(std::vector<Row> rows) {
  Report report;
  report.model = "/models/a<b>&c.gguf";
  report.rows = std::move(rows);
  return report;
}

Row row(const char* phase, uint32_t streams, uint32_t depth, double median) {
  return {phase, streams, 64, depth, median, median * 0.9, median * 1.1, 0, 0, 0, 0};
}

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(BenchPlot, ALineForEachPhaseOverStreamsAndOverDepth) {
  const std::string svg =
      report_svg(with({row("prefill", 1, 0, 5000), row("prefill", 4, 0, 5500), row("decode", 1, 0, 400),
                       row("decode", 4, 0, 1300), row("decode", 1, 2048, 200), row("decode", 4, 2048, 230)}));
  EXPECT_EQ(count(svg, "<polyline"), 3u) << "decode and prefill over streams, decode over depth";
  EXPECT_EQ(count(svg, "<circle"), 6u);
  EXPECT_THAT(svg, HasSubstr(">2048<"));
  EXPECT_THAT(svg, HasSubstr("a&lt;b>&amp;c.gguf"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(BenchPlot, OnePointIsNoLine) {
  for (const auto& rows :
       {std::vector<Row>{}, std::vector<Row>{row("decode", 1, 0, 400)}, std::vector<Row>{row("decode", 1, 0, 0)}}) {
    const std::string svg = report_svg(with(rows));
    EXPECT_EQ(count(svg, "<polyline"), 0u);
    EXPECT_THAT(svg, HasSubstr("no two points"));
    EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
  }
}

}  // namespace
}  // namespace gainz::host
