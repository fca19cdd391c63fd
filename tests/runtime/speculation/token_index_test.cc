#include "speculation/token_index.h"

#include <gtest/gtest.h>

namespace gainz {
namespace {

using Ids = std::vector<int32_t>;

TEST(token_index, finds_what_followed_the_last_time) {
  const Ids tokens = {5, 6, 7, 8, 9, 1, 2, 6, 7};
  TokenIndex index(64);
  index.extend(tokens);
  const auto match = index.find(tokens, tokens, tokens.size(), 8);
  EXPECT_EQ(match.length, 2u);
  EXPECT_EQ(match.next, 3u) << "8 followed 6 7";
}

TEST(token_index, the_longest_match_wins_and_among_equals_the_nearest) {
  const Ids tokens = {1, 2, 3, 50, 9, 2, 3, 60, 1, 2, 3, 70, 8, 2, 3, 80, 1, 2, 3};
  TokenIndex index(64);
  index.extend(tokens);
  const auto last = index.find(tokens, tokens, tokens.size(), 8);
  EXPECT_EQ(last.length, 3u);
  EXPECT_EQ(tokens[last.next], 70);
  EXPECT_EQ(tokens[index.find(tokens, tokens, 0, 8).next], 50);
}

TEST(token_index, the_end_itself_is_no_match) {
  for (const Ids& tokens : {Ids{}, Ids{1}, Ids{1, 2}, Ids{1, 2, 3}}) {
    TokenIndex index(8);
    index.extend(tokens);
    EXPECT_EQ(index.find(tokens, tokens, 0, 8).length, 0u) << tokens.size();
  }
}

TEST(token_index, grows_token_by_token_as_at_once) {
  Ids tokens;
  TokenIndex slow(256), fast(256);
  for (int i = 0; i < 200; ++i) {
    tokens.push_back(i * i % 17);
    slow.extend(tokens);
  }
  fast.extend(tokens);
  for (size_t n = 2; n < 17; ++n) {
    const std::span<const int32_t> recent = std::span<const int32_t>(tokens).subspan(n, 9);
    const auto a = slow.find(tokens, recent, 0, 64), b = fast.find(tokens, recent, 0, 64);
    EXPECT_EQ(a.next, b.next);
    EXPECT_EQ(a.length, b.length);
  }
}

// Against a search of everything: what is found is there, and with enough candidates it is the best.
TEST(token_index, agrees_with_a_plain_search) {
  Ids tokens;
  uint64_t state = 1;
  TokenIndex index(2000);
  for (int i = 0; i < 2000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    tokens.push_back(int32_t(state >> 60));  // 16 kinds: pairs come back all the time
    index.extend(tokens);
    if (i % 50 != 49) continue;
    size_t best = 0;
    for (size_t next = 2; next < tokens.size(); ++next) {
      size_t length = 0;
      while (length < std::min(next, size_t{32}) && tokens[next - 1 - length] == tokens[tokens.size() - 1 - length]) ++length;
      best = std::max(best, length);
    }
    const auto match = index.find(tokens, tokens, tokens.size(), 100000);
    EXPECT_EQ(match.length, best < 2 ? 0 : best) << i;
  }
}

TEST(token_index, tokens_beyond_its_room_are_left_out) {
  Ids tokens(100, 3);
  TokenIndex index(10);
  index.extend(tokens);
  EXPECT_LE(index.find(tokens, tokens, tokens.size(), 1000).next, 10u);
}

}  // namespace
}  // namespace gainz
