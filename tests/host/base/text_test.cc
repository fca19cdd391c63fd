#include "base/text.h"

#include <gtest/gtest.h>

namespace gainz::host {
namespace {

TEST(HostText, PrintableKeepsTextAndShowsTheRest) {
  EXPECT_EQ(printable("a é 日本 😀"), "a é 日本 😀");
  EXPECT_EQ(printable("\x1b[2J\n\t\x7f"), "\\x1B[2J\\x0A\\x09\\x7F");
  EXPECT_EQ(printable("\xC2\x9B"), "\\xC2\\x9B");                    // a C1 control is an escape sequence's start too
  EXPECT_EQ(printable("\xFF\xC3"), "\\xFF\\xC3");                    // not UTF-8; cut character
  EXPECT_EQ(printable("\xC0\x80"), "\\xC0\\x80");                    // overlong
  EXPECT_EQ(printable("\xED\xA0\x80"), "\\xED\\xA0\\x80");           // surrogate
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), "\\xF4\\x90\\x80\\x80");  // beyond U+10FFFF
}

TEST(HostText, ValidUtf8ReplacesEachBadByte) {
  EXPECT_EQ(valid_utf8("a\xFFz\n"), "a\xEF\xBF\xBDz\n");
  EXPECT_EQ(valid_utf8("日\xE6"), "日\xEF\xBF\xBD");
}

TEST(HostText, NumbersMustBeTheWholeText) {
  EXPECT_EQ(parse_integer("-12"), -12);
  for (const char* bad : {"", " 1", "1 ", "+1", "0x10", "1.0", "1e3", "9223372036854775808", "many"})
    EXPECT_FALSE(parse_integer(bad)) << bad;
  EXPECT_EQ(parse_unsigned("18446744073709551615"), UINT64_MAX);
  EXPECT_FALSE(parse_unsigned("-1"));
  EXPECT_EQ(parse_number("1e-3"), 1e-3);
  for (const char* bad : {"", "nan", "inf", "-inf", "1e400", "0.7x", "0,7"}) EXPECT_FALSE(parse_number(bad)) << bad;
}

TEST(HostText, SizesAndTimesForPeople) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(98362432), "98.4 MB");
  EXPECT_EQ(format_bytes(999999), "1.0 MB");  // never "1000.0 kB"
  EXPECT_EQ(format_bytes(UINT64_MAX), "18.4 EB");
  EXPECT_EQ(format_seconds(0.0352), "35 ms");
  EXPECT_EQ(format_seconds(0.9999), "1.00 s");
  EXPECT_EQ(format_seconds(12.34), "12.3 s");
  EXPECT_EQ(format_seconds(185), "3 min 05 s");
  EXPECT_EQ(format_number(1.50), "1.5");
  EXPECT_EQ(format_number(-0.0001), "0");
  EXPECT_EQ(format_count(134515008), "134,515,008");
  EXPECT_EQ(format_count(12), "12");
}

TEST(HostText, NearestSpelling) {
  constexpr std::string_view kWords[] = {"backend", "context", "threads", "top_k", "top_p"};
  EXPECT_EQ(nearest("bakcend", kWords), "backend");  // a swap
  EXPECT_EQ(nearest("contxt", kWords), "context");
  EXPECT_EQ(nearest("thread", kWords), "threads");
  EXPECT_EQ(nearest("colour", kWords), "");
  EXPECT_EQ(nearest("x", kWords), "");
  EXPECT_EQ(nearest(std::string(100000, 'a'), kWords), "");
}

}  // namespace
}  // namespace gainz::host
