// The tiny model: the reader takes it in every type, and its bytes never change.
#include "support/tiny_model.h"

#include <map>

#include "gguf/tensor_type.h"
#include "runtime/gguf/gguf_test_util.h"

namespace gainz::test {

namespace {

uint64_t hash_of(const Bytes& bytes) {  // FNV-1a
  uint64_t hash = 0xcbf29ce484222325u;
  for (const std::byte byte : bytes) hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001b3u;
  return hash;
}

TEST(TinyModel, opens_in_every_usable_type) {
  for (const TensorType& type : tensor_types()) {
    if (!type.usable) continue;
    for (const bool tied : {false, true}) {
      const Bytes bytes = tiny_model({.type = std::string(type.name), .tied = tied}).bytes();
      const auto gguf = Gguf::parse(bytes, {});
      ASSERT_TRUE(gguf.ok()) << gguf.status().message();
      EXPECT_LT(bytes.size(), 1000000u) << type.name;
      EXPECT_EQ((*gguf)->find_tensor("output.weight") == nullptr, tied);
      EXPECT_EQ((*gguf)->find_tensor("blk.1.ffn_down.weight")->type, type.number);
      EXPECT_EQ((*gguf)->find_tensor("blk.1.ffn_norm.weight")->type, 0u);
      EXPECT_EQ((*gguf)->strings("tokenizer.ggml.tokens")->size(), kTinyVocab);
      EXPECT_EQ((*gguf)->integers("tokenizer.ggml.token_type")->size(), kTinyVocab);
    }
  }
  EXPECT_TRUE(tiny_model({.type = "TQ1_0"}).tensors.empty());
}

// Golden tokens of other tests stand on these bytes.
TEST(TinyModel, bytes_never_change) {
  const std::map<std::string, uint64_t> kHashes = {{"F32", 0x9ba21d9c606b243du},
                                                   {"Q8_0", 0x97988ac902313c76u},
                                                   {"Q4_K", 0xf5d54caa1cebd4a4u},
                                                   {"MXFP4", 0x06c61cbbe6d8bf0bu}};
  for (const auto& [type, hash] : kHashes) EXPECT_EQ(hash_of(tiny_model({.type = type}).bytes()), hash) << type;
}

}  // namespace

}  // namespace gainz::test
