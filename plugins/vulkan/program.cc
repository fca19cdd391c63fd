#include "program.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace gainz::vulkan {

namespace {
constexpr uint32_t kMaxBucket = 1u << 16;  // tokens, sequences, pages a sequence
constexpr VkPipelineStageFlags kWork = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
constexpr VkAccessFlags kTouch =
    VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
}  // namespace

Program::~Program() {
  if (sets_pool_ == VK_NULL_HANDLE && commands_pool_ == VK_NULL_HANDLE) return;
  context_.settle();
  context_.api().DestroyDescriptorPool(context_.device(), sets_pool_, nullptr);
  context_.api().DestroyCommandPool(context_.device(), commands_pool_, nullptr);
}

Status Program::create(const gainz_bucket& bucket) {
  bucket_ = bucket;
  const sdk::Graph& graph = model_.graph();
  if (bucket.max_tokens == 0 || bucket.max_sequences == 0 || bucket.max_output_rows > bucket.max_tokens ||
      bucket.uniform_query_length > bucket.max_tokens ||
      (graph.has_kv() && (kv_ == nullptr || bucket.max_pages_per_sequence == 0)))
    return failure(GAINZ_STATUS_INVALID, "a bucket of %u tokens, %u sequences, %u output rows, %u pages a sequence, kv %s",
                   bucket.max_tokens, bucket.max_sequences, bucket.max_output_rows, bucket.max_pages_per_sequence,
                   kv_ == nullptr ? "absent" : "present");
  if (bucket.max_tokens > kMaxBucket || bucket.max_sequences > kMaxBucket || bucket.max_pages_per_sequence > kMaxBucket)
    return failure(GAINZ_STATUS_LIMIT_EXCEEDED, "a bucket beyond %u tokens, sequences or pages a sequence", kMaxBucket);
  for (const sdk::Node& node : graph.nodes)
    if (node.op == GAINZ_OP_EMBED) vocabulary_ = std::min(vocabulary_, static_cast<uint32_t>(node.input(0).dims[1]));
  GAINZ_SDK_TRY(plan_.make(context_, model_, kv_, bucket));
  for (Dispatch& d : plan_.dispatches) GAINZ_SDK_TRY(pipelines_.get(d.shader, d.constants, &d.pipeline));
  pipelines_.save();
  GAINZ_SDK_TRY(memory_.allocate(MemoryKind::kDevice, plan_.arena_bytes, "a program's scratch", &arena_));
  GAINZ_SDK_TRY(memory_.clear(arena_));

  const DeviceApi& vk = context_.api();
  const auto num_sets = static_cast<uint32_t>(std::max<size_t>(1, plan_.dispatches.size() * kNumSlots));
  const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, num_sets * kNumBindings};
  const VkDescriptorPoolCreateInfo sets{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, nullptr, 0, num_sets, 1, &size};
  GAINZ_VK_TRY(vk.CreateDescriptorPool(context_.device(), &sets, nullptr, &sets_pool_), "a descriptor pool");
  const VkCommandPoolCreateInfo commands{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, nullptr, 0, context_.queue_family()};
  GAINZ_VK_TRY(vk.CreateCommandPool(context_.device(), &commands, nullptr, &commands_pool_), "a command pool");
  for (Slot& slot : slots_) GAINZ_SDK_TRY(make_slot(&slot));
  return {};
}

Status Program::make_slot(Slot* slot) {
  GAINZ_SDK_TRY(memory_.allocate(MemoryKind::kUpload, plan_.step.num_words * 4, "a step's arrays", &slot->step));
  GAINZ_SDK_TRY(memory_.allocate(MemoryKind::kReadback, plan_.output_bytes, "a step's outputs", &slot->outputs));
  slot->outputs_to.resize(model_.graph().outputs.size());
  slot->commands.resize(plan_.slice_cost.size());
  const VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, commands_pool_,
                                             VK_COMMAND_BUFFER_LEVEL_PRIMARY, static_cast<uint32_t>(slot->commands.size())};
  GAINZ_VK_TRY(context_.api().AllocateCommandBuffers(context_.device(), &allocate, slot->commands.data()), "command buffers");
  std::vector<VkDescriptorSet> sets(plan_.dispatches.size());
  GAINZ_SDK_TRY(make_sets(*slot, sets.data()));
  return record(*slot, sets.data());
}

Status Program::make_sets(const Slot& slot, VkDescriptorSet* sets) {
  const DeviceApi& vk = context_.api();
  const std::vector<VkDescriptorSetLayout> layouts(plan_.dispatches.size(), pipelines_.set_layout());
  const VkDescriptorSetAllocateInfo allocate{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, nullptr, sets_pool_,
                                             static_cast<uint32_t>(layouts.size()), layouts.data()};
  if (layouts.empty()) return {};
  GAINZ_VK_TRY(vk.AllocateDescriptorSets(context_.device(), &allocate, sets), "descriptor sets");
  for (size_t i = 0; i < plan_.dispatches.size(); ++i) {
    VkDescriptorBufferInfo buffers[kNumBindings];
    VkWriteDescriptorSet writes[kNumBindings];
    uint32_t count = 0;
    for (uint32_t b = 0; b < kNumBindings; ++b) {
      const BufferRef& ref = plan_.dispatches[i].buffers[b];
      const Range* range = ref.where == BufferRef::kFixed     ? ref.range
                           : ref.where == BufferRef::kArena   ? &arena_
                           : ref.where == BufferRef::kStep    ? &slot.step
                           : ref.where == BufferRef::kOutputs ? &slot.outputs
                                                              : nullptr;
      if (range == nullptr) continue;
      buffers[count] = {range->buffer(), range->offset() + ref.offset, std::min(ref.size, range->size() - ref.offset)};
      writes[count] = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, nullptr, sets[i],         b,      0, 1,
                       VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,      nullptr, &buffers[count], nullptr};
      ++count;
    }
    vk.UpdateDescriptorSets(context_.device(), count, writes, 0, nullptr);
  }
  return {};
}

Status Program::record(const Slot& slot, const VkDescriptorSet* sets) {
  const DeviceApi& vk = context_.api();
  const VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, kTouch, kTouch};
  const VkMemoryBarrier to_host{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, kTouch, VK_ACCESS_HOST_READ_BIT};
  const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, nullptr, 0, nullptr};
  for (size_t s = 0; s < slot.commands.size(); ++s) {
    VkCommandBuffer commands = slot.commands[s];
    GAINZ_VK_TRY(vk.BeginCommandBuffer(commands, &begin), "recording a slice");
    for (uint32_t d = plan_.slices[s]; d < plan_.slices[s + 1]; ++d) {
      const Dispatch& dispatch = plan_.dispatches[d];
      if (dispatch.barrier || d == plan_.slices[s])
        vk.CmdPipelineBarrier(commands, kWork, kWork, 0, 1, &barrier, 0, nullptr, 0, nullptr);
      if (d == plan_.slices[s] || plan_.dispatches[d - 1].pipeline != dispatch.pipeline)
        vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, dispatch.pipeline);
      vk.CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipelines_.layout(), 0, 1, &sets[d], 0, nullptr);
      vk.CmdPushConstants(commands, pipelines_.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0, kPushWords * 4, dispatch.push.data());
      vk.CmdDispatchIndirect(commands, slot.step.buffer(), slot.step.offset() + (plan_.step.counts + 3ull * d) * 4);
    }
    if (s + 1 == slot.commands.size())
      vk.CmdPipelineBarrier(commands, kWork, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host, 0, nullptr, 0, nullptr);
    GAINZ_VK_TRY(vk.EndCommandBuffer(commands), "recording a slice");
  }
  return {};
}

void Program::describe(gainz_program_info* out_info) const {
  out_info->num_slices = static_cast<uint32_t>(plan_.slice_cost.size());
  out_info->slice_cost = plan_.slice_cost.data();
  out_info->memory_bytes = arena_.size();
  for (const Slot& slot : slots_) out_info->memory_bytes += slot.step.size() + slot.outputs.size();
}

Status Program::run(const gainz_step& step, uint32_t first_slice, uint32_t num_slices, uint64_t* out_ticket) {
  const auto all = static_cast<uint32_t>(plan_.slice_cost.size());
  if (num_slices == 0 || first_slice >= all || num_slices > all - first_slice ||
      (first_slice != 0 && first_slice != next_slice_))
    return failure(GAINZ_STATUS_INVALID, "slices %u to %u of %u, where %u is next", first_slice, first_slice + num_slices, all,
                   next_slice_);
  if (first_slice != 0 && (current_ == nullptr || step.num_tokens != step_.num_tokens ||
                           step.num_sequences != step_.num_sequences || step.num_output_rows != step_.num_output_rows))
    return failure(GAINZ_STATUS_INVALID, "slice %u comes with another step than slice 0", first_slice);
  GAINZ_SDK_TRY(check(step));
  if (first_slice == 0) {
    uint64_t done = 0;
    GAINZ_SDK_TRY(context_.done_ticket(&done));
    finish(done);
    Slot* free = nullptr;
    for (Slot& slot : slots_)
      if (slot.ticket == 0) free = &slot;
    if (free == nullptr) return failure(GAINZ_STATUS_BUSY, "%u steps of this program are in the queue", kNumSlots);
    next_slice_ = 0;
    current_ = free;
    fill(step, free);
    step_ = step;
  }
  GAINZ_SDK_TRY(context_.submit(current_->commands.data() + first_slice, num_slices, out_ticket));
  current_->ticket = *out_ticket;
  current_->is_whole = first_slice + num_slices == all;
  next_slice_ = current_->is_whole ? 0 : first_slice + num_slices;
  if (current_->is_whole) current_ = nullptr;
  return {};
}

void Program::finish(uint64_t done_ticket) {
  for (Slot& slot : slots_) {
    // A step under way keeps its slot between its slices.
    if (slot.ticket == 0 || slot.ticket > done_ticket || (&slot == current_ && next_slice_ != 0)) continue;
    if (slot.is_whole) copy_out(slot);
    slot.ticket = 0;
    slot.is_whole = false;
  }
}

void Program::copy_out(Slot& slot) {
  const sdk::Graph& graph = model_.graph();
  for (size_t o = 0; o < graph.outputs.size(); ++o) {
    const gainz_buffer& to = slot.outputs_to[o];
    const uint32_t v = graph.outputs[o];
    if (to.data == nullptr) continue;
    const Storage& s = plan_.storages[plan_.places[v].storage];
    const uint8_t* from = (s.where == BufferRef::kStep ? slot.step.mapped() : slot.outputs.mapped()) + s.offset;
    const uint32_t rows = graph.values[v].rows == GAINZ_ROWS_OUTPUTS ? slot.num_rows : slot.num_tokens;
    for (uint32_t r = 0; r < rows; ++r)
      std::memcpy(static_cast<uint8_t*>(to.data) + r * to.row_stride_bytes, from + r * s.stride * 4,
                  graph.values[v].cols() * 4);
  }
}

void Program::fill(const gainz_step& step, Slot* slot) {
  auto* words = reinterpret_cast<uint32_t*>(slot->step.mapped());
  const sdk::Graph& graph = model_.graph();
  slot->num_tokens = step.num_tokens;
  slot->num_rows = step.num_output_rows;
  words[kHeaderTokens] = step.num_tokens;
  words[kHeaderRows] = step.num_output_rows;
  words[kHeaderMasks] = step.logit_masks != nullptr ? 1 : 0;
  words[3] = 0;
  if (step.tokens != nullptr) std::memcpy(words + plan_.step.tokens, step.tokens, step.num_tokens * 4ull);
  std::memcpy(words + plan_.step.positions, step.positions, step.num_tokens * 4ull);
  if (step.num_output_rows != 0) std::memcpy(words + plan_.step.output_rows, step.output_rows, step.num_output_rows * 4ull);
  for (uint32_t s = 0; s < step.num_sequences; ++s)
    std::fill(words + plan_.step.sequences + step.query_offsets[s], words + plan_.step.sequences + step.query_offsets[s + 1],
              s);
  for (uint32_t r = 0; step.logit_masks != nullptr && r < step.num_output_rows; ++r)
    std::memcpy(words + plan_.step.masks + uint64_t{r} * plan_.step.mask_words, step.logit_masks + r * step.logit_mask_stride,
                plan_.step.mask_words * 4ull);
  if (kv_ != nullptr) fill_pages(step, words);
  fill_ropes(step, reinterpret_cast<float*>(words));
  for (size_t o = 0; o < graph.outputs.size(); ++o) slot->outputs_to[o] = at_stride(step.outputs, step.buffer_stride, o);
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const gainz_buffer& from = at_stride(step.inputs, step.buffer_stride, i);
    const sdk::Value& value = graph.values[graph.inputs[i]];
    const Storage& s = plan_.storages[plan_.places[graph.inputs[i]].storage];
    const uint32_t rows = value.rows == GAINZ_ROWS_OUTPUTS ? step.num_output_rows : step.num_tokens;
    for (uint32_t r = 0; r < rows; ++r)
      std::memcpy(slot->step.mapped() + s.offset + r * s.stride * 4,
                  static_cast<const uint8_t*>(from.data) + r * from.row_stride_bytes, value.cols() * 4);
  }
  fill_counts(step, words + plan_.step.counts);
}

void Program::fill_pages(const gainz_step& step, uint32_t* words) const {
  for (size_t g = 0; g < plan_.step.groups.size(); ++g) {
    const gainz_step_pages& pages = at_stride(step.pages, step.pages_stride, g);
    std::memcpy(words + plan_.step.groups[g].slots, pages.slots, step.num_tokens * 4ull);
    for (uint32_t s = 0; s < step.num_sequences; ++s)
      std::memcpy(words + plan_.step.groups[g].table + uint64_t{s} * bucket_.max_pages_per_sequence,
                  pages.page_table + s * pages.page_table_stride, parts_of(step.context_lengths[s], GAINZ_PAGE_TOKENS) * 4);
  }
}

// The angles as sdk/reference/rope.cc takes them: in f32, cosine and sine in double.
void Program::fill_ropes(const gainz_step& step, float* words) const {
  for (const RopeTable& table : plan_.ropes) {
    const uint32_t half = table.attr.rotary_dim / 2;
    const float magnitude = table.attr.magnitude == 0.0f ? 1.0f : table.attr.magnitude;
    for (uint32_t t = 0; t < step.num_tokens; ++t) {
      float* row = words + table.offset + uint64_t{t} * table.attr.rotary_dim;
      for (uint32_t i = 0; i < half; ++i) {
        const float angle = static_cast<float>(step.positions[t]) * table.inverse[i];
        row[i] = static_cast<float>(std::cos(static_cast<double>(angle))) * magnitude;
        row[half + i] = static_cast<float>(std::sin(static_cast<double>(angle))) * magnitude;
      }
    }
  }
}

// What nobody wants gets no workgroups.
void Program::fill_counts(const gainz_step& step, uint32_t* words) const {
  uint64_t wanted = kMaskAlways;
  for (size_t o = 0; o < model_.graph().outputs.size(); ++o)
    if (at_stride(step.outputs, step.buffer_stride, o).data != nullptr)
      wanted |= 1ull << std::min<size_t>(o, kMaxMaskedOutputs);
  for (const Dispatch& d : plan_.dispatches) {
    const uint32_t rows = d.domain == GAINZ_ROWS_OUTPUTS ? step.num_output_rows : step.num_tokens;
    *words++ = d.groups_x;
    *words++ = (d.mask & wanted) != 0 ? d.groups_y(rows) : 0;
    *words++ = 1;
  }
}

}  // namespace gainz::vulkan
