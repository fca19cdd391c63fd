// PartRunner: one part of a model on its device: the packed weights, the pages of its layers, its program and the step it is
// given.
//
// Owner: the Model. Threads: one at a time. What a plugin answers is checked here: a null handle with OK, impossible slice
// counts, tickets that do not rise, a slice that never ends. Errors: the plugin's, or internal naming backend and function.
#pragma once

#include <memory>

#include "device/device.h"
#include "model/partition.h"
#include "model/weights.h"

namespace gainz {

// The tickets of a device must rise; one for each opened device.
struct TicketOrder {
  uint64_t last = 0;
  bool is_any = false;
};

class PartRunner {
 public:
  static Result<std::unique_ptr<PartRunner>> create(Part part, std::shared_ptr<Device> device,
                                                    std::shared_ptr<TicketOrder> order, const Weights& weights);
  ~PartRunner();
  PartRunner(const PartRunner&) = delete;
  PartRunner& operator=(const PartRunner&) = delete;

  // num_pages[groups of the whole graph]. Once.
  Status prepare(uint32_t k_type, uint32_t v_type, std::span<const uint32_t> num_pages, const gainz_bucket& bucket);
  Status copy_pages(uint32_t whole_group, std::span<const gainz_page_copy> copies);  // nothing where the group is not here
  Status run_slice(uint32_t slice);                                                  // of `step`; waits until it is done

  const Part& part() const { return part_; }
  uint32_t num_slices() const { return num_slices_; }
  uint64_t weight_bytes() const { return weight_bytes_; }

  // What run_slice hands over; the arrays of inputs, outputs and pages are those below.
  gainz_step step{};
  std::vector<gainz_buffer> inputs, outputs;  // by input and output of the part
  std::vector<gainz_step_pages> pages;        // by page group of the part

 private:
  PartRunner(Part part, std::shared_ptr<Device> device, std::shared_ptr<TicketOrder> order);
  Status fault(const char* function, const std::string& text) const;
  Status create_kv(uint32_t k_type, uint32_t v_type, std::span<const uint32_t> num_pages);

  Part part_;
  std::shared_ptr<Device> device_;
  std::shared_ptr<TicketOrder> order_;
  gainz_model* model_ = nullptr;
  gainz_kv* kv_ = nullptr;
  gainz_program* program_ = nullptr;
  uint32_t num_slices_ = 0;
  uint64_t weight_bytes_ = 0;
};

}  // namespace gainz
