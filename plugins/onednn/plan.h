// Plan: a graph turned into stages, each one loop over the host's workers, and one arena for everything they pass on.
//
// Every op but LINEAR, MOE_LINEAR and ATTENTION makes its row r from rows r of its inputs. Such ops run back to back on one row
// while it is in the cache (a row stage), quantisation for the linears that follow included. Linears that are ready together
// run as one loop over all their panels (query, key and value; gate and up). What is needed only at output rows is computed
// only there: from the last attention on, ops of T rows become ops of R rows that read through output_rows. Made by
// program_create; constant afterwards.
#pragma once

#include <vector>

#include "model.h"

namespace gainz::onednn {

// Ops of the plan that no graph has.
inline constexpr uint32_t kOpQuantize = 1000;   // value to ActBlocks
inline constexpr uint32_t kOpMoeSum = 1001;     // weighted sum of the chosen experts' rows
inline constexpr uint32_t kOpRopeTable = 1002;  // cosines and sines of the step's positions
inline constexpr uint64_t kMaskAlways = 1ull << 63;
inline constexpr uint32_t kNone = UINT32_MAX;

struct Op {
  uint32_t op = 0;
  const sdk::Node* node = nullptr;
  uint32_t domain = 0;  // GAINZ_ROWS_TOKENS or _OUTPUTS: the rows it makes
  uint32_t layer = kNone;
  uint32_t value = kNone;  // kOpQuantize: what is quantised
  uint32_t act = kNone;    // index into acts: made by kOpQuantize, read by LINEAR and MOE_LINEAR
  uint32_t rope = kNone;   // index into ropes
  uint32_t extra = kNone;  // buffer between MOE_LINEAR and kOpMoeSum
  uint64_t mask = 0;       // bit o: graph output o needs it; kMaskAlways: so does the state
};

struct Stage {
  enum Kind : uint32_t { kRows, kLinear, kMoe, kAttention };
  Kind kind = kRows;
  uint32_t domain = 0;
  uint32_t layer = kNone;
  uint64_t mask = 0;
  uint64_t cost_bytes = 0;
  std::vector<Op> ops;
};

// Something in the arena: [rows of the domain][stride_bytes], alive from stage `first` to stage `last`.
struct Place {
  uint32_t domain = 0;
  uint64_t stride_bytes = 0;
  uint32_t spare_rows = 0;  // beyond the domain's
  uint64_t offset = 0;
  uint32_t first = kNone, last = 0;
  bool wanted = false;
};

struct RopeTable {
  gainz_rope_attr attr{};
  uint32_t factors = kNone;    // weight value
  std::vector<float> inverse;  // [rotary_dim / 2]
  Place place;                 // [T][rotary_dim]: cosines, then sines; alive for the whole step
};

struct Act {
  uint32_t value = 0, domain = 0;
  bool tiled = false;  // prompt tokens lie in token tiles (kernels.h), generated ones as ActBlocks behind them
  Place place;
};

struct Plan {
  std::vector<Stage> stages;
  std::vector<uint32_t> slices;  // first stage of each slice, and the number of stages at the end
  std::vector<uint32_t> slice_cost;
  std::vector<Place> buffers;  // [num_values], then the extra ones
  std::vector<Act> acts;
  std::vector<RopeTable> ropes;
  uint64_t arena_bytes = 0;
  bool uses_tiles = false;  // an act is tiled: prompt tokens attend on tiles too; where no weight is quantized all stays in f32

  // `has_tiles`: prompt tokens run on tiles where they can.
  Status make(const Model& model, const gainz_bucket& bucket, bool has_tiles);
};

}  // namespace gainz::onednn
