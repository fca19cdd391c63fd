// Stages of products: linears that share a loop, and the experts of a MoE layer. Units of work are some panels times some rows.
#include <algorithm>
#include <cstring>
#include <limits>

#include "program.h"

namespace gainz::onednn {

namespace {
constexpr uint64_t kRowsPerUnit = 64;
constexpr uint64_t kPanelsPerUnit = 2;  // small enough that the last one does not keep the others waiting
constexpr uint64_t kSerialBytes = 1 << 15;
}  // namespace

void Program::set_units(Job* job) const {
  const uint64_t panels = job->weight->matrix.num_panels;
  if (job->tiles != nullptr) {
    job->panels_per_unit = 2;
    job->num_panel_units = parts_of(panels, job->panels_per_unit);
    job->num_units = job->num_panel_units * parts_of(job->num_rows, kTileRowsPerUnit);
    return;
  }
  job->panels_per_unit = job->weight->dnn ? kDnnSlicePanels : job->num_rows <= 4 ? 1 : kPanelsPerUnit;
  job->num_panel_units = parts_of(panels, job->panels_per_unit);
  job->num_units = job->num_panel_units * parts_of(job->num_rows, kRowsPerUnit);
}

void Program::run_linear(const Stage& stage) {
  size_t num_jobs = 0;
  uint64_t at = 0;
  const uint64_t rows = num_rows(stage.domain);
  for (const Op& op : stage.ops) {
    if ((op.mask & active_mask_) == 0) continue;
    const sdk::Node& node = *op.node;
    Job job{.weight = &model_.weight(node.inputs[1])};
    if (node.has_input(2)) job.bias = model_.weight(node.inputs[2]).floats();
    const bool tiled = op.act != kNone && plan_.acts[op.act].tiled;
    for (const bool prompt : {true, false}) {  // without tiles all rows are of the second kind
      job.first_row = at;
      for (uint64_t r = 0; r < rows; ++r) {
        if ((tiled && is_prompt(r)) != prompt) continue;
        sources_[at] = op.act != kNone ? static_cast<const void*>(act_row(op.act, r)) : row(node.inputs[0], op.domain, r);
        targets_[at++] = row(node.outputs[0], op.domain, r);
      }
      job.num_rows = at - job.first_row;
      if (job.num_rows == 0) continue;
      job.target_stride = rows_[node.outputs[0]].stride;
      job.tiles = prompt ? placed<uint8_t>(plan_.acts[op.act].place) : nullptr;
      set_units(&job);
      jobs_[num_jobs++] = job;
    }
  }
  run_jobs(num_jobs);
}

// Choices (row, j) sorted by expert; each expert that was chosen is a job.
void Program::run_moe(const Stage& stage) {
  const Op& op = stage.ops[0];
  const sdk::Node& node = *op.node;
  const Model::Weight& weight = model_.weight(node.inputs[2]);
  const PackedWeight& w = weight.matrix;
  const uint32_t k = node.attr.moe_linear.num_chosen, per_row = node.attr.moe_linear.rows_per_token;
  const uint64_t rows = num_rows(stage.domain);
  const auto ids = [&](uint64_t r) { return reinterpret_cast<const int32_t*>(row(node.inputs[1], op.domain, r)); };
  const auto chosen = [&](int32_t id) { return id >= 0 && static_cast<uint32_t>(id) < w.num_matrices; };
  const auto target = [&](uint64_t r, uint32_t j) {
    return row(op.extra != kNone ? op.extra : node.outputs[0], op.domain, r) + uint64_t{j} * w.num_rows;
  };
  std::fill_n(expert_fill_.begin(), w.num_matrices + 1, 0u);
  for (uint64_t r = 0; r < rows; ++r)
    for (uint32_t j = 0; j < k; ++j)
      if (chosen(ids(r)[j])) ++expert_fill_[static_cast<uint32_t>(ids(r)[j]) + 1];
  size_t num_jobs = 0;
  for (uint32_t e = 0; e < w.num_matrices; ++e) {
    Job job{.weight = &weight, .matrix = e, .first_row = expert_fill_[e], .num_rows = expert_fill_[e + 1]};
    expert_fill_[e + 1] += expert_fill_[e];
    if (job.num_rows == 0) continue;
    set_units(&job);
    jobs_[num_jobs++] = job;
  }
  for (uint64_t r = 0; r < rows; ++r) {
    for (uint32_t j = 0; j < k; ++j) {
      const int32_t id = ids(r)[j];
      if (!chosen(id)) {  // ids from outside of the graph: no expert gives zeros
        std::memset(target(r, j), 0, w.num_rows * sizeof(float));
        continue;
      }
      const uint32_t at = expert_fill_[static_cast<uint32_t>(id)]++;
      const uint64_t part = per_row == 1 ? 0 : j;
      sources_[at] = op.act != kNone ? static_cast<const void*>(act_row(op.act, r) + part * w.num_blocks())
                                     : row(node.inputs[0], op.domain, r) + part * w.num_columns;
      targets_[at] = target(r, j);
    }
  }
  run_jobs(num_jobs);
}

void Program::run_jobs(size_t num_jobs) {
  uint64_t units = 0, bytes = 0;
  for (size_t i = 0; i < num_jobs; ++i) {
    units += jobs_[i].num_units;
    bytes += jobs_[i].weight->matrix.num_panels * jobs_[i].weight->matrix.panel_bytes * parts_of(jobs_[i].num_rows, 8);
  }
  const uint64_t grain = bytes < kSerialBytes ? units : std::max<uint64_t>(1, units / (host_.num_workers() * 8ull));
  bool tiles = false;
  for (size_t i = 0; i < num_jobs; ++i) tiles = tiles || jobs_[i].tiles != nullptr;
  host_.loop(units, grain, [&](uint64_t begin, uint64_t end, uint32_t worker) {
    if (tiles) kernels_.tiles->begin();
    size_t j = 0;
    uint64_t skipped = 0;
    for (uint64_t u = begin; u < end; ++u) {
      while (u - skipped >= jobs_[j].num_units) skipped += jobs_[j++].num_units;
      run_unit(jobs_[j], u - skipped, worker);
    }
    if (tiles) kernels_.tiles->end();
  });
}

void Program::run_unit(const Job& job, uint64_t unit, uint32_t worker) const {
  const uint64_t first_panel = unit % job.num_panel_units * job.panels_per_unit;
  const uint64_t end_panel = std::min<uint64_t>(first_panel + job.panels_per_unit, job.weight->matrix.num_panels);
  if (job.tiles != nullptr) {
    const uint64_t first = unit / job.num_panel_units * kTileRowsPerUnit;
    return run_token_tiles(job, first_panel, end_panel, first, std::min(first + kTileRowsPerUnit, job.num_rows), worker);
  }
  const uint64_t first_row = unit / job.num_panel_units * kRowsPerUnit,
                 end_row = std::min(first_row + kRowsPerUnit, job.num_rows);
  for (uint64_t r = first_row; r < end_row;) {
    const auto left = static_cast<uint32_t>(end_row - r);
    if (job.weight->dnn) {
      const uint32_t rows = std::min(left, kDnnTile);
      run_dnn_tile(job, first_panel, end_panel, job.first_row + r, rows, worker);
      r += rows;
      continue;
    }
    const PackedWeight& w = job.weight->matrix;
    uint32_t tile = kNumTiles - 1;
    const auto offered = [&](uint32_t t) {
      return w.quantized() ? kernels_.linear[w.info->format][t] != nullptr
                           : kernels_.dense[w.info->format - kNumQuantFormats][t] != nullptr;
    };
    while (tile > 0 && ((1u << tile) > left || !offered(tile))) --tile;
    run_tile(job, first_panel, end_panel, job.first_row + r, tile);
    r += 1u << tile;
  }
}

// Rows [first_row, end_row) of the job, from a multiple of 16 on, with one or two panels.
void Program::run_token_tiles(const Job& job, uint64_t first_panel, uint64_t end_panel, uint64_t first_row, uint64_t end_row,
                              uint32_t worker) const {
  const PackedWeight& w = job.weight->matrix;
  const uint64_t tile_bytes = uint64_t{w.num_blocks()} * kTileBytes;
  uint8_t* scratch = reinterpret_cast<uint8_t*>(worker_scratch_.data()) + worker * worker_bytes_;
  auto* sums = reinterpret_cast<float*>(scratch + kTileScratchBytes);
  TileLinearArgs args{};
  args.panels[0] = w.panel(job.matrix, static_cast<uint32_t>(first_panel));
  args.panels[1] = w.panel(job.matrix, static_cast<uint32_t>(end_panel - 1));
  args.num_blocks = w.num_blocks();
  args.x_tile_bytes = tile_bytes;
  args.scratch = scratch;
  const uint64_t column = first_panel * kPanelRows, width = std::min<uint64_t>(end_panel * kPanelRows, w.num_rows) - column;
  uint64_t r = first_row;
  // Whole pairs of tiles whose tokens follow each other go where they belong; the rest by way of the scratch.
  const uint64_t whole = (end_row - r) / (2 * kTileRows) * (2 * kTileRows);
  float* const* targets = &targets_[job.first_row];
  if (whole != 0 && job.bias == nullptr && width == 2 * kPanelRows &&
      targets[r + whole - 1] == targets[r] + (whole - 1) * job.target_stride) {
    args.x = job.tiles + r / kTileRows * tile_bytes;
    args.num_tiles = static_cast<uint32_t>(whole / kTileRows);
    args.sums = targets[r] + column;
    args.sum_stride = static_cast<int64_t>(job.target_stride * sizeof(float));
    kernels_.tiles->linear[w.info->format](&args);
    r += whole;
  }
  if (r == end_row) return;
  args.x = job.tiles + r / kTileRows * tile_bytes;
  args.num_tiles = static_cast<uint32_t>(parts_of(end_row - r, kTileRows));
  args.sums = sums;
  args.sum_stride = 2 * kPanelRows * sizeof(float);
  kernels_.tiles->linear[w.info->format](&args);
  for (; r < end_row; ++r, sums += 2 * kPanelRows) {
    if (job.bias != nullptr) {
      kernels_.add(sums, job.bias + column, width, targets[r] + column);
    } else {
      std::memcpy(targets[r] + column, sums, width * sizeof(float));
    }
  }
}

// `tile` is the index of the tile: 2^tile rows.
void Program::run_tile(const Job& job, uint64_t first_panel, uint64_t end_panel, uint64_t first_row, uint32_t tile) const {
  const PackedWeight& w = job.weight->matrix;
  const uint32_t num_rows = 1u << tile;
  alignas(64) float rest[kMaxTile][kPanelRows];
  float* y[kMaxTile];
  for (uint64_t p = first_panel; p < end_panel; ++p) {
    const uint64_t column = p * kPanelRows;
    const auto width = static_cast<uint32_t>(std::min<uint64_t>(kPanelRows, w.num_rows - column));
    for (uint32_t t = 0; t < num_rows; ++t) y[t] = width == kPanelRows ? targets_[first_row + t] + column : rest[t];
    const uint8_t* panel = w.panel(job.matrix, static_cast<uint32_t>(p));
    const float* bias = job.bias == nullptr ? nullptr : job.bias + column;
    if (w.quantized()) {
      kernels_.linear[w.info->format][tile](panel, w.num_blocks(),
                                            reinterpret_cast<const ActBlock* const*>(&sources_[first_row]), bias, y);
    } else {
      kernels_.dense[w.info->format - kNumQuantFormats][tile](
          panel, w.num_columns, reinterpret_cast<const float* const*>(&sources_[first_row]), bias, y);
    }
    if (width == kPanelRows) continue;
    for (uint32_t t = 0; t < num_rows; ++t) std::memcpy(targets_[first_row + t] + column, rest[t], width * sizeof(float));
  }
}

void Program::run_dnn_tile(const Job& job, uint64_t first_panel, uint64_t end_panel, uint64_t first_row, uint32_t num_rows,
                           uint32_t worker) const {
  const PackedWeight& w = job.weight->matrix;
  const DnnLinear& dnn = *job.weight->dnn;
  float* tile = dnn.tile(worker);
  const uint64_t stride = dnn.tile_stride(), slice = first_panel / kDnnSlicePanels;
  for (uint32_t t = 0; t < kDnnTile; ++t) {
    float* to = tile + t * stride;
    if (t < num_rows) {
      std::memcpy(to, sources_[first_row + t], w.num_columns * sizeof(float));
    } else {
      std::memset(to, 0, w.num_columns * sizeof(float));
    }
  }
  const uint64_t column = first_panel * kPanelRows, width = std::min<uint64_t>(end_panel * kPanelRows, w.num_rows) - column;
  const bool done = dnn.run(worker, static_cast<uint32_t>(slice), w.panel(job.matrix, static_cast<uint32_t>(first_panel)));
  for (uint32_t t = 0; t < num_rows; ++t) {
    float* y = targets_[first_row + t] + column;
    if (!done) {
      std::fill_n(y, width, std::numeric_limits<float>::quiet_NaN());
      dnn_failed_.store(true);
      continue;
    }
    const float* from = dnn.result(worker) + t * dnn.result_stride(static_cast<uint32_t>(slice));
    if (job.bias == nullptr) {
      std::memcpy(y, from, width * sizeof(float));
    } else {
      kernels_.add(from, job.bias + column, width, y);
    }
  }
}

}  // namespace gainz::onednn
