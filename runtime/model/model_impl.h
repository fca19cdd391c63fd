// ModelImpl: the Model over parts on a backend and, where the backend leaves nodes, the scalar fallback. See model.h.
#pragma once

#include "model/architecture.h"
#include "model/model.h"
#include "model/part_runner.h"

namespace gainz {

// What Model::load found before it chose a backend; shared by the attempts.
struct LoadedFile {
  std::shared_ptr<const Gguf> file;
  std::shared_ptr<const Blueprint> blueprint;
  ModelInfo info;
};

// Opens the file, reads its hyperparameters and builds its graph. Errors name file, key or tensor.
Result<LoadedFile> load_file(const ModelOptions& options);

class ModelImpl : public Model {
 public:
  // Claims, cuts and packs on device 0 of the plugin. Errors: the plugin's, and those of partition.h.
  static Result<std::unique_ptr<Model>> create(const Services& services, const LoadedFile& loaded,
                                               std::shared_ptr<PluginLibrary> plugin, const ModelOptions& options);
  ~ModelImpl() override;

  const ModelInfo& info() const override { return loaded_.info; }
  std::shared_ptr<const Gguf> file() const override { return loaded_.file; }
  const DeviceInfo& device() const override { return device_->info(); }
  uint32_t num_scalar_nodes() const override { return num_scalar_nodes_; }
  uint64_t weight_bytes() const override { return weight_bytes_; }
  bool supports_kv_type(uint32_t type) const override;
  Status prepare(uint32_t k_type, uint32_t v_type, std::span<const uint32_t> num_pages, const gainz_bucket& bucket) override;
  Status copy_pages(uint32_t group, std::span<const gainz_page_copy> copies) override;
  Status begin(const StepArrays& step) override;
  Result<bool> advance() override;
  uint32_t num_slices() const override { return num_slices_; }

 private:
  ModelImpl(const Services& services, const LoadedFile& loaded) : services_(services), loaded_(loaded) {}
  Result<std::vector<uint8_t>> claim(const ModelOptions& options);
  Status open_fallback(const PluginHost& host);
  Status pack(const ModelOptions& options, std::span<const uint8_t> claims);
  Status make_buffers();
  Status check_step(const StepArrays& step) const;
  void fill_part(PartRunner& runner, const StepArrays& step);

  // A value that crosses a cut: where its rows lie. Values that never live at once share memory.
  struct Cut {
    void* data = nullptr;
    uint64_t row_bytes = 0;
  };

  const Services& services_;
  LoadedFile loaded_;
  std::shared_ptr<Device> device_, fallback_;
  std::vector<std::unique_ptr<PartRunner>> parts_;
  std::vector<Cut> cuts_;  // by value of the whole graph
  std::vector<Memory> buffers_;
  gainz_bucket bucket_{};
  uint32_t num_scalar_nodes_ = 0, num_slices_ = 0;
  uint64_t weight_bytes_ = 0;
  bool is_prepared_ = false, is_running_ = false;
  size_t part_ = 0;     // of the step in progress
  uint32_t slice_ = 0;  // of that part
};

}  // namespace gainz
