#include "engine/page_pool.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace gainz {
namespace {

PagePool make_pool(std::vector<PageGroupLimits> groups) {
  auto pool = PagePool::create(groups, 42);
  EXPECT_TRUE(pool.ok());
  return std::move(*pool);
}

std::vector<int32_t> tokens(int32_t first) {
  std::vector<int32_t> ids(kPageTokens);
  for (uint32_t i = 0; i < kPageTokens; ++i) ids[i] = first + int32_t(i);
  return ids;
}

TEST(PagePool, RefusesTooFewPagesAndTooManyGroups) {
  EXPECT_EQ(PagePool::create(std::vector<PageGroupLimits>{{1, 0}}, 1).status().code(), Code::invalid);
  EXPECT_EQ(PagePool::create({}, 1).status().code(), Code::unsupported);
  EXPECT_EQ(PagePool::create(std::vector<PageGroupLimits>(kMaxPageGroups + 1, {4, 0}), 1).status().code(), Code::unsupported);
}

TEST(PagePool, GivesEachPageOnceAndNeverScratch) {
  PagePool pool = make_pool({{5, 0}, {4, 32}});
  std::set<uint32_t> seen;
  for (int i = 0; i < 3; ++i) {
    const auto block = pool.allocate();
    ASSERT_TRUE(block);
    EXPECT_NE(pool.page(*block, 0), 0u);
    EXPECT_NE(pool.page(*block, 1), 0u);
    EXPECT_TRUE(seen.insert(pool.page(*block, 0)).second);
  }
  EXPECT_FALSE(pool.can_allocate(1));  // the second group has none left
  EXPECT_FALSE(pool.allocate());
}

TEST(PagePool, SealedBlocksAreFoundByContentPhaseAndPredecessor) {
  PagePool pool = make_pool({{9, 0}});
  const uint64_t root = pool.root("");
  const BlockId a = *pool.allocate();
  const uint64_t uid = pool.seal(a, root, tokens(0), 0);
  EXPECT_EQ(pool.find(root, tokens(0), 0), a);
  EXPECT_EQ(pool.find(root, tokens(1), 0), kNoBlock);
  EXPECT_EQ(pool.find(root, tokens(0), 1), kNoBlock);
  EXPECT_EQ(pool.find(pool.root("salt"), tokens(0), 0), kNoBlock);
  EXPECT_EQ(pool.find(uid, tokens(0), 0), kNoBlock);
  // An equal block stays private; both stand for the same prefix.
  const BlockId b = *pool.allocate();
  EXPECT_EQ(pool.seal(b, root, tokens(0), 0), uid);
  EXPECT_EQ(pool.find(root, tokens(0), 0), a);
}

TEST(PagePool, CacheIsEvictedOldestFirstAndOnlyWhenNeeded) {
  PagePool pool = make_pool({{4, 0}});
  const uint64_t root = pool.root("");
  for (int i = 0; i < 3; ++i) {
    const BlockId block = *pool.allocate();
    pool.seal(block, root, tokens(100 * i), 0);
    pool.release(block);
  }
  EXPECT_EQ(pool.num_cached(), 3u);
  const BlockId kept = pool.find(root, tokens(0), 0);
  pool.retain(kept);  // used again: now the youngest when released
  pool.release(kept);
  const BlockId fresh = *pool.allocate();
  EXPECT_EQ(pool.find(root, tokens(100), 0), kNoBlock);
  EXPECT_EQ(pool.find(root, tokens(0), 0), kept);
  EXPECT_NE(pool.find(root, tokens(200), 0), kNoBlock);
  pool.release(fresh);
  pool.clear_cache();
  EXPECT_EQ(pool.num_cached(), 0u);
  EXPECT_TRUE(pool.can_allocate(3));
}

TEST(PagePool, CopyKeepsTheSourceAndListsItsPages) {
  PagePool pool = make_pool({{4, 0}, {4, 16}});
  const BlockId source = *pool.allocate();
  pool.drop_page(source, 1);
  std::vector<PageCopy> copies;
  const auto target = pool.copy(source, copies);
  ASSERT_TRUE(target);
  ASSERT_EQ(copies.size(), 1u);  // the dropped page has nothing to copy
  EXPECT_EQ(copies[0].source, pool.page(source, 0));
  EXPECT_EQ(copies[0].target, pool.page(*target, 0));
}

TEST(PagePool, DropOnlyWithOneReference) {
  PagePool pool = make_pool({{4, 16}});
  const BlockId block = *pool.allocate();
  pool.retain(block);
  pool.drop_page(block, 0);
  EXPECT_NE(pool.page(block, 0), 0u);
  pool.release(block);
  pool.drop_page(block, 0);
  EXPECT_EQ(pool.page(block, 0), 0u);
}

// Random use: no page is ever held twice, counts agree, everything comes back.
TEST(PagePool, RandomUseKeepsTheBooks) {
  PagePool pool = make_pool({{33, 0}, {17, 48}});
  std::mt19937 random(7);
  std::vector<BlockId> held;
  for (int step = 0; step < 20000; ++step) {
    const uint32_t what = random() % 5;
    if (what <= 1) {
      if (const auto block = pool.allocate()) held.push_back(*block);
    } else if (!held.empty()) {
      const size_t i = random() % held.size();
      const BlockId block = held[i];
      if (what == 2 && pool.uid(block) == 0) pool.seal(block, pool.root(""), tokens(int32_t(random() % 20)), 0);
      if (what == 3) pool.drop_page(block, 1);
      if (what >= 3) {
        pool.release(block);
        held.erase(held.begin() + long(i));
      }
    }
    if (random() % 16 == 0)
      if (const BlockId found = pool.find(pool.root(""), tokens(int32_t(random() % 20)), 0); found != kNoBlock)
        pool.retain(found), held.push_back(found);
    std::map<uint32_t, BlockId> owner;
    for (const BlockId block : held) {
      const auto [it, added] = owner.emplace(pool.page(block, 0), block);
      ASSERT_TRUE(added || it->second == block) << "page " << it->first << " held by two blocks";
    }
    ASSERT_EQ(pool.num_used(), std::set<BlockId>(held.begin(), held.end()).size());
  }
  for (const BlockId block : held) pool.release(block);
  pool.clear_cache();
  EXPECT_EQ(pool.num_used(), 0u);
  EXPECT_TRUE(pool.can_allocate(16));
  EXPECT_FALSE(pool.can_allocate(17));
}

}  // namespace
}  // namespace gainz
