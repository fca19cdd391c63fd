#include "memory.h"

#include <algorithm>
#include <cstring>

namespace gainz::vulkan {

namespace {
constexpr uint64_t kBlockBytes = 64ull << 20;  // what small ranges share
constexpr uint64_t kStagingBytes = 16ull << 20;
}  // namespace

Range& Range::operator=(Range&& other) noexcept {
  std::swap(owner_, other.owner_);
  std::swap(block_, other.block_);
  std::swap(buffer_, other.buffer_);
  std::swap(offset_, other.offset_);
  std::swap(size_, other.size_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

void Range::reset() {
  if (owner_ != nullptr) owner_->give_back(*static_cast<Memory::Block*>(block_), offset_, size_);
  owner_ = nullptr;
  buffer_ = VK_NULL_HANDLE;
  mapped_ = nullptr;
  size_ = offset_ = 0;
}

Memory::~Memory() {
  staging_.reset();
  if (pool_ != VK_NULL_HANDLE) context_.api().DestroyCommandPool(context_.device(), pool_, nullptr);
  for (Block& block : blocks_) destroy(block);
}

void Memory::destroy(Block& block) {
  const DeviceApi& vk = context_.api();
  if (block.buffer != VK_NULL_HANDLE) vk.DestroyBuffer(context_.device(), block.buffer, nullptr);
  if (block.memory != VK_NULL_HANDLE) vk.FreeMemory(context_.device(), block.memory, nullptr);
}

// The first type that has all of `wanted`, then one that has what cannot be done without.
Status Memory::pick_type(MemoryKind kind, uint32_t allowed, uint32_t* out_type) const {
  constexpr VkMemoryPropertyFlags kHost = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  const bool unified = context_.candidate().is_unified && !context_.options().staged;
  std::vector<VkMemoryPropertyFlags> wishes;
  if (kind == MemoryKind::kDevice && unified) wishes = {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | kHost};
  if (kind == MemoryKind::kDevice) wishes.insert(wishes.end(), {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0});
  if (kind == MemoryKind::kUpload) wishes = {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | kHost, kHost};
  if (kind == MemoryKind::kReadback) wishes = {VK_MEMORY_PROPERTY_HOST_CACHED_BIT | kHost, kHost};
  const VkPhysicalDeviceMemoryProperties& memory = context_.candidate().memory;
  for (const VkMemoryPropertyFlags wish : wishes) {
    for (uint32_t t = 0; t < memory.memoryTypeCount; ++t) {
      if ((allowed >> t & 1u) == 0 || (memory.memoryTypes[t].propertyFlags & wish) != wish) continue;
      *out_type = t;
      return {};
    }
  }
  return failure(GAINZ_STATUS_UNSUPPORTED, "the device has no memory of the kind that is needed");
}

Status Memory::add_block(MemoryKind kind, uint64_t bytes, const char* what, Block** out) {
  const DeviceApi& vk = context_.api();
  Block block;
  block.kind = kind;
  block.size = round_up(bytes, context_.offset_alignment());
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = block.size;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
               VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  const auto make = [&]() -> Status {
    GAINZ_VK_TRY(vk.CreateBuffer(context_.device(), &info, nullptr, &block.buffer), what);
    VkMemoryRequirements needs{};
    vk.GetBufferMemoryRequirements(context_.device(), block.buffer, &needs);
    VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, needs.size, 0};
    GAINZ_SDK_TRY(pick_type(kind, needs.memoryTypeBits, &allocate.memoryTypeIndex));
    GAINZ_VK_TRY(vk.AllocateMemory(context_.device(), &allocate, nullptr, &block.memory), what);
    GAINZ_VK_TRY(vk.BindBufferMemory(context_.device(), block.buffer, block.memory, 0), what);
    const VkMemoryPropertyFlags flags = context_.candidate().memory.memoryTypes[allocate.memoryTypeIndex].propertyFlags;
    const bool hidden = kind == MemoryKind::kDevice && context_.options().staged;
    if ((flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) == 0 || (flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) == 0 || hidden)
      return {};
    void* mapped = nullptr;
    GAINZ_VK_TRY(vk.MapMemory(context_.device(), block.memory, 0, VK_WHOLE_SIZE, 0, &mapped), what);
    block.mapped = static_cast<uint8_t*>(mapped);
    return {};
  };
  if (Status status = make(); !status.ok()) {
    destroy(block);
    return status;
  }
  block.free[0] = block.size;
  blocks_.push_back(std::move(block));
  *out = &blocks_.back();
  return {};
}

Status Memory::allocate(MemoryKind kind, uint64_t bytes, const char* what, Range* out) {
  const uint64_t size = round_up(std::max<uint64_t>(bytes, 4), context_.offset_alignment());
  const uint64_t limit = context_.options().memory_limit_bytes;
  if (limit != 0 && (size > limit || live_bytes_ > limit - size))
    return failure(GAINZ_STATUS_OUT_OF_DEVICE_MEMORY, "%s needs %llu bytes and the limit of %llu leaves %llu", what, wide(size),
                   wide(limit), wide(limit - std::min(limit, live_bytes_)));
  Block* block = nullptr;
  std::map<uint64_t, uint64_t>::iterator gap;
  for (Block& b : blocks_) {
    if (b.kind != kind || block != nullptr) continue;
    for (gap = b.free.begin(); gap != b.free.end() && gap->second < size;) ++gap;
    if (gap != b.free.end()) block = &b;
  }
  if (block == nullptr) {
    // Large ranges get a block of their own, so that it goes when they go.
    const Status status = add_block(kind, size > kBlockBytes / 4 ? size : kBlockBytes, what, &block);
    if (!status.ok())
      return failure(status.code(), "%s needs %llu bytes beside the %llu in use: %s", what, wide(size), wide(live_bytes_),
                     status.text().c_str());
    gap = block->free.begin();
  }
  out->reset();
  out->owner_ = this;
  out->block_ = block;
  out->buffer_ = block->buffer;
  out->offset_ = gap->first;
  out->size_ = size;
  out->mapped_ = block->mapped == nullptr ? nullptr : block->mapped + gap->first;
  const auto [offset, room] = *gap;
  block->free.erase(gap);
  if (room > size) block->free[offset + size] = room - size;
  live_bytes_ += size;
  return {};
}

void Memory::give_back(Block& block, uint64_t offset, uint64_t size) {
  live_bytes_ -= size;
  auto at = block.free.emplace(offset, size).first;
  if (const auto next = std::next(at); next != block.free.end() && at->first + at->second == next->first) {
    at->second += next->second;
    block.free.erase(next);
  }
  if (at != block.free.begin()) {
    if (const auto before = std::prev(at); before->first + before->second == at->first) {
      before->second += at->second;
      block.free.erase(at);
    }
  }
  if (block.free.begin()->second != block.size) return;
  destroy(block);
  blocks_.remove_if([&](const Block& b) { return &b == &block; });
}

Status Memory::prepare_transfer() {
  if (commands_ == VK_NULL_HANDLE) {
    const VkCommandPoolCreateInfo info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, nullptr,
                                       VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT, context_.queue_family()};
    if (pool_ == VK_NULL_HANDLE)
      GAINZ_VK_TRY(context_.api().CreateCommandPool(context_.device(), &info, nullptr, &pool_), "a command pool");
    const VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, pool_,
                                               VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
    GAINZ_VK_TRY(context_.api().AllocateCommandBuffers(context_.device(), &allocate, &commands_), "a command buffer");
  }
  return context_.wait_idle();
}

template <class Record>
Status Memory::transfer(Record record) {
  const DeviceApi& vk = context_.api();
  const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr,
                                       VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, nullptr};
  GAINZ_VK_TRY(vk.BeginCommandBuffer(commands_, &begin), "recording a copy");
  const VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr,
                                VK_ACCESS_MEMORY_WRITE_BIT | VK_ACCESS_MEMORY_READ_BIT,
                                VK_ACCESS_MEMORY_WRITE_BIT | VK_ACCESS_MEMORY_READ_BIT};
  constexpr VkPipelineStageFlags kAll = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
  vk.CmdPipelineBarrier(commands_, kAll, kAll, 0, 1, &barrier, 0, nullptr, 0, nullptr);
  record(vk, commands_);
  vk.CmdPipelineBarrier(commands_, kAll, kAll | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, nullptr, 0, nullptr);
  GAINZ_VK_TRY(vk.EndCommandBuffer(commands_), "recording a copy");
  uint64_t ticket = 0;
  GAINZ_SDK_TRY(context_.submit(&commands_, 1, &ticket));
  return context_.wait(ticket, UINT64_MAX);
}

Status Memory::write(const Range& range, uint64_t offset, const void* data, uint64_t bytes) {
  if (range.mapped() != nullptr) {
    GAINZ_SDK_TRY(context_.wait_idle());
    std::memcpy(range.mapped() + offset, data, bytes);
    return {};
  }
  GAINZ_SDK_TRY(prepare_transfer());
  if (staging_.size() == 0) GAINZ_SDK_TRY(allocate(MemoryKind::kReadback, kStagingBytes, "a staging buffer", &staging_));
  for (uint64_t at = 0; at < bytes; at += kStagingBytes) {
    const uint64_t piece = std::min(kStagingBytes, bytes - at);
    std::memcpy(staging_.mapped(), static_cast<const uint8_t*>(data) + at, piece);
    GAINZ_SDK_TRY(transfer([&](const DeviceApi& vk, VkCommandBuffer commands) {
      const VkBufferCopy copy{staging_.offset(), range.offset() + offset + at, piece};
      vk.CmdCopyBuffer(commands, staging_.buffer(), range.buffer(), 1, &copy);
    }));
  }
  return {};
}

Status Memory::read(const Range& range, uint64_t offset, void* data, uint64_t bytes) {
  if (range.mapped() != nullptr) {
    GAINZ_SDK_TRY(context_.wait_idle());
    std::memcpy(data, range.mapped() + offset, bytes);
    return {};
  }
  GAINZ_SDK_TRY(prepare_transfer());
  if (staging_.size() == 0) GAINZ_SDK_TRY(allocate(MemoryKind::kReadback, kStagingBytes, "a staging buffer", &staging_));
  for (uint64_t at = 0; at < bytes; at += kStagingBytes) {
    const uint64_t piece = std::min(kStagingBytes, bytes - at);
    GAINZ_SDK_TRY(transfer([&](const DeviceApi& vk, VkCommandBuffer commands) {
      const VkBufferCopy copy{range.offset() + offset + at, staging_.offset(), piece};
      vk.CmdCopyBuffer(commands, range.buffer(), staging_.buffer(), 1, &copy);
    }));
    std::memcpy(static_cast<uint8_t*>(data) + at, staging_.mapped(), piece);
  }
  return {};
}

Status Memory::clear(const Range& range) {
  GAINZ_SDK_TRY(prepare_transfer());
  return transfer([&](const DeviceApi& vk, VkCommandBuffer commands) {
    vk.CmdFillBuffer(commands, range.buffer(), range.offset(), range.size(), 0);
  });
}

}  // namespace gainz::vulkan
