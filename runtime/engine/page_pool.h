// PagePool: the numbers of KV pages, who holds them, and which prefix each full one stands for.
//
// Before: Scheduler asks for room. After: Batch writes the numbers into page tables; the plugin owns the bytes.
//
// A block is kPageTokens consecutive tokens of a sequence: one page in every page group. Blocks are counted references; a full
// block is sealed into the prefix index under (its predecessor's uid, its tokens, its phases), and a block that nobody holds
// any more stays as cache until its pages are needed, least recently used first. A uid names a whole prefix, so a hit that
// compares tokens and predecessor is exact by induction; the first predecessor is a root made of the salt. The pool belongs to
// one model and one choice of KV types, which are therefore part of every key. A page of a windowed group may be dropped from a
// block once no query can see it.
//
// Owner: the Engine. Threads: one. Nothing is allocated after create.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace gainz {

constexpr uint32_t kPageTokens = 16;
constexpr uint32_t kMaxPageGroups = 8;

using BlockId = uint32_t;
constexpr BlockId kNoBlock = UINT32_MAX;

struct PageGroupLimits {
  uint32_t num_pages = 0;  // scratch page 0 included
  uint32_t window = 0;     // tokens; 0: all
};

struct PageCopy {
  uint32_t group, source, target;
};

class PagePool {
 public:
  // secret: random, keys the hashes, so that nobody can make prompts collide.
  static Result<PagePool> create(std::span<const PageGroupLimits> groups, uint64_t secret);

  uint64_t root(std::string_view salt) const;  // the uid before the first block

  bool can_allocate(uint32_t num_blocks) const;  // with everything that is only cache evicted
  std::optional<BlockId> allocate();             // a block with one reference and a page in every group; evicts cache as needed
  void retain(BlockId block);
  void release(BlockId block);  // the last reference: a sealed block becomes cache, any other is freed
  // A new block to write to with the contents of `source` as far as it has pages; adds the copies to be done. Empty: no room.
  std::optional<BlockId> copy(BlockId source, std::vector<PageCopy>& out_copies);

  // Enters a full block into the index; returns the uid of the prefix that ends with it (that of an equal block, if there is
  // one).
  uint64_t seal(BlockId block, uint64_t predecessor, std::span<const int32_t> tokens, uint32_t phases);
  // The sealed block of that content, not retained; kNoBlock if there is none.
  BlockId find(uint64_t predecessor, std::span<const int32_t> tokens, uint32_t phases) const;
  // A sealed block that follows the prefix `predecessor` and begins with `first` (fewer than kPageTokens), the one sealed last
  // among the last num_candidates that follow it; not retained. kNoBlock: none.
  BlockId follower(uint64_t predecessor, std::span<const int32_t> first, uint32_t num_candidates) const;
  std::span<const int32_t> tokens(BlockId block) const { return blocks_[block].tokens; }
  uint64_t uid(BlockId block) const { return blocks_[block].uid; }
  void drop_page(BlockId block, uint32_t group);  // only while one reference is left; otherwise nothing happens
  void clear_cache();

  uint32_t page(BlockId block, uint32_t group) const { return blocks_[block].pages[group]; }  // 0: dropped
  uint32_t num_groups() const { return uint32_t(groups_.size()); }
  uint32_t window(uint32_t group) const { return groups_[group].window; }
  uint32_t num_blocks() const { return uint32_t(blocks_.size()); }
  uint32_t num_used() const { return num_used_; }      // blocks with references
  uint32_t num_cached() const { return num_cached_; }  // blocks without, kept as cache

 private:
  struct Block {
    std::array<uint32_t, kMaxPageGroups> pages{};
    std::array<int32_t, kPageTokens> tokens{};
    uint64_t predecessor = 0, uid = 0;  // uid 0: not sealed
    uint32_t phases = 0, num_refs = 0;
    BlockId next_in_bucket = kNoBlock, older = kNoBlock, newer = kNoBlock;
    BlockId next_follower = kNoBlock, previous_follower = kNoBlock;  // in the list of its predecessor's bucket
  };
  PagePool() = default;
  size_t bucket(uint64_t predecessor, std::span<const int32_t> tokens, uint32_t phases) const;
  size_t follower_bucket(uint64_t predecessor) const;
  void unseal(BlockId id);
  void free_block(BlockId id);
  void cache_remove(BlockId id);
  void evict_oldest();
  bool has_pages() const;

  std::vector<PageGroupLimits> groups_;
  std::vector<std::vector<uint32_t>> free_pages_;  // [groups]
  std::vector<Block> blocks_;
  std::vector<BlockId> free_blocks_, buckets_, followers_;
  std::vector<uint32_t> cached_pages_;  // [groups] pages held by cache alone
  BlockId oldest_ = kNoBlock, newest_ = kNoBlock;
  uint64_t secret_ = 0, next_uid_ = 1;
  uint32_t num_used_ = 0, num_cached_ = 0;
};

}  // namespace gainz
