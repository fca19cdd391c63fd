// Emitter: the dispatches of each piece of work. Owner: Plan::make for its call.
//
// Rows that a storage buffer cannot show at once, and weights in parts, become several dispatches.
#pragma once

#include <algorithm>

#include "plan.h"

namespace gainz::vulkan {

// The table of a ROPE node, NULL where there is none yet.
const RopeTable* find_rope(const Plan& plan, const sdk::Node& node);

inline constexpr uint64_t kMaxGroups = 65535;  // in x or y; what every device has
inline constexpr uint32_t kRowsMultiple = 64;  // so that a run of rows begins at a multiple of every offset alignment
// kOp of elementwise.comp.
enum Elementwise : uint32_t { kAdd, kMul, kMulRow, kScale, kSoftcap, kActivation, kGatedActivation, kGather, kMask, kMoeSum };

// The shader over weights of this format.
inline Shader with_format(Shader shader, const Packing& packing) {
  return static_cast<Shader>(static_cast<uint32_t>(shader) + static_cast<uint32_t>(packing.format));
}

class Emitter {
 public:
  Emitter(const Context& context, const Model& model, const Kv* kv, const gainz_bucket& bucket, Plan* plan)
      : context_(context), tuning_(context.tuning()), model_(model), kv_(kv), bucket_(bucket), plan_(*plan) {
    next_extra_ = static_cast<uint32_t>(model.graph().values.size());
  }
  Status emit(const Work& work);

 private:
  // A run of rows of one domain that every operand can show.
  struct Rows {
    uint32_t domain = 0, first = 0, count = 0;
  };
  // Rows of `storages` in runs; each run calls body(Rows) -> void.
  template <class Body>
  Status for_rows(uint32_t domain, std::initializer_list<uint32_t> values, Body body);
  uint64_t max_rows(uint32_t domain) const {
    return domain == GAINZ_ROWS_OUTPUTS ? bucket_.max_output_rows : bucket_.max_tokens;
  }
  static uint32_t header_word(uint32_t domain) { return domain == GAINZ_ROWS_OUTPUTS ? kHeaderRows : kHeaderTokens; }

  // Of a value, or an extra place behind the values.
  const Storage& storage(uint32_t v) const { return plan_.storages[plan_.places[v].storage]; }
  BufferRef ref(uint32_t v, const Rows& rows, bool written = false) const;
  uint32_t column(uint32_t v) const { return plan_.places[v].column; }
  uint32_t stride(uint32_t v) const { return static_cast<uint32_t>(storage(v).stride); }
  static BufferRef fixed(const Range& range, bool written = false) {
    return {BufferRef::kFixed, written, &range, 0, range.size()};
  }

  Dispatch& add(const Work& work, Shader shader, std::vector<uint32_t> constants, const Rows& rows);
  static void push(Dispatch* dispatch, std::initializer_list<uint32_t> words);
  uint32_t groups_for(uint64_t columns) const;

  Status embed(const Work& work);
  Status norm(const Work& work);
  Status linear(const Work& work);
  void linear_rows(const Work& work, const Rows& rows);
  Status moe_linear(const Work& work);
  Status rope(const Work& work);
  Status kv_write(const Work& work);
  Status attention(const Work& work);
  Status elementwise(const Work& work);
  Status choose(const Work& work);

  const Context& context_;
  const Tuning& tuning_;
  const Model& model_;
  const Kv* kv_;
  const gainz_bucket& bucket_;
  Plan& plan_;
  uint32_t next_work_ = 0, next_extra_ = 0;
};

template <class Body>
Status Emitter::for_rows(uint32_t domain, std::initializer_list<uint32_t> values, Body body) {
  uint64_t most = kMaxGroups;  // rows are workgroups in y
  uint64_t widest = 0;
  for (const uint32_t v : values) widest = std::max<uint64_t>(widest, storage(v).stride * 4);
  if (widest != 0) most = std::min(most, context_.max_range_bytes() / widest);
  const uint64_t all = max_rows(domain);
  if (all > most) most = most / kRowsMultiple * kRowsMultiple;
  if (most == 0)
    return failure(GAINZ_STATUS_LIMIT_EXCEEDED, "%u rows of %llu bytes; the device shows %llu bytes at once", kRowsMultiple,
                   wide(widest), wide(context_.max_range_bytes()));
  ++next_work_;
  for (uint64_t first = 0; first < all; first += most)
    body(Rows{domain, static_cast<uint32_t>(first), static_cast<uint32_t>(std::min(most, all - first))});
  return {};
}

}  // namespace gainz::vulkan
