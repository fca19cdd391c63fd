#include "sampler/stop_matcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "sampler/limits.h"

namespace gainz {
namespace {

// What the documentation says, by trying everything.
struct Naive {
  std::string emitted;  // after all the text so far
  int32_t stop = -1;
};

Naive naive(const std::vector<std::string>& stops, const std::string& text) {
  for (size_t end = 1; end <= text.size(); ++end) {
    int32_t longest = -1;
    for (size_t i = 0; i < stops.size(); ++i) {
      if (!std::string_view(text).substr(0, end).ends_with(stops[i])) continue;
      if (longest < 0 || stops[i].size() > stops[static_cast<size_t>(longest)].size()) longest = static_cast<int32_t>(i);
    }
    if (longest >= 0) return {text.substr(0, end - stops[static_cast<size_t>(longest)].size()), longest};
  }
  size_t held = 0;
  for (size_t length = 1; length <= text.size(); ++length) {
    for (const std::string& stop : stops) {
      if (length < stop.size() && text.ends_with(stop.substr(0, length))) held = length;
    }
  }
  return {text.substr(0, text.size() - held), -1};
}

TEST(StopMatcher, WithoutStopsEverythingPasses) {
  StopMatcher matcher({});
  EXPECT_EQ(matcher.push("abc").emit, "abc");
  EXPECT_EQ(matcher.push("").emit, "");
  EXPECT_FALSE(matcher.matched());
  EXPECT_EQ(matcher.finish(), "");
}

TEST(StopMatcher, HoldsOnlyWhatMayBecomeAStop) {
  StopMatcher matcher({"</end>"});
  EXPECT_EQ(matcher.push("one <").emit, "one ");
  EXPECT_EQ(matcher.push("/en").emit, "");
  EXPECT_EQ(matcher.push("ough <").emit, "</enough ");
  EXPECT_EQ(matcher.push("b> </").emit, "<b> ");
  EXPECT_EQ(matcher.finish(), "</");
  EXPECT_EQ(matcher.push("end>").emit, "end>");  // as new
}

TEST(StopMatcher, MatchesAcrossBordersAndStaysMatched) {
  StopMatcher matcher({"STOP", "\n\nUser:"});
  EXPECT_EQ(matcher.push("Hi.\n").emit, "Hi.");
  EXPECT_EQ(matcher.push("\nUse").emit, "");
  const StopPush last = matcher.push("r: more STOP");
  EXPECT_TRUE(last.matched);
  EXPECT_EQ(last.emit, "");
  EXPECT_EQ(matcher.matched_stop(), 1);
  EXPECT_TRUE(matcher.push("rest").matched);
  EXPECT_EQ(matcher.push("rest").emit, "");
  EXPECT_EQ(matcher.finish(), "");
}

TEST(StopMatcher, EarliestEndWinsThenTheLongest) {
  StopMatcher first({"bc", "abcd"});
  EXPECT_EQ(first.push("xabcd").emit, "xa");
  StopMatcher longest({"c", "abc", "bc"});
  EXPECT_EQ(longest.push("xabc").emit, "x");
  EXPECT_EQ(longest.matched_stop(), 1);
  StopMatcher twice({"ab", "ab"});
  EXPECT_TRUE(twice.push("ab").matched);
  EXPECT_EQ(twice.matched_stop(), 0);
}

TEST(StopMatcher, AgreesWithTryingEverythingHoweverTheTextIsCut) {
  std::mt19937 random(4);
  int num_matched = 0;
  for (int round = 0; round < 20000; ++round) {
    const unsigned letters = 2 + random() % 3;
    const auto random_text = [&](size_t length) {
      std::string text;
      for (size_t i = 0; i < length; ++i) text += static_cast<char>(0xfe + random() % letters);  // bytes above 127 and 0 too
      return text;
    };
    std::vector<std::string> stops;
    for (unsigned i = 0; i < 1 + random() % 4; ++i) stops.push_back(random_text(1 + random() % 6));
    const std::string text = random_text(random() % 40);
    StopMatcher matcher(stops);
    std::string emitted;
    for (size_t at = 0; at < text.size();) {
      const size_t length = std::min<size_t>(random() % 5, text.size() - at);
      const bool matched = matcher.push(std::string_view(text).substr(at, length), emitted);
      at += length;
      const Naive expected = naive(stops, text.substr(0, at));
      ASSERT_EQ(emitted, expected.emitted);
      ASSERT_EQ(matched, expected.stop >= 0);
      ASSERT_EQ(matcher.matched_stop(), expected.stop);
    }
    num_matched += matcher.matched();
    if (!matcher.matched()) {
      ASSERT_EQ(emitted + matcher.finish(), text);
    }
  }
  EXPECT_GT(num_matched, 5000);
  EXPECT_LT(num_matched, 19000);
}

TEST(StopMatcher, IsLinearOnItsWorstText) {
  std::vector<std::string> stops(kMaxNumStopStrings);
  for (size_t i = 0; i < stops.size(); ++i) stops[i] = std::string(kMaxStopStringBytes - 1 - i, 'a') + "b";
  auto matcher = StopMatcher::create(stops);
  ASSERT_TRUE(matcher.ok());
  std::string emitted;
  const std::string piece = std::string(kMaxStopStringBytes - 1, 'a') + "c";
  for (int i = 0; i < 200; ++i) EXPECT_FALSE(matcher->push(piece, emitted));
  EXPECT_EQ(emitted.size(), 200 * piece.size());
}

TEST(StopMatcher, LimitsAreChecked) {
  std::vector<std::string> stops(kMaxNumStopStrings, "x");
  stops[3] = std::string(kMaxStopStringBytes, 'y');
  EXPECT_TRUE(StopMatcher::validate(stops).ok());
  stops[3] += 'y';
  EXPECT_EQ(StopMatcher::validate(stops).code(), Code::limit_exceeded);
  EXPECT_THAT(StopMatcher::validate(stops).message(), testing::HasSubstr("stop string 3"));
  stops[3] = "";
  EXPECT_EQ(StopMatcher::create(stops).status().code(), Code::invalid);
  stops[3] = "x";
  stops.push_back("x");
  EXPECT_EQ(StopMatcher::validate(stops).code(), Code::limit_exceeded);
}

}  // namespace
}  // namespace gainz
