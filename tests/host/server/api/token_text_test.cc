#include "server/api/token_text.h"

#include <gtest/gtest.h>

namespace gainz::host {
namespace {

// The index of the character each piece begins in, and last the number of characters.
std::vector<size_t> offsets(const std::vector<std::string>& pieces) {
  CharacterCount count;
  std::vector<size_t> out;
  for (const std::string& piece : pieces) {
    out.push_back(count.next(piece));
    count.add(piece);
  }
  out.push_back(count.next("x"));
  return out;
}

using Offsets = std::vector<size_t>;

TEST(ServerTokenText, CharactersNotBytes) {
  EXPECT_EQ(offsets({"H", "é", "llo"}), (Offsets{0, 1, 2, 5}));
  EXPECT_EQ(offsets({"", "a", "", "b"}), (Offsets{0, 0, 1, 1, 2}));
  EXPECT_EQ(offsets({"\xe4\xbd", "\xa0", "x"}), (Offsets{0, 0, 1, 2})) << "a part of a character begins where it does";
  EXPECT_EQ(offsets({"\xf0", "\x9f", "\x98", "\x80", "x"}), (Offsets{0, 0, 0, 0, 1, 2}));
  EXPECT_EQ(offsets({"a\xe4",
                     "\xbd\xa0"
                     "b\xe5",
                     "\xa5\xbd"}),
            (Offsets{0, 1, 3, 4}));
}

// As many as the U+FFFD that the text shows for them.
TEST(ServerTokenText, BrokenBytes) {
  EXPECT_EQ(offsets({"\x80\x80"}), (Offsets{0, 2}));
  EXPECT_EQ(offsets({"\xe4\xbd", "x"}), (Offsets{0, 1, 2})) << "a cut character is one U+FFFD";
  EXPECT_EQ(offsets({"\xe4\xbd\xa0\xbd", "\xbd"}), (Offsets{0, 2, 3}));
  EXPECT_EQ(offsets({"\xc0\xaf"}), (Offsets{0, 2}));
  EXPECT_EQ(offsets({"\xed\xa0\x80"}), (Offsets{0, 3})) << "a surrogate";
  EXPECT_EQ(offsets({"\xf4\x90\x80\x80"}), (Offsets{0, 4})) << "beyond U+10FFFF";
  EXPECT_EQ(offsets({"\xe0\x80\x80"}), (Offsets{0, 3})) << "too long a form";
  EXPECT_EQ(offsets({"\xf5", "\xff"}), (Offsets{0, 1, 2}));
}

}  // namespace
}  // namespace gainz::host
