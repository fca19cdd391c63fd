// Emitter: the dispatches of each piece of work. Owner: Plan::make for its call.
//
// Rows that a storage buffer cannot show at once, and weights in parts, become several dispatches.
#pragma once

#include "plan.h"

namespace gainz::vulkan {

// The table of a ROPE node, NULL where there is none yet.
const RopeTable* find_rope(const Plan& plan, const sdk::Node& node);

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

}  // namespace gainz::vulkan
