#include "server/thinking.h"

#include <gtest/gtest.h>

namespace gainz::host {
namespace {

ThoughtPiece split(const std::vector<std::string>& pieces, bool is_inside = false) {
  Thinking thinking(is_inside);
  ThoughtPiece out;
  const auto put = [&](const ThoughtPiece& piece) {
    out.reasoning += piece.reasoning;
    out.content += piece.content;
  };
  for (const std::string& piece : pieces) put(thinking.add(piece));
  put(thinking.finish());
  return out;
}

struct Case {
  const char* text;
  const char* reasoning;
  const char* content;
  bool is_inside = false;
};

constexpr Case kCases[] = {
    {"Hello", "", "Hello"},
    {"", "", ""},
    {"  \n Hello ", "", "  \n Hello "},
    {"<think>why</think>so", "why", "so"},
    {"\n<think>\nwhy\n\n</think>\n\nso it is\n", "why", "so it is\n"},
    {"<think></think>so", "", "so"},
    {"<think>\n\n</think>\n\nso", "", "so"},
    {"<think>a </thin b </think>so", "a </thin b", "so"},
    {"<think>a < b</think>c </think> <think>d</think>", "a < b", "c </think> <think>d</think>"},
    {"so <think>no thought</think>", "", "so <think>no thought</think>"},
    {"<thinks>", "", "<thinks>"},
    {"<thin", "", "<thin"},
    {"<think>cut of", "cut of", ""},
    {"<think>cut </thi", "cut </thi", ""},
    {"why</think>so", "why", "so", true},
    {"\nwhy\n</think>\nso", "why", "so", true},
    {"never closed", "never closed", "", true},
    {"<think>twice</think>so", "<think>twice", "so", true},
};

TEST(ServerThinking, Whole) {
  for (const Case& c : kCases) {
    const ThoughtPiece out = split({c.text}, c.is_inside);
    EXPECT_EQ(out.reasoning, c.reasoning) << c.text;
    EXPECT_EQ(out.content, c.content) << c.text;
  }
}

// However it is cut, the same comes out.
TEST(ServerThinking, AnyPieces) {
  for (const Case& c : kCases) {
    const std::string text = c.text;
    std::vector<std::string> bytes;
    for (const char letter : text) bytes.emplace_back(1, letter);
    EXPECT_EQ(split(bytes, c.is_inside).reasoning, c.reasoning) << c.text;
    EXPECT_EQ(split(bytes, c.is_inside).content, c.content) << c.text;
    for (size_t at = 0; at <= text.size(); ++at) {
      const ThoughtPiece out = split({text.substr(0, at), text.substr(at)}, c.is_inside);
      EXPECT_EQ(out.reasoning, c.reasoning) << c.text << " cut at " << at;
      EXPECT_EQ(out.content, c.content) << c.text << " cut at " << at;
    }
  }
}

TEST(ServerThinking, NothingIsHeldBackLongerThanItMustBe) {
  Thinking thinking;
  EXPECT_EQ(thinking.add("<think>one two").reasoning, "one two");
  EXPECT_EQ(thinking.add(" three <").reasoning, " three");
  EXPECT_TRUE(thinking.is_inside());
  EXPECT_EQ(thinking.add("4").reasoning, " <4");
  EXPECT_EQ(thinking.add("</think>so").content, "so");
  EXPECT_FALSE(thinking.is_inside());
  EXPECT_EQ(thinking.add(" <").content, " <");
}

}  // namespace
}  // namespace gainz::host
