#include <cstring>

#include "border.h"
#include "handles.h"

namespace gainz::sdk {

Status create_kv(gainz_device& device, gainz_model* model, const gainz_kv_desc* desc, gainz_kv** out_kv) {
  if (out_kv == nullptr || !owns(device.models, model))
    return failure(GAINZ_STATUS_INVALID, "kv_create: no such model, or out_kv is NULL");
  gainz_kv_desc in{};
  GAINZ_SDK_TRY(read_struct(desc, &in, "gainz_kv_desc"));
  const std::vector<gainz_page_group>& groups = model->graph.groups;
  if (in.num_groups != groups.size() || (in.num_groups != 0 && in.num_pages == nullptr)) {
    return failure(GAINZ_STATUS_INVALID, "kv_create: %u page groups for a graph of %zu", in.num_groups, groups.size());
  }
  auto kv = std::make_unique<gainz_kv>();
  kv->model = model;
  kv->k_type = in.k_type;
  kv->v_type = in.v_type;
  kv->pages.resize(groups.size());
  kv->marks.resize(groups.size());
  for (uint32_t g = 0; g < groups.size(); ++g) {
    if (gainz_kv_row_bytes(in.k_type, groups[g].k_head_dim) == 0 || gainz_kv_row_bytes(in.v_type, groups[g].v_head_dim) == 0) {
      return failure(GAINZ_STATUS_UNSUPPORTED, "kv_create: no pages of types %u and %u with heads of %u and %u columns",
                     in.k_type, in.v_type, groups[g].k_head_dim, groups[g].v_head_dim);
    }
    const uint64_t page_bytes = gainz_page_bytes(&groups[g], in.k_type, in.v_type);
    const uint64_t num_pages = in.num_pages[g];
    if (num_pages == 0 || num_pages > UINT32_MAX / GAINZ_PAGE_TOKENS || num_pages > INT64_MAX / page_bytes) {
      return failure(GAINZ_STATUS_INVALID, "kv_create: page group %u of %llu pages", g,
                     static_cast<unsigned long long>(num_pages));
    }
    kv->num_pages.push_back(in.num_pages[g]);
    kv->page_bytes.push_back(page_bytes);
    kv->marks[g].assign(num_pages, 0);
    GAINZ_SDK_TRY(kv->pages[g].allocate(device.host, num_pages * page_bytes, "page storage"));
  }
  device.kvs.push_back(std::move(kv));
  *out_kv = device.kvs.back().get();
  return {};
}

static Status check_copies(const gainz_kv& kv, uint32_t group, const gainz_page_copy* copies, uint32_t num_copies) {
  if (group >= kv.num_pages.size() || (copies == nullptr && num_copies != 0)) {
    return failure(GAINZ_STATUS_INVALID, "kv_copy_pages: page group %u of %zu", group, kv.num_pages.size());
  }
  for (uint32_t i = 0; i < num_copies; ++i) {
    if (copies[i].source < kv.num_pages[group] && copies[i].target < kv.num_pages[group]) continue;
    return failure(GAINZ_STATUS_INVALID, "kv_copy_pages: page %u to %u of %u", copies[i].source, copies[i].target,
                   kv.num_pages[group]);
  }
  return {};
}

Status copy_pages(gainz_kv& kv, uint32_t group, const gainz_page_copy* copies, uint32_t num_copies) {
  GAINZ_SDK_TRY(check_copies(kv, group, copies, num_copies));
  // A page that is written is neither read nor written again in the same call.
  std::vector<uint8_t>& marks = kv.marks[group];
  uint32_t fault = num_copies;
  for (uint32_t i = 0; i < num_copies; ++i) {
    if (marks[copies[i].target] != 0) fault = i;
    marks[copies[i].target] = 1;
  }
  for (uint32_t i = 0; i < num_copies; ++i) {
    if (marks[copies[i].source] != 0) fault = i;
  }
  for (uint32_t i = 0; i < num_copies; ++i) marks[copies[i].target] = 0;
  if (fault != num_copies) {
    return failure(GAINZ_STATUS_INVALID, "kv_copy_pages: page %u to %u: a target is written twice or is a source too",
                   copies[fault].source, copies[fault].target);
  }
  const uint64_t bytes = kv.page_bytes[group];
  uint8_t* pages = kv.pages[group].data();
  for (uint32_t i = 0; i < num_copies; ++i)
    std::memcpy(pages + copies[i].target * bytes, pages + copies[i].source * bytes, bytes);
  return {};
}

Status find_page(const gainz_kv& kv, uint32_t group, uint32_t page, const void* bytes, uint64_t num_bytes, uint8_t** out_page) {
  if (group >= kv.num_pages.size() || page >= kv.num_pages[group] || bytes == nullptr) {
    return failure(GAINZ_STATUS_INVALID, "page %u of page group %u: there is none, or the bytes are NULL", page, group);
  }
  if (num_bytes != kv.page_bytes[group]) {
    return failure(GAINZ_STATUS_INVALID, "a page of group %u has %llu bytes, not %llu", group,
                   static_cast<unsigned long long>(kv.page_bytes[group]), static_cast<unsigned long long>(num_bytes));
  }
  *out_page = kv.pages[group].data() + page * kv.page_bytes[group];
  return {};
}

}  // namespace gainz::sdk
