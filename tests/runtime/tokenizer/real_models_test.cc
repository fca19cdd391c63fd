// The two real models of the references: ids by independent tokenizers. Skipped where the files are absent.
#include <gtest/gtest.h>

#include "runtime/tokenizer/vectors.h"

namespace gainz::test {
namespace {

constexpr const char* kSmol = "SmolLM2-135M-Instruct.Q4_1.gguf";
constexpr const char* kGemma = "gemma-3-270m-q4_k_m.gguf";

std::shared_ptr<const Tokenizer> open_real(const char* file) {
  const std::string path = real_model(file);
  if (path.empty()) return nullptr;
  return open_tokenizer(path);
}

void check_round_trip(const Tokenizer& tokenizer, const std::vector<Vector>& vectors) {
  auto shared = std::shared_ptr<const Tokenizer>(std::shared_ptr<void>(), &tokenizer);
  for (const Vector& vector : vectors) {
    // SentencePiece keeps blanks as U+2581, so that character itself comes back as a blank.
    if (tokenizer.kind() == "llama" && vector.text.find("\xE2\x96\x81") != std::string::npos) continue;
    const auto text = tokenizer.decode(vector.special, false);
    ASSERT_TRUE(text.ok());
    EXPECT_EQ(*text, vector.text);
    StreamDecoder stream(shared, false);
    std::string streamed;
    for (const int32_t id : vector.special) streamed += stream.push(id);
    EXPECT_EQ(streamed + stream.finish(), vector.text);
  }
}

TEST(RealModels, SmolLm2) {
  const auto tokenizer = open_real(kSmol);
  if (!tokenizer) GTEST_SKIP() << kSmol << " is not in the models folder";
  const auto vectors = read_vectors("smollm2.vectors");
  ASSERT_EQ(vectors.size(), 77u);
  EXPECT_EQ(check_vectors(*tokenizer, vectors), vectors.size());
  check_round_trip(*tokenizer, vectors);
  EXPECT_EQ(tokenizer->end_ids(), (std::vector<int32_t>{0, 2}));
  EXPECT_FALSE(tokenizer->adds_bos());
  EXPECT_EQ(tokenizer->bos(), 1);
}

TEST(RealModels, SmolLm2NamesAByteThatItCannotSpell) {
  const auto tokenizer = open_real(kSmol);
  if (!tokenizer) GTEST_SKIP() << kSmol << " is not in the models folder";
  const auto ids = tokenizer->encode("a\x04", false, false);  // this vocabulary has no piece for byte 4
  ASSERT_FALSE(ids.ok());
  EXPECT_EQ(ids.status().code(), Code::invalid);
  EXPECT_NE(ids.status().message().find("0x04"), std::string::npos);
}

TEST(RealModels, Gemma3) {
  const auto tokenizer = open_real(kGemma);
  if (!tokenizer) GTEST_SKIP() << kGemma << " is not in the models folder";
  const auto vectors = read_vectors("gemma3.vectors");
  ASSERT_EQ(vectors.size(), 77u);
  EXPECT_EQ(check_vectors(*tokenizer, vectors), vectors.size());
  check_round_trip(*tokenizer, vectors);
  EXPECT_EQ(tokenizer->end_ids(), (std::vector<int32_t>{1}));
  EXPECT_FALSE(tokenizer->is_special(212));  // </s> is an HTML tag here
  EXPECT_TRUE(tokenizer->adds_bos());
}

}  // namespace
}  // namespace gainz::test
