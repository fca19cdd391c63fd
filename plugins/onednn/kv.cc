#include "kv.h"

#include <algorithm>
#include <cstring>

#include "reference/kv.h"

namespace gainz::onednn {

namespace {

constexpr uint32_t kMaxHeadColumns = 65536;

// Moves one head's row of one token between its canonical form and its places in a page. Store: row to page.
template <bool Store, class Byte, class RowByte>
void move(Byte* at, RowByte* row, uint64_t size) {
  if constexpr (Store) {
    std::memcpy(at, row, size);
  } else {
    std::memcpy(row, at, size);
  }
}

template <bool Store, class Byte, class RowByte>
void move_k(uint32_t type, Byte* page, uint32_t place, uint32_t dim, RowByte* row) {
  if (type == kKvQ8) {
    for (uint32_t b = 0; b < dim / 32; ++b, page += 544, row += 34) {
      move<Store>(page + 2 * place, row, 2);
      for (uint32_t i = 0; i < 32; ++i) move<Store>(page + 32 + 16 * i + place, row + 2 + i, 1);
    }
    return;
  }
  const uint32_t size = type == kKvF32 ? 4 : 2;
  for (uint32_t d = 0; d < dim; ++d) move<Store>(page + (16ull * d + place) * size, row + d * size, size);
}

template <bool Store, class Byte, class RowByte>
void move_v(uint32_t type, Byte* page, uint32_t place, uint32_t dim, RowByte* row) {
  if (type == kKvQ8) {
    Byte* scales = page + 16ull * dim + place * (dim / 32) * 2;
    for (uint32_t b = 0; b < dim / 32; ++b, row += 34) {
      move<Store>(scales + 2 * b, row, 2);
      move<Store>(page + static_cast<uint64_t>(place) * dim + 32 * b, row + 2, 32);
    }
    return;
  }
  const uint64_t size = static_cast<uint64_t>(dim) * (type == kKvF32 ? 4 : 2);
  move<Store>(page + place * size, row, size);
}

template <bool Store, class Row>
void move_page(const Kv::Group& g, uint32_t k_type, uint32_t v_type, uint64_t k_row, uint64_t v_row, uint32_t page, Row* row) {
  for (uint32_t layer = 0; layer < g.shape.num_layers; ++layer) {
    for (uint32_t place = 0; place < kPageTokens; ++place)
      for (uint32_t h = 0; h < g.shape.num_kv_heads; ++h, row += k_row)
        move_k<Store>(k_type, g.k_at(layer, h, page), place, g.shape.k_head_dim, row);
    for (uint32_t place = 0; place < kPageTokens; ++place)
      for (uint32_t h = 0; h < g.shape.num_kv_heads; ++h, row += v_row)
        move_v<Store>(v_type, g.v_at(layer, h, page), place, g.shape.v_head_dim, row);
  }
}

}  // namespace

uint32_t kv_type_of(uint32_t type) {
  switch (type) {
    case GAINZ_TYPE_F32:
      return kKvF32;
    case GAINZ_TYPE_F16:
      return kKvF16;
    case GAINZ_TYPE_Q8_0:
      return kKvQ8;
    default:
      return kNumKvTypes;
  }
}

Status Kv::create(const Host& host, const sdk::Graph& graph, const gainz_kv_desc& desc) {
  k_sdk_type_ = desc.k_type;
  v_sdk_type_ = desc.v_type;
  k_type_ = kv_type_of(desc.k_type);
  v_type_ = kv_type_of(desc.v_type);
  if (k_type_ == kNumKvTypes || v_type_ == kNumKvTypes)
    return failure(GAINZ_STATUS_UNSUPPORTED, "KV types %u and %u: pages are F32, F16 or Q8_0", desc.k_type, desc.v_type);
  if (desc.num_groups != graph.groups.size() || (desc.num_groups != 0 && desc.num_pages == nullptr))
    return failure(GAINZ_STATUS_INVALID, "%u page groups for a graph with %zu", desc.num_groups, graph.groups.size());
  groups_.resize(desc.num_groups);
  for (uint32_t i = 0; i < desc.num_groups; ++i) {
    Group& g = groups_[i];
    g.shape = graph.groups[i];
    g.num_pages = desc.num_pages[i];
    const uint64_t k_row = gainz_kv_row_bytes(desc.k_type, g.shape.k_head_dim),
                   v_row = gainz_kv_row_bytes(desc.v_type, g.shape.v_head_dim);
    if (k_row == 0 || v_row == 0 || g.shape.k_head_dim > kMaxHeadColumns || g.shape.v_head_dim > kMaxHeadColumns)
      return failure(GAINZ_STATUS_UNSUPPORTED, "page group %u: heads of %u and %u columns in KV types %u and %u", i,
                     g.shape.k_head_dim, g.shape.v_head_dim, desc.k_type, desc.v_type);
    if (g.num_pages == 0) return failure(GAINZ_STATUS_INVALID, "page group %u has no page; the scratch page is one", i);
    g.k_head_bytes = kPageTokens * k_row;
    g.v_head_bytes = kPageTokens * v_row;
    const unsigned __int128 bytes = static_cast<unsigned __int128>(g.k_head_bytes + g.v_head_bytes) * g.shape.num_kv_heads *
                                    g.shape.num_layers * g.num_pages;
    if (bytes >> 62 != 0)
      return failure(GAINZ_STATUS_OUT_OF_HOST_MEMORY, "page group %u: %u pages are beyond any memory", i, g.num_pages);
    GAINZ_SDK_TRY(g.memory.allocate(host.table(), static_cast<uint64_t>(bytes), "KV pages"));
    uint8_t* at = g.memory.data();
    for (uint32_t layer = 0; layer < g.shape.num_layers; ++layer) {
      g.k.push_back(at);
      at += g.k_head_bytes * g.shape.num_kv_heads * g.num_pages;
      g.v.push_back(at);
      at += g.v_head_bytes * g.shape.num_kv_heads * g.num_pages;
    }
  }
  return {};
}

Status Kv::check_page(uint32_t group, uint32_t page, uint64_t num_bytes) const {
  if (group >= groups_.size() || page >= groups_[group].num_pages)
    return failure(GAINZ_STATUS_INVALID, "page %u of group %u does not exist", page, group);
  const uint64_t wanted = gainz_page_bytes(&groups_[group].shape, k_sdk_type_, v_sdk_type_);
  if (num_bytes == wanted) return {};
  return failure(GAINZ_STATUS_INVALID, "%llu bytes for a page of %llu", static_cast<unsigned long long>(num_bytes),
                 static_cast<unsigned long long>(wanted));
}

Status Kv::copy_pages(uint32_t group, const gainz_page_copy* copies, uint32_t num_copies) {
  if (group >= groups_.size()) return failure(GAINZ_STATUS_INVALID, "no page group %u", group);
  if (num_copies != 0 && copies == nullptr) return failure(GAINZ_STATUS_INVALID, "no list of pages to copy");
  const Group& g = groups_[group];
  for (uint32_t i = 0; i < num_copies; ++i) {
    if (copies[i].source < g.num_pages && copies[i].target < g.num_pages) continue;
    return failure(GAINZ_STATUS_INVALID, "copy of page %u to %u of %u", copies[i].source, copies[i].target, g.num_pages);
  }
  for (uint32_t i = 0; i < num_copies; ++i) {
    if (copies[i].source == copies[i].target) continue;
    for (uint32_t layer = 0; layer < g.shape.num_layers; ++layer) {
      for (uint32_t h = 0; h < g.shape.num_kv_heads; ++h) {
        std::memcpy(g.k_at(layer, h, copies[i].target), g.k_at(layer, h, copies[i].source), g.k_head_bytes);
        std::memcpy(g.v_at(layer, h, copies[i].target), g.v_at(layer, h, copies[i].source), g.v_head_bytes);
      }
    }
  }
  return {};
}

Status Kv::export_page(uint32_t group, uint32_t page, uint8_t* out, uint64_t num_bytes) const {
  GAINZ_SDK_TRY(check_page(group, page, num_bytes));
  if (out == nullptr) return failure(GAINZ_STATUS_INVALID, "nowhere to export a page to");
  const Group& g = groups_[group];
  move_page<false>(g, k_type_, v_type_, g.k_head_bytes / kPageTokens, g.v_head_bytes / kPageTokens, page, out);
  return {};
}

Status Kv::import_page(uint32_t group, uint32_t page, const uint8_t* in, uint64_t num_bytes) {
  GAINZ_SDK_TRY(check_page(group, page, num_bytes));
  if (in == nullptr) return failure(GAINZ_STATUS_INVALID, "no page to import");
  const Group& g = groups_[group];
  move_page<true>(g, k_type_, v_type_, g.k_head_bytes / kPageTokens, g.v_head_bytes / kPageTokens, page, in);
  return {};
}

void Kv::write(const Kernels& kernels, uint32_t group, uint32_t layer, uint32_t slot, const float* k, const float* v) {
  const Group& g = groups_[group];
  const uint32_t page = slot / kPageTokens, place = slot % kPageTokens;
  // Rows are encoded in pieces of 64 columns, whole blocks of every type.
  constexpr uint32_t kPiece = 64;
  uint8_t row[kPiece * 4];
  const auto encode = [&](uint32_t type, uint32_t sdk_type, const float* x, uint32_t n) {
    if (type == kKvF16) return kernels.to_f16(x, n, reinterpret_cast<uint16_t*>(row));
    reference::kv_encode(sdk_type, x, row, n);
  };
  for (uint32_t h = 0; h < g.shape.num_kv_heads; ++h, k += g.shape.k_head_dim) {
    uint8_t* at = g.k_at(layer, h, page);
    for (uint32_t d = 0; d < g.shape.k_head_dim; d += kPiece) {
      const uint32_t n = std::min(kPiece, g.shape.k_head_dim - d);
      encode(k_type_, k_sdk_type_, k + d, n);
      const uint64_t skip = k_type_ == kKvQ8 ? d / 32 * 544ull : 16ull * d * (k_type_ == kKvF32 ? 4 : 2);
      move_k<true>(k_type_, at + skip, place, n, row);
    }
  }
  for (uint32_t h = 0; h < g.shape.num_kv_heads; ++h, v += g.shape.v_head_dim) {
    uint8_t* at = g.v_at(layer, h, page);
    const uint32_t dim = g.shape.v_head_dim;
    for (uint32_t d = 0; d < dim; d += kPiece) {
      const uint32_t n = std::min(kPiece, dim - d);
      encode(v_type_, v_sdk_type_, v + d, n);
      if (v_type_ == kKvQ8) {
        for (uint32_t b = 0; b < n / 32; ++b) {
          std::memcpy(at + 16ull * dim + (place * (dim / 32) + d / 32 + b) * 2, row + 34 * b, 2);
          std::memcpy(at + static_cast<uint64_t>(place) * dim + d + 32 * b, row + 34 * b + 2, 32);
        }
      } else {
        const uint64_t size = v_type_ == kKvF32 ? 4 : 2;
        std::memcpy(at + (static_cast<uint64_t>(place) * dim + d) * size, row, n * size);
      }
    }
  }
}

}  // namespace gainz::onednn
