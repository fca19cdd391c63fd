// Program: the plan of one bucket with its scratch, and the running of steps. Owner: the device. Threads: [device-thread].
#pragma once

#include <atomic>

#include "kv.h"
#include "plan.h"

namespace gainz::onednn {

inline constexpr uint64_t kTileRowsPerUnit = 512;  // prompt tokens that share an expanded panel

class Program {
 public:
  Program(const Host& host, const Kernels& kernels, const Model& model, Kv* kv)
      : host_(host), kernels_(kernels), model_(model), kv_(kv) {}
  // Errors as in program.h of the SDK.
  Status create(const gainz_bucket& bucket);
  void describe(gainz_program_info* out_info) const;
  // Allocates nothing. INVALID changes nothing.
  Status run(const gainz_step& step, uint32_t first_slice, uint32_t num_slices);

 private:
  // Where a value's rows are in this step.
  struct Rows {
    float* data = nullptr;
    uint64_t stride = 0;  // floats
    uint32_t domain = 0;
  };
  // One linear or one expert of a stage, as units of work.
  struct Job {
    const Model::Weight* weight = nullptr;
    uint32_t matrix = 0;
    const float* bias = nullptr;
    uint64_t first_row = 0, num_rows = 0;  // in sources_ and targets_
    const uint8_t* tiles = nullptr;        // the token tiles of all its rows; NULL: sources_ holds them
    uint64_t target_stride = 0;            // with tiles: floats from a token's target to the next token's
    uint64_t panels_per_unit = 1, num_panel_units = 0, num_units = 0;
  };

  // step_check.cc
  Status check(const gainz_step& step) const;
  Status check_sequences(const gainz_step& step) const;
  Status check_pages(const gainz_step& step) const;
  Status check_buffers(const gainz_step& step) const;
  Status check_buffer(const gainz_buffer& buffer, uint32_t value, uint32_t rows, bool optional) const;

  void bind(const gainz_step& step);
  void place_phases();
  void copy_plain_outputs(const gainz_step& step) const;
  uint32_t num_rows(uint32_t domain) const { return domain == GAINZ_ROWS_OUTPUTS ? step_.num_output_rows : step_.num_tokens; }
  // Row `r` of an op of `domain`, as a row of something of `own` domain.
  uint64_t row_in(uint32_t own, uint32_t domain, uint64_t r) const { return own == domain ? r : step_.output_rows[r]; }
  float* row(uint32_t value, uint32_t domain, uint64_t r) const {
    const Rows& b = rows_[value];
    return b.data + row_in(b.domain, domain, r) * b.stride;
  }
  template <class T>
  T* placed(const Place& p) const {
    return reinterpret_cast<T*>(arena_.data() + p.offset);
  }
  bool is_prompt(uint64_t t) const { return step_.phases[t] == GAINZ_PHASE_PROMPT; }
  ActBlock* act_row(uint32_t act, uint64_t r) const {
    const Act& a = plan_.acts[act];
    return placed<ActBlock>(a.place) + (a.tiled ? tile_places_[r] : r) * (a.place.stride_bytes / sizeof(ActBlock));
  }
  // The tile that holds the prompt token t.
  uint8_t* act_tile(uint32_t act, uint64_t t) const {
    const Place& p = plan_.acts[act].place;
    return placed<uint8_t>(p) + tile_places_[t] / kTileRows * (kTileRows * p.stride_bytes);
  }
  const gainz_step_pages& pages(uint32_t group) const { return at_stride(step_.pages, step_.pages_stride, group); }

  void run_stage(const Stage& stage);
  // rows.cc
  void run_rows(const Stage& stage);
  void row_op(const Op& op, uint64_t r, uint32_t worker) const;
  void rope_row(const Op& op, uint64_t r) const;
  void rope_table_row(const Op& op, uint64_t r) const;
  void activation_row(uint32_t kind, const float* x, uint64_t n, float* y) const;
  // products.cc
  void run_linear(const Stage& stage);
  void run_moe(const Stage& stage);
  void run_jobs(size_t num_jobs);
  void run_unit(const Job& job, uint64_t unit, uint32_t worker) const;
  void run_token_tiles(const Job& job, uint64_t first_panel, uint64_t end_panel, uint64_t first_row, uint64_t end_row,
                       uint32_t worker) const;
  void run_tile(const Job& job, uint64_t first_panel, uint64_t end_panel, uint64_t first_row, uint32_t num_rows) const;
  void run_dnn_tile(const Job& job, uint64_t first_panel, uint64_t end_panel, uint64_t first_row, uint32_t num_rows,
                    uint32_t worker) const;
  void set_units(Job* job) const;
  // attention_stage.cc
  struct Queries;
  void run_attention(const Stage& stage);
  uint64_t count_attention_units(const gainz_attention_attr& a);
  AttentionArgs attention_args(const gainz_attention_attr& a, uint32_t sequence, uint32_t kv_head) const;
  uint32_t queries_per_unit() const;
  bool has_tiled_attention(const gainz_attention_attr& a) const;
  void attention_unit(const Op& op, uint64_t unit, uint32_t worker) const;
  void attend_tiles(const Op& op, uint32_t sequence, uint32_t kv_head, uint32_t first_query, uint32_t end_query,
                    uint32_t worker) const;
  void attend_queries(const Op& op, uint32_t sequence, uint32_t kv_head, uint32_t first_query, uint32_t end_query) const;
  void attention_part(const Op& op, uint64_t unit, uint32_t chunk) const;
  void fold_parts(const Op& op, uint64_t num_units, uint32_t num_chunks) const;

  Host host_;
  const Kernels& kernels_;
  const Model& model_;
  Kv* kv_;
  gainz_bucket bucket_{};
  Plan plan_;
  HostMemory arena_, worker_scratch_, part_scratch_;
  uint64_t worker_bytes_ = 0;
  uint64_t max_parts_ = 0;    // units of attention whose chunks may run apart
  uint64_t part_floats_ = 0;  // of one chunk of one unit
  uint32_t max_chunks_ = 0;
  uint32_t vocabulary_ = UINT32_MAX;
  std::vector<Rows> rows_;  // [buffers of the plan]
  std::vector<Job> jobs_;
  std::vector<const void*> sources_;  // rows of x: ActBlock or float
  std::vector<float*> targets_;
  std::vector<uint32_t> expert_fill_;
  std::vector<uint64_t> unit_begin_;   // [max_sequences + 1]
  std::vector<uint32_t> tile_places_;  // [max_tokens], with tiles: see place_phases
  uint32_t num_prompt_ = 0;            // tokens of this step that run on tiles
  gainz_step step_{};
  uint32_t next_slice_ = 0;
  mutable std::atomic<bool> dnn_failed_{false};
  uint64_t active_mask_ = 0;
};

}  // namespace gainz::onednn
