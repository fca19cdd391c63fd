#include "model/tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/model/model_files.h"

namespace gainz {
namespace {

using namespace gainz::test;
using ::testing::HasSubstr;

GgufWriter::Tensor& tensor(GgufWriter& file, const std::string& name) {
  for (auto& t : file.tensors)
    if (t.name == name) return t;
  ADD_FAILURE() << name;
  return file.tensors[0];
}

void remove_tensor(GgufWriter& file, const std::string& name) {
  std::erase_if(file.tensors, [&](const auto& t) { return t.name == name; });
}

TEST(Tensors, MissingOneIsNamedWithItsShape) {
  GgufWriter file = model_file("llama", {});
  remove_tensor(file, "blk.1.attn_k.weight");
  const Status status = build_status(file);
  EXPECT_EQ(status.code(), Code::invalid);
  EXPECT_THAT(status.message(), HasSubstr("tensor blk.1.attn_k.weight is missing; expected [32, 16]"));
}

TEST(Tensors, EmbeddingIsMissing) {
  GgufWriter file = model_file("llama", {});
  remove_tensor(file, "token_embd.weight");
  EXPECT_THAT(build_status(file).message(), HasSubstr("token_embd.weight is missing"));
}

TEST(Tensors, WrongShapeNamesBothShapes) {
  GgufWriter file = model_file("llama", {});
  std::swap(tensor(file, "blk.0.ffn_up.weight").dims[0], tensor(file, "blk.0.ffn_up.weight").dims[1]);
  EXPECT_THAT(build_status(file).message(), HasSubstr("tensor blk.0.ffn_up.weight has the shape [64, 32]; expected [32, 64]"));
}

TEST(Tensors, UnusableTypeIsNamed) {
  GgufWriter file = model_file("llama", {});
  GgufWriter::Tensor& t = tensor(file, "blk.0.ffn_up.weight");
  t.type = 24;  // I8
  t.data.resize(32 * 64);
  const Status status = build_status(file);
  EXPECT_EQ(status.code(), Code::unsupported);
  EXPECT_THAT(status.message(), HasSubstr("blk.0.ffn_up.weight has the type I8"));
}

TEST(Tensors, NormsAreF32) {
  GgufWriter file = model_file("llama", {});
  GgufWriter::Tensor& t = tensor(file, "output_norm.weight");
  t.type = GAINZ_TYPE_F16;
  t.data.resize(32 * 2);
  EXPECT_THAT(build_status(file).message(), HasSubstr("output_norm.weight has the type F16; only F32"));
}

TEST(Tensors, UnexpectedOneIsRefusedByName) {
  GgufWriter file = model_file("llama", {});
  file.tensor_f32("blk.0.attn_sinks.weight", {4}, std::vector<float>(4, 0));
  const Status status = build_status(file);
  EXPECT_EQ(status.code(), Code::unsupported);
  EXPECT_THAT(status.message(), HasSubstr("tensor blk.0.attn_sinks.weight is not known"));
}

TEST(Tensors, OldRotaryTableIsIgnorable) {
  GgufWriter file = model_file("llama", {});
  file.tensor_f32("blk.0.attn_rot_embd", {4}, std::vector<float>(4, 0));
  EXPECT_TRUE(build_status(file).ok());
}

TEST(Tensors, RequiredBiasOfQwen2) {
  GgufWriter file = model_file("qwen2", {});
  remove_tensor(file, "blk.0.attn_q.bias");
  EXPECT_THAT(build_status(file).message(), HasSubstr("tensor blk.0.attn_q.bias is missing"));
}

TEST(Tensors, TiedHeadIsOneValue) {
  GgufWriter file = model_file("llama", {});
  remove_tensor(file, "output.weight");
  const Bytes bytes = file.bytes();
  const auto gguf = Gguf::parse(bytes, {});
  ASSERT_TRUE(gguf.ok());
  Graph graph;
  Tensors tensors(**gguf, graph);
  EXPECT_EQ(tensors.matrix("token_embd.weight", {32, 48}), tensors.matrix("token_embd.weight", {32, 48}));
  EXPECT_EQ(tensors.optional_vector("nothing", 4), kNoValue);
  EXPECT_TRUE(build_status(file).ok());
}

}  // namespace
}  // namespace gainz
