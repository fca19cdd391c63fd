// Program: a plan, recorded. Each of a few slots holds everything that differs from run to run (the step's arrays, what is read
// back, command buffers over them), so that a run only fills a slot and queues it. Owner: the opened device. Threads:
// [device-thread]; finish under the device's lock.
#pragma once

#include "plan.h"

namespace gainz::vulkan {

class Program {
 public:
  Program(Context& context, Memory& memory, Pipelines& pipelines, const Model& model, Kv* kv)
      : context_(context), memory_(memory), pipelines_(pipelines), model_(model), kv_(kv) {}
  ~Program();
  Status create(const gainz_bucket& bucket);
  void describe(gainz_program_info* out_info) const;

  // BUSY where every slot waits for the device.
  Status run(const gainz_step& step, uint32_t first_slice, uint32_t num_slices, uint64_t* out_ticket);
  // Copies the outputs of steps that are done to where their callers want them.
  void finish(uint64_t done_ticket);

 private:
  static constexpr uint32_t kNumSlots = 2;  // steps in the queue at once
  struct Slot {
    Range step, outputs;
    std::vector<VkCommandBuffer> commands;  // [num_slices]
    uint64_t ticket = 0;                    // of the last slice that was queued; 0: the slot is free
    bool is_whole = false;                  // its last slice was queued: outputs are wanted
    std::vector<gainz_buffer> outputs_to;   // [num_outputs]
    uint32_t num_tokens = 0, num_rows = 0;
  };

  Status make_slot(Slot* slot);
  Status make_sets(const Slot& slot, VkDescriptorSet* sets);
  Status record(const Slot& slot, const VkDescriptorSet* sets);
  void fill(const gainz_step& step, Slot* slot);
  void fill_pages(const gainz_step& step, uint32_t* words) const;
  void fill_ropes(const gainz_step& step, float* words) const;
  void fill_counts(const gainz_step& step, uint32_t* words) const;
  void copy_out(Slot& slot);

  // step_check.cc: INVALID says what is wrong; nothing is touched.
  Status check(const gainz_step& step) const;
  Status check_sequences(const gainz_step& step) const;
  Status check_pages(const gainz_step& step) const;
  Status check_buffer(const gainz_buffer& buffer, uint32_t value, uint32_t rows, bool optional) const;
  Status check_buffers(const gainz_step& step) const;

  Context& context_;
  Memory& memory_;
  Pipelines& pipelines_;
  const Model& model_;
  Kv* kv_;
  gainz_bucket bucket_{};
  Plan plan_;
  Range arena_;
  VkDescriptorPool sets_pool_ = VK_NULL_HANDLE;
  VkCommandPool commands_pool_ = VK_NULL_HANDLE;
  Slot slots_[kNumSlots];
  Slot* current_ = nullptr;  // of the step under way
  uint32_t next_slice_ = 0;
  uint32_t vocabulary_ = UINT32_MAX;
  gainz_step step_{};  // its counts
};

}  // namespace gainz::vulkan
