#include "kv.h"

#include <algorithm>
#include <cstring>

namespace gainz::vulkan {

namespace {

// One head's row between its canonical bytes and its words. Store: bytes to words.
template <bool Store, class Byte>
void move_row(KvType type, uint32_t dim, Byte* bytes, uint32_t* words) {
  const auto move = [](uint32_t* word, Byte* at, uint64_t size) {
    if constexpr (Store) {
      if (size < 4) *word = 0;
      std::memcpy(word, at, size);
    } else {
      std::memcpy(at, word, size);
    }
  };
  if (type == kKvQ8) {
    for (uint32_t b = 0; b < dim / 32; ++b, bytes += 34, words += 9) {
      move(words, bytes, 2);
      move(words + 1, bytes + 2, 32);
    }
    return;
  }
  const uint64_t size = uint64_t{dim} * (type == kKvF32 ? 4 : 2);
  move(words, bytes, size / 4 * 4);
  if (size % 4 != 0) move(words + size / 4, bytes + size / 4 * 4, 2);
}

}  // namespace

KvType kv_type_of(uint32_t type) {
  return type == GAINZ_TYPE_F32 ? kKvF32 : type == GAINZ_TYPE_F16 ? kKvF16 : type == GAINZ_TYPE_Q8_0 ? kKvQ8 : kNumKvTypes;
}

uint64_t kv_row_words(KvType type, uint64_t dim) {
  return type == kKvF32 ? dim : type == kKvF16 ? (dim + 1) / 2 : dim / 32 * 9;
}

Kv::~Kv() {
  if (pool_ != VK_NULL_HANDLE) context_.api().DestroyCommandPool(context_.device(), pool_, nullptr);
}

Status Kv::create_side(const gainz_page_group& shape, uint32_t num_pages, Side* side) {
  side->page_words = GAINZ_PAGE_TOKENS * shape.num_kv_heads * kv_row_words(side->type, side->dim);
  const unsigned __int128 bytes = static_cast<unsigned __int128>(side->page_words) * 4 * num_pages;
  // Words are numbered in 32 bits by the shaders.
  if (bytes > context_.max_range_bytes())
    return failure(GAINZ_STATUS_LIMIT_EXCEEDED, "%u pages of %llu bytes in a layer; the device shows %llu bytes at once",
                   num_pages, wide(side->page_words * 4), wide(context_.max_range_bytes()));
  side->layers.resize(shape.num_layers);
  for (Range& layer : side->layers) {
    GAINZ_SDK_TRY(memory_.allocate(MemoryKind::kDevice, static_cast<uint64_t>(bytes), "KV pages", &layer));
    GAINZ_SDK_TRY(memory_.clear(layer));
  }
  words_.resize(std::max<size_t>(words_.size(), side->page_words));
  return {};
}

Status Kv::create(const sdk::Graph& graph, const gainz_kv_desc& desc) {
  const KvType k_type = kv_type_of(desc.k_type), v_type = kv_type_of(desc.v_type);
  if (k_type == kNumKvTypes || v_type == kNumKvTypes)
    return failure(GAINZ_STATUS_UNSUPPORTED, "KV types %u and %u: pages are F32, F16 or Q8_0", desc.k_type, desc.v_type);
  if (desc.num_groups != graph.groups.size() || (desc.num_groups != 0 && desc.num_pages == nullptr))
    return failure(GAINZ_STATUS_INVALID, "%u page groups for a graph with %zu", desc.num_groups, graph.groups.size());
  groups_.resize(desc.num_groups);
  for (uint32_t i = 0; i < desc.num_groups; ++i) {
    Group& g = groups_[i];
    g.shape = graph.groups[i];
    g.num_pages = desc.num_pages[i];
    if (gainz_kv_row_bytes(desc.k_type, g.shape.k_head_dim) == 0 || gainz_kv_row_bytes(desc.v_type, g.shape.v_head_dim) == 0)
      return failure(GAINZ_STATUS_UNSUPPORTED, "page group %u: heads of %u and %u columns in KV types %u and %u", i,
                     g.shape.k_head_dim, g.shape.v_head_dim, desc.k_type, desc.v_type);
    if (g.num_pages == 0) return failure(GAINZ_STATUS_INVALID, "page group %u has no page; the scratch page is one", i);
    g.k = {k_type, desc.k_type, g.shape.k_head_dim};
    g.v = {v_type, desc.v_type, g.shape.v_head_dim};
    GAINZ_SDK_TRY(create_side(g.shape, g.num_pages, &g.k));
    GAINZ_SDK_TRY(create_side(g.shape, g.num_pages, &g.v));
  }
  const DeviceApi& vk = context_.api();
  const VkCommandPoolCreateInfo info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, nullptr,
                                     VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT, context_.queue_family()};
  GAINZ_VK_TRY(vk.CreateCommandPool(context_.device(), &info, nullptr, &pool_), "a command pool");
  VkCommandBuffer buffers[kNumCopies];
  const VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, pool_,
                                             VK_COMMAND_BUFFER_LEVEL_PRIMARY, kNumCopies};
  GAINZ_VK_TRY(vk.AllocateCommandBuffers(context_.device(), &allocate, buffers), "command buffers");
  for (uint32_t i = 0; i < kNumCopies; ++i) copies_[i].commands = buffers[i];
  return {};
}

Status Kv::check_page(uint32_t group, uint32_t page, uint64_t num_bytes) const {
  if (group >= groups_.size() || page >= groups_[group].num_pages)
    return failure(GAINZ_STATUS_INVALID, "page %u of group %u does not exist", page, group);
  const Group& g = groups_[group];
  const uint64_t wanted = gainz_page_bytes(&g.shape, g.k.sdk_type, g.v.sdk_type);
  if (num_bytes == wanted) return {};
  return failure(GAINZ_STATUS_INVALID, "%llu bytes for a page of %llu", wide(num_bytes), wide(wanted));
}

Status Kv::begin_copies(const Copies& next) {
  GAINZ_SDK_TRY(context_.wait(next.ticket, UINT64_MAX));
  const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr,
                                       VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, nullptr};
  GAINZ_VK_TRY(context_.api().BeginCommandBuffer(next.commands, &begin), "recording copies of pages");
  return {};
}

Status Kv::copy_pages(uint32_t group, const gainz_page_copy* copies, uint32_t num_copies) {
  if (group >= groups_.size()) return failure(GAINZ_STATUS_INVALID, "no page group %u", group);
  if (num_copies != 0 && copies == nullptr) return failure(GAINZ_STATUS_INVALID, "no list of pages to copy");
  const Group& g = groups_[group];
  std::vector<VkBufferCopy> regions;
  for (uint32_t i = 0; i < num_copies; ++i) {
    if (copies[i].source >= g.num_pages || copies[i].target >= g.num_pages)
      return failure(GAINZ_STATUS_INVALID, "copy of page %u to %u of %u", copies[i].source, copies[i].target, g.num_pages);
    if (copies[i].source != copies[i].target) regions.push_back({copies[i].source, copies[i].target, 0});
  }
  if (regions.empty()) return {};
  Copies& next = copies_[next_copies_];
  GAINZ_SDK_TRY(begin_copies(next));
  next_copies_ = (next_copies_ + 1) % kNumCopies;
  const DeviceApi& vk = context_.api();
  constexpr VkAccessFlags kShader = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
  constexpr VkAccessFlags kCopy = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  const VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, kShader | kCopy, kShader | kCopy};
  constexpr VkPipelineStageFlags kStages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
  vk.CmdPipelineBarrier(next.commands, kStages, kStages, 0, 1, &barrier, 0, nullptr, 0, nullptr);
  std::vector<VkBufferCopy> placed(regions.size());
  for (const Side* side : {&g.k, &g.v}) {
    for (const Range& layer : side->layers) {
      const uint64_t bytes = side->page_words * 4;
      for (size_t i = 0; i < regions.size(); ++i)
        placed[i] = {layer.offset() + regions[i].srcOffset * bytes, layer.offset() + regions[i].dstOffset * bytes, bytes};
      vk.CmdCopyBuffer(next.commands, layer.buffer(), layer.buffer(), static_cast<uint32_t>(placed.size()), placed.data());
    }
  }
  vk.CmdPipelineBarrier(next.commands, kStages, kStages, 0, 1, &barrier, 0, nullptr, 0, nullptr);
  GAINZ_VK_TRY(vk.EndCommandBuffer(next.commands), "recording copies of pages");
  return context_.submit(&next.commands, 1, &next.ticket);
}

Status Kv::export_page(uint32_t group, uint32_t page, uint8_t* out, uint64_t num_bytes) {
  GAINZ_SDK_TRY(check_page(group, page, num_bytes));
  if (out == nullptr) return failure(GAINZ_STATUS_INVALID, "nowhere to export a page to");
  const Group& g = groups_[group];
  for (uint32_t layer = 0; layer < g.shape.num_layers; ++layer) {
    for (const Side* side : {&g.k, &g.v}) {
      const uint64_t bytes = side->page_words * 4;
      GAINZ_SDK_TRY(memory_.read(side->layers[layer], page * bytes, words_.data(), bytes));
      const uint64_t row_bytes = gainz_kv_row_bytes(side->sdk_type, side->dim), row_words = kv_row_words(side->type, side->dim);
      for (uint64_t r = 0; r < uint64_t{GAINZ_PAGE_TOKENS} * g.shape.num_kv_heads; ++r, out += row_bytes)
        move_row<false>(side->type, side->dim, out, words_.data() + r * row_words);
    }
  }
  return {};
}

Status Kv::import_page(uint32_t group, uint32_t page, const uint8_t* in, uint64_t num_bytes) {
  GAINZ_SDK_TRY(check_page(group, page, num_bytes));
  if (in == nullptr) return failure(GAINZ_STATUS_INVALID, "no page to import");
  const Group& g = groups_[group];
  for (uint32_t layer = 0; layer < g.shape.num_layers; ++layer) {
    for (const Side* side : {&g.k, &g.v}) {
      const uint64_t bytes = side->page_words * 4;
      const uint64_t row_bytes = gainz_kv_row_bytes(side->sdk_type, side->dim), row_words = kv_row_words(side->type, side->dim);
      for (uint64_t r = 0; r < uint64_t{GAINZ_PAGE_TOKENS} * g.shape.num_kv_heads; ++r, in += row_bytes)
        move_row<true>(side->type, side->dim, in, words_.data() + r * row_words);
      GAINZ_SDK_TRY(memory_.write(side->layers[layer], page * bytes, words_.data(), bytes));
    }
  }
  return {};
}

}  // namespace gainz::vulkan
