// What the tests of the plugin "vulkan" share: the software device, chosen by naming its ICD; a host that keeps what the
// validation layers say and fails the test with it; toy answers. Skips, with a printed reason, where there is no such device.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "support/plugin_harness.h"
#include "support/sanitized.h"

namespace gainz::test {

using Rows = std::vector<std::vector<float>>;
using OptionList = std::vector<std::pair<std::string, std::string>>;

// Names the software device's ICD to the loader; "" where it is not installed.
inline std::string software_driver() {
  for (const char* folder : {"/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d"}) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
      const std::string name = entry.path().filename();
      if (name.rfind("lvp_icd", 0) == 0 && entry.path().extension() == ".json") return entry.path();
    }
  }
  return "";
}

// Both shapes of kernels. A sanitizer sees the host's code, which is the same for both, and drivers compile slowly under it.
inline std::vector<const char*> profiles() {
  if (kSanitized) return {"cpu"};
  return {"cpu", "gpu"};
}

class VulkanTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string driver = software_driver();
    if (driver.empty()) GTEST_SKIP() << "no ICD of the software device (lvp_icd*.json): install mesa-vulkan-drivers";
    setenv("VK_DRIVER_FILES", driver.c_str(), 1);
    setenv("VK_ICD_FILENAMES", driver.c_str(), 1);
    host_.mutable_host()->log = [](void*, uint32_t level, const char* text) {
      const std::lock_guard lock(log_mutex());
      log_lines().push_back(std::to_string(level) + " " + text);
    };
    log_lines().clear();
    plugin_ = std::make_unique<Plugin>(host_, plugin_path(GAINZ_BUILD_DIR, "vulkan"));
    reference_ = std::make_unique<Plugin>(host_, plugin_path(GAINZ_BUILD_DIR, "reference"));
    try {
      Device device(*plugin_, {{"validation", "on"}});
      validation_ = {{"validation", "on"}};
    } catch (const std::exception& e) {
      std::printf("[ NOTE ] without validation layers: %s\n", e.what());
    }
  }
  void TearDown() override {
    for (const std::string& line : log_lines()) EXPECT_EQ(line.find("validation: "), std::string::npos) << line;
  }
  static std::vector<std::string>& log_lines() {
    static std::vector<std::string> lines;
    return lines;
  }
  static std::mutex& log_mutex() {
    static std::mutex mutex;
    return mutex;
  }

  OptionList with(OptionList options) const {
    options.insert(options.end(), validation_.begin(), validation_.end());
    return options;
  }
  // The logits of all tokens, `chunk` a step.
  Rows answer(const Plugin& plugin, const ToyShape& shape, const RunnerOptions& options, const std::vector<int32_t>& tokens,
              size_t chunk, const OptionList& device_options = {}) {
    Device device(plugin, &plugin == plugin_.get() ? with(device_options) : OptionList{});
    GraphBuilder graph;
    build_toy(&graph, shape);
    Runner runner(device, &graph, options);
    Conversation c = runner.begin();
    return runner.feed(&c, tokens, chunk);
  }
  static double worst(const Rows& a, const Rows& b) {
    double worst = 0;
    for (size_t r = 0; r < a.size(); ++r) {
      const double error = relative_error(a[r], b[r]);
      worst = std::isnan(error) ? 1e9 : std::max(worst, error);
    }
    return worst;
  }

  TestHost host_{2};
  std::unique_ptr<Plugin> plugin_, reference_;
  OptionList validation_;
};

}  // namespace gainz::test
