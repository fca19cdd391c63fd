// Small vocabularies, one for each kind of tokenizer and pre-tokenizer, trained and tokenized by the published libraries that
// the models' own tokenizers run on: each text must give the same ids. tests/data/tokenizer/README.md says how they were made.
#include <gtest/gtest.h>

#include "runtime/tokenizer/vectors.h"

namespace gainz::test {
namespace {

class Vectors : public ::testing::TestWithParam<const char*> {};

TEST_P(Vectors, SameIds) {
  const std::string name = GetParam();
  const auto tokenizer = open_tokenizer(data_path(name + ".gguf"));
  ASSERT_TRUE(tokenizer);
  const auto vectors = read_vectors(name + ".vectors");
  ASSERT_GE(vectors.size(), 100u);
  EXPECT_EQ(check_vectors(*tokenizer, vectors), vectors.size());
}

// Byte-level ids spell the text, except for what a model's normalisation changes; a stream gives the same.
TEST_P(Vectors, StreamsAreTheText) {
  const std::string name = GetParam();
  const auto tokenizer = open_tokenizer(data_path(name + ".gguf"));
  ASSERT_TRUE(tokenizer);
  const bool changes_text = name == "qwen2" || name == "qwen35" || name == "command-r" || tokenizer->kind() != "gpt2";
  for (const Vector& vector : read_vectors(name + ".vectors")) {
    const auto whole = tokenizer->decode(vector.special, false);
    ASSERT_TRUE(whole.ok());
    if (!changes_text) {
      EXPECT_EQ(*whole, vector.text);
    }
    StreamDecoder stream(tokenizer, false);
    std::string streamed;
    for (const int32_t id : vector.special) streamed += stream.push(id);
    streamed += stream.finish();
    const bool first_blank = streamed == " " + *whole;
    EXPECT_TRUE(streamed == *whole || first_blank) << streamed << " / " << *whole;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Vectors,
                         ::testing::Values("gpt-2", "phi-2", "smollm", "starcoder", "refact", "command-r", "llama-bpe", "dbrx",
                                           "qwen2", "qwen35", "gpt-4o", "tekken", "deepseek-llm", "deepseek-coder",
                                           "deepseek-v3", "falcon", "spm-bytes", "spm-noprefix", "spm-unknown", "unigram-nmt",
                                           "unigram-bytes", "bert-phantom", "bert-hash", "bert-cased"),
                         [](const auto& chosen) {
                           std::string name = chosen.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace gainz::test
