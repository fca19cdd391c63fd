// LINEAR and MOE_LINEAR: products over packed weights, in tiles of rows.
#include "emit.h"

namespace gainz::vulkan {

Status Emitter::linear(const Work& work) {
  const uint32_t domain = work.node->output(0).rows;
  const uint32_t y = work.linears.size() > 1 && work.gated == nullptr ? work.linears[0]->outputs[0] : work.output();
  return for_rows(domain, {work.node->inputs[0], y, work.residual == kNone ? y : work.residual},
                  [&](const Rows& rows) { linear_rows(work, rows); });
}

void Emitter::linear_rows(const Work& work, const Rows& rows) {
  const Matrix& m = model_.matrix(work);
  const uint32_t x = work.node->inputs[0];
  const uint32_t y = work.linears.size() > 1 && work.gated == nullptr ? work.linears[0]->outputs[0] : work.output();
  const uint32_t r = work.residual == kNone ? x : work.residual;
  const Range* bias = model_.bias(work);
  const uint32_t rows_each = work.gated != nullptr ? 2 : tuning_.rows;
  const uint32_t per_group = tuning_.group_size / tuning_.split * (work.gated != nullptr ? 1 : rows_each);
  for (const Matrix::Part& part : m.parts) {
    uint32_t above = 0;
    for (uint32_t tile = tuning_.tokens; tile != 0; tile = tile == 8 ? 4 : tile == 1 ? 0 : 1) {
      if (tile != 1 && tile > rows.count) continue;
      Dispatch& d = add(work, with_format(Shader::kLinear, m.packing),
                        {static_cast<uint32_t>(m.packing.scales), m.packing.offset, tile, rows_each, tuning_.split,
                         work.gated != nullptr ? work.gated->attr.activation.kind : 0, 0},
                        rows);
      d.groups_x = static_cast<uint32_t>(parts_of(part.count, per_group));
      d.tile = tile;
      d.tiles_above = above;
      d.whole_tiles = tile != 1;
      const auto first = static_cast<uint32_t>(part.first);
      d.buffers[1] = ref(x, rows);
      d.buffers[2] = fixed(part.quants);
      d.buffers[3] = fixed(part.scales);
      d.buffers[4] = ref(y, rows, true);
      d.buffers[5] = ref(r, rows);
      d.buffers[6] = bias != nullptr ? fixed(*bias) : d.buffers[1];
      d.buffers[7] = d.buffers[1];
      push(&d,
           {header_word(rows.domain), rows.first, rows.count, above, static_cast<uint32_t>(m.num_blocks),
            static_cast<uint32_t>(m.columns), static_cast<uint32_t>(m.row_words), static_cast<uint32_t>(m.row_scale_words),
            static_cast<uint32_t>(part.count), column(x), stride(x), column(y) + first, stride(y), bias != nullptr ? 1u : 0u,
            first, static_cast<uint32_t>(m.num_rows), work.residual != kNone ? 1u : 0u, column(r) + first, stride(r)});
      above = tile;
    }
  }
}

Status Emitter::moe_linear(const Work& work) {
  const sdk::Node& node = *work.node;
  const gainz_moe_linear_attr& attr = node.attr.moe_linear;
  const Matrix& m = model_.matrix(work);
  const bool sums = node.has_input(3);
  const uint32_t x = node.inputs[0], ids = node.inputs[1], y = work.output();
  const uint32_t product = sums ? next_extra_++ : y;
  const uint32_t domain = node.output(0).rows;
  const uint32_t per_group = tuning_.group_size / tuning_.split * tuning_.rows;
  GAINZ_SDK_TRY(for_rows(domain, {x, ids, product}, [&](const Rows& rows) {
    for (const Matrix::Part& part : m.parts) {
      Dispatch& d =
          add(work, with_format(Shader::kLinear, m.packing),
              {static_cast<uint32_t>(m.packing.scales), m.packing.offset, 1, tuning_.rows, tuning_.split, 0, 1}, rows);
      d.groups_x = static_cast<uint32_t>(parts_of(m.num_rows, per_group));
      d.multiple = attr.num_chosen;
      d.buffers[1] = d.buffers[5] = d.buffers[6] = ref(x, rows);
      d.buffers[2] = fixed(part.quants);
      d.buffers[3] = fixed(part.scales);
      d.buffers[4] = ref(product, rows, true);
      d.buffers[7] = ref(ids, rows);
      push(&d, {header_word(domain),
                rows.first,
                rows.count,
                0,
                static_cast<uint32_t>(m.num_blocks),
                static_cast<uint32_t>(m.columns),
                static_cast<uint32_t>(m.row_words),
                static_cast<uint32_t>(m.row_scale_words),
                static_cast<uint32_t>(m.num_rows),
                column(x),
                stride(x),
                column(product),
                stride(product),
                0,
                0,
                0,
                0,
                0,
                0,
                static_cast<uint32_t>(part.first),
                static_cast<uint32_t>(part.count),
                static_cast<uint32_t>(m.num_rows),
                attr.num_chosen,
                attr.rows_per_token != 1 ? 1u : 0u,
                column(ids),
                stride(ids)});
    }
  }));
  if (!sums) return {};
  const uint32_t z = node.inputs[3];
  return for_rows(domain, {product, y, z}, [&](const Rows& rows) {
    Dispatch& d = add(work, Shader::kElementwise, {kMoeSum, 0}, rows);
    d.groups_x = groups_for(m.num_rows);
    d.buffers[1] = ref(product, rows);
    d.buffers[4] = ref(y, rows, true);
    d.buffers[5] = ref(z, rows);
    push(&d, {header_word(domain), rows.first, static_cast<uint32_t>(m.num_rows), column(product), stride(product), column(y),
              stride(y), column(z), stride(z), 0, 0, 0, attr.num_chosen});
  });
}

}  // namespace gainz::vulkan
