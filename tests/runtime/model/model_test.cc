#include "model/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "runtime/model/model_files.h"
#include "support/run_model.h"
#include "support/tiny_model.h"

namespace gainz {
namespace {

using namespace gainz::test;
using ::testing::HasSubstr;

struct Expected {
  std::vector<int32_t> ids;
  std::vector<std::pair<size_t, std::vector<float>>> rows;
};

std::vector<Expected> read_expected(const std::string& path) {
  std::vector<Expected> out;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "ids") {
      out.emplace_back();
      for (int32_t id = 0; words >> id;) out.back().ids.push_back(id);
    } else if (kind == "row") {
      size_t row = 0;
      words >> row;
      out.back().rows.emplace_back(row, std::vector<float>());
      for (float x = 0; words >> x;) out.back().rows.back().second.push_back(x);
    }
  }
  return out;
}

class References : public ::testing::TestWithParam<const char*> {};

// Logits of an independent program on the same file: relative L2 error at most 1e-4 at every listed position, whatever the
// chunks.
TEST_P(References, LogitsAgree) {
  const std::string base = std::string(GAINZ_TEST_DATA "/model/") + GetParam();
  const auto expected = read_expected(base + ".logits");
  ASSERT_EQ(expected.size(), 3u);
  ModelHost host(2);
  auto model = load_model(host, base + ".gguf", "reference");
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_TRUE(prepare_model(**model, {}).ok());
  for (const Expected& e : expected) {
    const auto whole = run_model(**model, e.ids, {});
    RunOptions in_chunks;
    in_chunks.chunk = 5;
    const auto chunked = run_model(**model, e.ids, in_chunks);
    ASSERT_TRUE(whole.ok() && chunked.ok()) << whole.status().message() << chunked.status().message();
    EXPECT_EQ(*whole, *chunked) << "chunks change bits";
    for (const auto& [row, logits] : e.rows)
      EXPECT_LE(relative_l2(whole->data() + row * logits.size(), logits.data(), logits.size()), 1e-4) << "row " << row;
  }
}

INSTANTIATE_TEST_SUITE_P(Model, References, ::testing::Values("qwen2", "mistral-mha-tied"), [](const auto& param) {
  std::string name = param.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

struct ModelTest : ::testing::Test {
  ModelTest() : path(temporary_path("tiny.gguf")) { EXPECT_TRUE(write_tiny_model(path, {})); }
  ~ModelTest() override { std::remove(path.c_str()); }
  ModelHost host;
  std::string path;
};

TEST_F(ModelTest, InfoSaysWhatTheFileSays) {
  auto loaded = load_model(host, path, "reference");
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  const ModelInfo& info = (*loaded)->info();
  EXPECT_EQ(info.architecture, "llama");
  EXPECT_EQ(info.name, "gainz tiny");
  EXPECT_EQ(info.vocab_size, kTinyVocab);
  EXPECT_EQ(info.num_layers, 2u);
  EXPECT_EQ(info.embedding_length, 64u);
  EXPECT_EQ(info.context_length, 512u);
  EXPECT_EQ(info.num_tensors, (*loaded)->file()->tensors().size());
  const uint64_t layer = 64 * 64 * 2 + 64 * 32 * 2 + 64 * 128 * 3, head = uint64_t{kTinyVocab} * 64;
  EXPECT_EQ(info.num_parameters, 2 * (layer + 2 * 64) + head + 64);
  EXPECT_EQ(info.ops_per_token, 2 * (2 * layer + head));
  // Q8_0: 34 bytes for 32 weights; the tied table is read once, as the head.
  EXPECT_EQ(info.weight_bytes_per_token, (2 * layer + head) / 32 * 34 + (2 * 2 + 1) * 64 * 4);
  ASSERT_EQ(info.page_groups.size(), 1u);
  EXPECT_EQ(info.page_groups[0].num_layers, 2u);
  EXPECT_EQ((*loaded)->device().backend, "reference");
  EXPECT_EQ((*loaded)->num_scalar_nodes(), 0u);
  EXPECT_TRUE((*loaded)->supports_kv_type(GAINZ_TYPE_F32));
  EXPECT_FALSE((*loaded)->supports_kv_type(GAINZ_TYPE_Q4_K));
  EXPECT_FALSE((*loaded)->supports_kv_type(99));
}

TEST_F(ModelTest, ReadInsteadOfMapped) {
  ModelOptions options;
  options.path = path;
  options.backend = "reference";
  std::vector<std::vector<float>> logits;
  for (const bool use_mmap : {true, false}) {
    options.use_mmap = use_mmap;
    auto model = Model::load(host.services, host.plugins, options);
    ASSERT_TRUE(model.ok()) << model.status().message();
    ASSERT_TRUE(prepare_model(**model, {}).ok());
    logits.push_back(*run_model(**model, {1, 70, 80, 90}, {}));
  }
  EXPECT_EQ(logits[0], logits[1]);
}

TEST_F(ModelTest, ErrorsNameFileAndReason) {
  EXPECT_THAT(load_model(host, "/nowhere/x.gguf", "reference").status().message(), HasSubstr("/nowhere/x.gguf"));
  EXPECT_EQ(load_model(host, "", "reference").status().code(), Code::invalid);
  GgufWriter file = model_file("llama", {});
  set_string(file, "general.architecture", "rwkv");
  const std::string other = write_temporary(file, "rwkv.gguf");
  const Status status = load_model(host, other, "reference").status();
  std::remove(other.c_str());
  EXPECT_THAT(status.message(), HasSubstr(other));
  EXPECT_THAT(status.message(), HasSubstr("architecture rwkv is not known"));
}

TEST_F(ModelTest, ErrorsNameTheBackend) {
  EXPECT_EQ(load_model(host, path, "tpu").status().code(), Code::not_found);
  EXPECT_THAT(load_model(host, path, "tpu").status().message(), HasSubstr("backend \"tpu\""));
  EXPECT_EQ(load_model(host, path, "").status().code(), Code::invalid);
  EXPECT_THAT(load_model(host, path, "reference", "maybe").status().message(), HasSubstr("fallback is \"maybe\""));
  ModelHost empty(1, false);
  const Status status = load_model(empty, path, "auto").status();
  EXPECT_EQ(status.code(), Code::unsupported);
  EXPECT_THAT(status.message(), HasSubstr("there is no plugin"));
}

TEST_F(ModelTest, UnknownDeviceOptionIsRefused) {
  ModelOptions options;
  options.path = path;
  options.backend = "reference";
  options.device_options = {{"turbo", "yes"}};
  EXPECT_THAT(Model::load(host.services, host.plugins, options).status().message(), HasSubstr("turbo"));
}

TEST_F(ModelTest, AutoFallsThroughToOneThatServes) {
  auto model = load_model(host, path, "auto");
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_FALSE((*model)->device().backend.empty());
}

TEST_F(ModelTest, ProgressRisesAndCanStop) {
  ModelOptions options;
  options.path = path;
  options.backend = "reference";
  std::vector<double> seen;
  options.progress = [&](const char*, double fraction) {
    seen.push_back(fraction);
    return true;
  };
  ASSERT_TRUE(Model::load(host.services, host.plugins, options).ok());
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.back(), 1.0);
  const size_t num_calls = seen.size();
  for (const char* backend : {"reference", "auto"}) {
    for (size_t stop = 0; stop < num_calls; ++stop) {
      size_t calls = 0;
      options.backend = backend;
      options.progress = [&](const char*, double) { return calls++ != stop; };
      EXPECT_EQ(Model::load(host.services, host.plugins, options).status().code(), Code::cancelled) << backend << " " << stop;
    }
    if (num_calls > 8) break;
  }
}

TEST_F(ModelTest, HiddenRowsComeWithTheLogits) {
  auto model = load_model(host, path, "reference");
  ASSERT_TRUE(model.ok());
  ASSERT_TRUE(prepare_model(**model, {}).ok());
  std::vector<float> hidden;
  RunOptions options;
  options.hidden = &hidden;
  const auto logits = run_model(**model, {5, 6, 7}, options);
  ASSERT_TRUE(logits.ok()) << logits.status().message();
  EXPECT_EQ(hidden.size(), 3u * 64);
  EXPECT_EQ(*logits, *run_model(**model, {5, 6, 7}, {}));
  EXPECT_NE(hidden, std::vector<float>(hidden.size(), 0.0f));
}

}  // namespace
}  // namespace gainz
