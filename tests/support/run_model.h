// What tests of several folders use to run a Model without the engine: a runtime's services and plugins, and logits of token
// ids on pages laid out one after another. Owner: the test. Threads: one at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/services.h"
#include "device/plugin_registry.h"
#include "model/model.h"

namespace gainz::test {

// Services, the host table and the plugins of the build folder (or none).
struct ModelHost {
  explicit ModelHost(uint32_t num_threads = 1, bool with_built_plugins = true);
  static std::string plugin_folder();  // of this build

  Services services;
  PluginHost host;
  PluginRegistry plugins;
  std::vector<std::string> log;  // lines "warning ..." and "error ..."
};

struct RunOptions {
  uint32_t chunk = 0;  // tokens a step; 0: all in one
  uint32_t max_tokens = 512, max_pages = 64;
  uint32_t kv_type = GAINZ_TYPE_F32;
  uint32_t first_page = 1;  // of the sequence, in every group
  bool every_row = true;    // false: only the last token's row
  std::vector<float>* hidden = nullptr;
};

Result<std::unique_ptr<Model>> load_model(ModelHost& host, const std::string& path, const std::string& backend,
                                          const std::string& fallback = "error");
// prepare() for one sequence at a time, as run_model needs it.
Status prepare_model(Model& model, const RunOptions& options);
// Logits [rows, vocab_size] of one sequence, as prompt tokens.
Result<std::vector<float>> run_model(Model& model, const std::vector<int32_t>& ids, const RunOptions& options);

// sqrt(sum (a - b)^2 / sum b^2)
double relative_l2(const float* a, const float* b, size_t count);

}  // namespace gainz::test
