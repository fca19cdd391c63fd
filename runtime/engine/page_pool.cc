#include "engine/page_pool.h"

#include <algorithm>
#include <bit>

namespace gainz {
namespace {

constexpr uint64_t kRootBit = uint64_t{1} << 63;  // roots and uids never meet

// The finalizer of splitmix64 (Steele, Lea, Flood 2014) as a mixing step.
uint64_t mix(uint64_t h, uint64_t x) {
  h = (h ^ x) + 0x9e3779b97f4a7c15u;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
  return h ^ (h >> 31);
}

}  // namespace

Result<PagePool> PagePool::create(std::span<const PageGroupLimits> groups, uint64_t secret) {
  if (groups.empty() || groups.size() > kMaxPageGroups)
    return Status(Code::unsupported,
                  std::to_string(groups.size()) + " page groups, 1 to " + std::to_string(kMaxPageGroups) + " are possible");
  PagePool pool;
  pool.groups_.assign(groups.begin(), groups.end());
  pool.secret_ = secret;
  uint32_t num_blocks = 0;
  for (const auto& group : groups) {
    if (group.num_pages < 2)
      return Status(Code::invalid, "a page group of " + std::to_string(group.num_pages) + " pages, at least 2 are needed");
    num_blocks = std::max(num_blocks, group.num_pages - 1);
    auto& pages = pool.free_pages_.emplace_back();
    pages.reserve(group.num_pages);
    for (uint32_t page = group.num_pages - 1; page > 0; --page) pages.push_back(page);
  }
  pool.cached_pages_.assign(groups.size(), 0);
  pool.blocks_.resize(num_blocks);
  pool.free_blocks_.reserve(num_blocks);
  for (uint32_t id = num_blocks; id-- > 0;) pool.free_blocks_.push_back(id);
  pool.buckets_.assign(std::bit_ceil(size_t{num_blocks} * 2), kNoBlock);
  pool.followers_ = pool.buckets_;
  return pool;
}

uint64_t PagePool::root(std::string_view salt) const {
  uint64_t h = mix(secret_, salt.size());
  for (unsigned char c : salt) h = mix(h, c);
  return h | kRootBit;
}

size_t PagePool::bucket(uint64_t predecessor, std::span<const int32_t> tokens, uint32_t phases) const {
  uint64_t h = mix(mix(secret_, predecessor), phases);
  for (int32_t token : tokens) h = mix(h, uint32_t(token));
  return h & (buckets_.size() - 1);
}

size_t PagePool::follower_bucket(uint64_t predecessor) const { return mix(secret_, predecessor) & (followers_.size() - 1); }

bool PagePool::can_allocate(uint32_t num_blocks) const {
  if (free_blocks_.size() + num_cached_ < num_blocks) return false;
  for (size_t g = 0; g < groups_.size(); ++g)
    if (free_pages_[g].size() + cached_pages_[g] < num_blocks) return false;
  return true;
}

bool PagePool::has_pages() const {
  return !free_blocks_.empty() &&
         std::all_of(free_pages_.begin(), free_pages_.end(), [](const auto& pages) { return !pages.empty(); });
}

std::optional<BlockId> PagePool::allocate() {
  while (!has_pages()) {
    if (oldest_ == kNoBlock) return std::nullopt;
    evict_oldest();
  }
  const BlockId id = free_blocks_.back();
  free_blocks_.pop_back();
  Block& block = blocks_[id];
  block = Block{};
  block.num_refs = 1;
  for (size_t g = 0; g < groups_.size(); ++g) {
    block.pages[g] = free_pages_[g].back();
    free_pages_[g].pop_back();
  }
  ++num_used_;
  return id;
}

void PagePool::retain(BlockId id) {
  if (blocks_[id].num_refs++ > 0) return;
  cache_remove(id);
  ++num_used_;
}

void PagePool::release(BlockId id) {
  Block& block = blocks_[id];
  if (--block.num_refs > 0) return;
  --num_used_;
  if (block.uid == 0) return free_block(id);
  block.older = newest_;
  block.newer = kNoBlock;
  (newest_ == kNoBlock ? oldest_ : blocks_[newest_].newer) = id;
  newest_ = id;
  ++num_cached_;
  for (size_t g = 0; g < groups_.size(); ++g) cached_pages_[g] += block.pages[g] != 0;
}

void PagePool::cache_remove(BlockId id) {
  Block& block = blocks_[id];
  (block.older == kNoBlock ? oldest_ : blocks_[block.older].newer) = block.newer;
  (block.newer == kNoBlock ? newest_ : blocks_[block.newer].older) = block.older;
  block.older = block.newer = kNoBlock;
  --num_cached_;
  for (size_t g = 0; g < groups_.size(); ++g) cached_pages_[g] -= block.pages[g] != 0;
}

void PagePool::evict_oldest() {
  const BlockId id = oldest_;
  cache_remove(id);
  unseal(id);
  free_block(id);
}

void PagePool::free_block(BlockId id) {
  for (size_t g = 0; g < groups_.size(); ++g)
    if (blocks_[id].pages[g] != 0) free_pages_[g].push_back(blocks_[id].pages[g]);
  blocks_[id].pages = {};
  free_blocks_.push_back(id);
}

std::optional<BlockId> PagePool::copy(BlockId source, std::vector<PageCopy>& out_copies) {
  retain(source);  // so that making room does not evict it
  const auto target = allocate();
  if (target) {
    for (uint32_t g = 0; g < num_groups(); ++g)
      if (page(source, g) != 0) out_copies.push_back({g, page(source, g), page(*target, g)});
  }
  release(source);
  return target;
}

BlockId PagePool::find(uint64_t predecessor, std::span<const int32_t> tokens, uint32_t phases) const {
  for (BlockId id = buckets_[bucket(predecessor, tokens, phases)]; id != kNoBlock; id = blocks_[id].next_in_bucket) {
    const Block& block = blocks_[id];
    if (block.predecessor == predecessor && block.phases == phases &&
        std::equal(tokens.begin(), tokens.end(), block.tokens.begin(), block.tokens.end()))
      return id;
  }
  return kNoBlock;
}

uint64_t PagePool::seal(BlockId id, uint64_t predecessor, std::span<const int32_t> tokens, uint32_t phases) {
  if (const BlockId equal = find(predecessor, tokens, phases); equal != kNoBlock) return blocks_[equal].uid;
  Block& block = blocks_[id];
  block.predecessor = predecessor;
  block.phases = phases;
  block.uid = next_uid_++;
  std::copy(tokens.begin(), tokens.end(), block.tokens.begin());
  BlockId& head = buckets_[bucket(predecessor, tokens, phases)];
  block.next_in_bucket = head;
  head = id;
  BlockId& first = followers_[follower_bucket(predecessor)];
  block.next_follower = first;
  block.previous_follower = kNoBlock;
  if (first != kNoBlock) blocks_[first].previous_follower = id;
  first = id;
  return block.uid;
}

void PagePool::unseal(BlockId id) {
  Block& block = blocks_[id];
  BlockId* link = &buckets_[bucket(block.predecessor, block.tokens, block.phases)];
  while (*link != id) link = &blocks_[*link].next_in_bucket;
  *link = block.next_in_bucket;
  block.uid = 0;
  const BlockId before = block.previous_follower, after = block.next_follower;
  (before == kNoBlock ? followers_[follower_bucket(block.predecessor)] : blocks_[before].next_follower) = after;
  if (after != kNoBlock) blocks_[after].previous_follower = before;
}

BlockId PagePool::follower(uint64_t predecessor, std::span<const int32_t> first, uint32_t num_candidates) const {
  BlockId id = followers_[follower_bucket(predecessor)];
  for (; id != kNoBlock && num_candidates > 0; --num_candidates, id = blocks_[id].next_follower)
    if (blocks_[id].predecessor == predecessor && std::equal(first.begin(), first.end(), blocks_[id].tokens.begin())) return id;
  return kNoBlock;
}

void PagePool::drop_page(BlockId id, uint32_t group) {
  Block& block = blocks_[id];
  if (block.num_refs != 1 || block.pages[group] == 0) return;
  free_pages_[group].push_back(block.pages[group]);
  block.pages[group] = 0;
}

void PagePool::clear_cache() {
  while (oldest_ != kNoBlock) evict_oldest();
}

}  // namespace gainz
