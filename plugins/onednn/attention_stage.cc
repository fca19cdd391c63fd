// Attention stages: units are (sequence, KV head, tile of queries); where few of them are left, as for one long sequence, their
// chunks of positions run apart and are folded afterwards in the same order with the same bits.
#include <algorithm>
#include <cstring>

#include "program.h"

namespace gainz::onednn {

namespace {

constexpr uint32_t kQueriesPerUnit = 32;
constexpr uint32_t kTileQueriesPerUnit = 64;  // keys and values are brought to tiles once for each unit

uint32_t group_of(const gainz_attention_attr& a) { return a.num_heads / a.num_kv_heads; }
uint32_t first_seen(const gainz_attention_attr& a, uint32_t position) {
  return a.window == 0 || position + 1 <= a.window ? 0 : position + 1 - a.window;
}

struct Unit {
  uint32_t sequence, kv_head, first_query, end_query;  // rows of T
};

Unit find_unit(const gainz_step& step, const gainz_attention_attr& a, const std::vector<uint64_t>& unit_begin, uint64_t unit,
               uint32_t queries_per_unit) {
  const auto end = unit_begin.begin() + step.num_sequences + 1;
  const auto s = static_cast<uint32_t>(std::upper_bound(unit_begin.begin(), end, unit) - unit_begin.begin() - 1);
  const uint64_t inside = unit - unit_begin[s];
  const auto tile = static_cast<uint32_t>(inside / a.num_kv_heads);
  const uint32_t first = step.query_offsets[s] + tile * queries_per_unit;
  return {s, static_cast<uint32_t>(inside % a.num_kv_heads), first,
          std::min(first + queries_per_unit, step.query_offsets[s + 1])};
}

}  // namespace

uint64_t Program::count_attention_units(const gainz_attention_attr& a) {
  unit_begin_[0] = 0;
  for (uint32_t s = 0; s < step_.num_sequences; ++s)
    unit_begin_[s + 1] =
        unit_begin_[s] + a.num_kv_heads * parts_of(step_.query_offsets[s + 1] - step_.query_offsets[s], queries_per_unit());
  return unit_begin_[step_.num_sequences];
}

AttentionArgs Program::attention_args(const gainz_attention_attr& a, uint32_t sequence, uint32_t kv_head) const {
  const Kv::Group& g = kv_->groups()[a.group];
  AttentionArgs args{};
  args.k = g.k_at(a.layer, kv_head, 0);
  args.v = g.v_at(a.layer, kv_head, 0);
  args.k_page_bytes = g.k_head_bytes;
  args.v_page_bytes = g.v_head_bytes;
  args.page_table = pages(a.group).page_table + sequence * pages(a.group).page_table_stride;
  args.k_type = kv_->k_type();
  args.v_type = kv_->v_type();
  args.dk = a.k_head_dim;
  args.dv = a.v_head_dim;
  args.scale = a.scale;
  args.softcap = a.softcap;
  return args;
}

uint32_t Program::queries_per_unit() const { return num_prompt_ > 0 ? kTileQueriesPerUnit : kQueriesPerUnit; }

bool Program::has_tiled_attention(const gainz_attention_attr& a) const {
  return plan_.uses_tiles && a.k_head_dim % 32 == 0 && a.v_head_dim % 16 == 0;
}

// The queries of a unit, in runs of one phase.
void Program::attention_unit(const Op& op, uint64_t index, uint32_t worker) const {
  const gainz_attention_attr& a = op.node->attr.attention;
  const Unit unit = find_unit(step_, a, unit_begin_, index, queries_per_unit());
  const bool tiled = num_prompt_ > 0 && has_tiled_attention(a);
  for (uint32_t first = unit.first_query, end = first; first < unit.end_query; first = end) {
    const bool prompt = tiled && is_prompt(first);
    while (end < unit.end_query && (tiled && is_prompt(end)) == prompt) ++end;
    if (prompt) {
      attend_tiles(op, unit.sequence, unit.kv_head, first, end, worker);
    } else {
      attend_queries(op, unit.sequence, unit.kv_head, first, end);
    }
  }
}

void Program::attend_tiles(const Op& op, uint32_t sequence, uint32_t kv_head, uint32_t first_query, uint32_t end_query,
                           uint32_t worker) const {
  const gainz_attention_attr& a = op.node->attr.attention;
  const uint32_t group = group_of(a), num_rows = (end_query - first_query) * group;
  const float* q[kTileAttentionRows];
  float* out[kTileAttentionRows];
  uint32_t first[kTileAttentionRows], last[kTileAttentionRows];
  TileAttentionArgs args{.pages = attention_args(a, sequence, kv_head), .q = q, .first = first, .last = last, .out = out};
  args.scratch = reinterpret_cast<uint8_t*>(worker_scratch_.data()) + worker * worker_bytes_;
  for (uint32_t r0 = 0; r0 < num_rows; r0 += kTileAttentionRows) {
    args.num_rows = std::min(kTileAttentionRows, num_rows - r0);
    for (uint32_t i = 0; i < args.num_rows; ++i) {
      const uint32_t t = first_query + (r0 + i) / group, head = kv_head * group + (r0 + i) % group;
      const auto position = static_cast<uint32_t>(step_.positions[t]);
      q[i] = row(op.node->inputs[0], op.domain, t) + head * a.k_head_dim;
      out[i] = row(op.node->outputs[0], op.domain, t) + head * a.v_head_dim;
      first[i] = first_seen(a, position);
      last[i] = position + 1;
    }
    kernels_.tiles->attend(&args);
  }
}

// Some rows (query, head) at a time; each row over its chunks in rising order.
void Program::attend_queries(const Op& op, uint32_t sequence, uint32_t kv_head, uint32_t first_query,
                             uint32_t end_query) const {
  const gainz_attention_attr& a = op.node->attr.attention;
  const uint32_t group = group_of(a), num_rows = (end_query - first_query) * group;
  AttentionArgs args = attention_args(a, sequence, kv_head);
  alignas(64) float part[kAttentionRows][kMaxPartColumns];
  for (uint32_t r0 = 0; r0 < num_rows; r0 += kAttentionRows) {
    args.num_rows = std::min(kAttentionRows, num_rows - r0);
    float* out[kAttentionRows];
    float m[kAttentionRows], l[kAttentionRows] = {};
    uint32_t first = UINT32_MAX, last = 0;
    for (uint32_t i = 0; i < args.num_rows; ++i) {
      const uint32_t t = first_query + (r0 + i) / group, head = kv_head * group + (r0 + i) % group;
      const auto position = static_cast<uint32_t>(step_.positions[t]);
      args.q[i] = row(op.node->inputs[0], op.domain, t) + head * a.k_head_dim;
      out[i] = row(op.node->outputs[0], op.domain, t) + head * a.v_head_dim;
      args.first[i] = first_seen(a, position);
      args.last[i] = position + 1;
      first = std::min(first, args.first[i]);
      last = std::max(last, args.last[i]);
    }
    for (uint32_t begin = first / kAttentionChunk * kAttentionChunk; begin < last; begin += kAttentionChunk) {
      args.begin = begin;
      args.end = std::min(begin + kAttentionChunk, last);
      for (uint32_t i = 0; i < args.num_rows; ++i) args.o[i] = l[i] == 0 ? out[i] : part[i];
      kernels_.attend(&args);
      for (uint32_t i = 0; i < args.num_rows; ++i) {
        if (args.l[i] == 0) continue;
        if (l[i] == 0) {
          m[i] = args.m[i];
          l[i] = args.l[i];
        } else {
          kernels_.attention_fold(out[i], &m[i], &l[i], part[i], args.m[i], args.l[i], a.v_head_dim);
        }
      }
    }
    for (uint32_t i = 0; i < args.num_rows; ++i) kernels_.scale(out[i], 1.0f / l[i], a.v_head_dim, out[i]);
  }
}

// One chunk of a unit of one query. A head's result: o[dv rounded to 16], m, l.
void Program::attention_part(const Op& op, uint64_t index, uint32_t chunk) const {
  const gainz_attention_attr& a = op.node->attr.attention;
  const Unit unit = find_unit(step_, a, unit_begin_, index, queries_per_unit());
  const uint32_t group = group_of(a), position = static_cast<uint32_t>(step_.positions[unit.first_query]);
  const uint64_t head_floats = round_up(a.v_head_dim, 16) + 16;
  auto* results = reinterpret_cast<float*>(part_scratch_.data()) + (index * max_chunks_ + chunk) * part_floats_;
  const uint32_t begin = chunk * kAttentionChunk, first = first_seen(a, position);
  if (begin > position || begin + kAttentionChunk <= first) {
    for (uint32_t h = 0; h < group; ++h) results[h * head_floats + head_floats - 1] = 0;
    return;
  }
  AttentionArgs args = attention_args(a, unit.sequence, unit.kv_head);
  args.begin = begin;
  args.end = std::min(begin + kAttentionChunk, position + 1);
  for (uint32_t h0 = 0; h0 < group; h0 += kAttentionRows) {
    args.num_rows = std::min(kAttentionRows, group - h0);
    for (uint32_t i = 0; i < args.num_rows; ++i) {
      args.q[i] = row(op.node->inputs[0], op.domain, unit.first_query) + (unit.kv_head * group + h0 + i) * a.k_head_dim;
      args.o[i] = results + (h0 + i) * head_floats;
      args.first[i] = first;
      args.last[i] = position + 1;
    }
    kernels_.attend(&args);
    for (uint32_t i = 0; i < args.num_rows; ++i) {
      args.o[i][head_floats - 2] = args.m[i];
      args.o[i][head_floats - 1] = args.l[i];
    }
  }
}

void Program::fold_parts(const Op& op, uint64_t num_units, uint32_t num_chunks) const {
  const gainz_attention_attr& a = op.node->attr.attention;
  const uint32_t group = group_of(a);
  const uint64_t head_floats = round_up(a.v_head_dim, 16) + 16;
  for (uint64_t index = 0; index < num_units; ++index) {
    const Unit unit = find_unit(step_, a, unit_begin_, index, queries_per_unit());
    for (uint32_t h = 0; h < group; ++h) {
      float* out = row(op.node->outputs[0], op.domain, unit.first_query) + (unit.kv_head * group + h) * a.v_head_dim;
      float m = 0, l = 0;
      for (uint32_t chunk = 0; chunk < num_chunks; ++chunk) {
        const float* part = reinterpret_cast<const float*>(part_scratch_.data()) +
                            (index * max_chunks_ + chunk) * part_floats_ + h * head_floats;
        const float part_m = part[head_floats - 2], part_l = part[head_floats - 1];
        if (part_l == 0) continue;
        if (l == 0) {
          std::memcpy(out, part, a.v_head_dim * sizeof(float));
          m = part_m;
          l = part_l;
        } else {
          kernels_.attention_fold(out, &m, &l, part, part_m, part_l, a.v_head_dim);
        }
      }
      kernels_.scale(out, 1.0f / l, a.v_head_dim, out);
    }
  }
}

void Program::run_attention(const Stage& stage) {
  const Op& op = stage.ops[0];
  const gainz_attention_attr& a = op.node->attr.attention;
  const uint64_t units = count_attention_units(a);
  uint32_t longest = 0;
  bool single = true;
  for (uint32_t s = 0; s < step_.num_sequences; ++s) {
    longest = std::max(longest, step_.context_lengths[s]);
    single = single && step_.query_offsets[s + 1] - step_.query_offsets[s] <= 1;
  }
  const bool tiled = num_prompt_ > 0 && has_tiled_attention(a);
  single = single && !tiled;
  const auto chunks = static_cast<uint32_t>(parts_of(longest, kAttentionChunk));
  if (single && units <= max_parts_ && chunks > 1 && host_.num_workers() > 1) {
    host_.loop(units * chunks, 1, [&](uint64_t begin, uint64_t end, uint32_t) {
      for (uint64_t i = begin; i < end; ++i) attention_part(op, i / chunks, static_cast<uint32_t>(i % chunks));
    });
    return fold_parts(op, units, chunks);
  }
  host_.loop(units, 1, [&](uint64_t begin, uint64_t end, uint32_t worker) {
    if (tiled) kernels_.tiles->begin();
    for (uint64_t i = begin; i < end; ++i) attention_unit(op, i, worker);
    if (tiled) kernels_.tiles->end();
  });
}

}  // namespace gainz::onednn
