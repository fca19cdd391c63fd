// Broken tokenizer data is refused when the file is loaded, by a sentence that names the key (case pb37), and every limit
// holds.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/tokenizer/vocab_file.h"
#include "tokenizer/limits.h"

namespace gainz::test {
namespace {

constexpr const char* kTokens = "tokenizer.ggml.tokens";
constexpr const char* kTypes = "tokenizer.ggml.token_type";
constexpr const char* kScores = "tokenizer.ggml.scores";
constexpr const char* kMerges = "tokenizer.ggml.merges";
constexpr const char* kEos = "tokenizer.ggml.eos_token_id";

void expect_refused(const GgufWriter& file, const std::string& key, Code code = Code::invalid) {
  const auto tokenizer = make_tokenizer(file);
  ASSERT_FALSE(tokenizer.ok()) << key;
  EXPECT_EQ(tokenizer.status().code(), code) << tokenizer.status().message();
  EXPECT_NE(tokenizer.status().message().find(key), std::string::npos) << tokenizer.status().message();
}

GgufWriter spm() { return vocab_file("llama", sentence_pieces({{"a"}, {"b"}, {"ab", 1, -1.0f}})); }
GgufWriter bpe(const std::vector<std::string>& merges) {
  return vocab_file("gpt2", byte_level_pieces({{"ab"}, {"</s>", 3}}), merges);
}

TEST(HostileVocab, Pb37ArraysOfNarrowerTypes) {
  const size_t num_tokens = sentence_pieces({{"a"}, {"b"}, {"ab"}}).size();
  expect_refused(spm().remove(kTypes).array(kTypes, std::vector<uint8_t>(num_tokens, 1)), kTypes);
  expect_refused(spm().remove(kTypes).array(kTypes, std::vector<int64_t>(num_tokens, 1)), kTypes);
  expect_refused(spm().remove(kTypes).u32(kTypes, 1), kTypes);
  expect_refused(spm().remove(kScores).array(kScores, std::vector<uint8_t>(num_tokens, 1)), kScores);
  expect_refused(spm().remove(kScores).f32(kScores, 1), kScores);
  expect_refused(spm().remove(kTokens).array(kTokens, std::vector<int32_t>(4, 1)), kTokens);
}

TEST(HostileVocab, Pb37LengthsThatDiffer) {
  expect_refused(spm().remove(kTypes).array(kTypes, std::vector<int32_t>{1, 1}), kTypes);
  expect_refused(spm().remove(kScores).array(kScores, std::vector<float>{1, 1}), kScores);
  expect_refused(spm().remove(kScores), kScores, Code::not_found);
  expect_refused(spm().remove(kTokens).strings(kTokens, {}), kTokens);
  expect_refused(spm().remove(kTokens), kTokens, Code::not_found);
}

TEST(HostileVocab, Pb37Values) {
  expect_refused(vocab_file("llama", sentence_pieces({{"a", 7}})), kTypes);
  expect_refused(vocab_file("llama", sentence_pieces({{"a", -1}})), kTypes);
  expect_refused(vocab_file("llama", sentence_pieces({{"a", 1, std::nanf("")}})), kScores);
  expect_refused(vocab_file("llama", sentence_pieces({{"a", 1, std::numeric_limits<float>::infinity()}})), kScores);
  expect_refused(vocab_file("llama", sentence_pieces({{"a"}, {"a"}})), kTokens);
  expect_refused(vocab_file("llama", sentence_pieces({{"\xFF"}})), kTokens);
  expect_refused(vocab_file("llama", sentence_pieces({{"\xE2\x96"}})), kTokens);
}

TEST(HostileVocab, Pb37BytePieces) {
  for (const char* text : {"<0x-1>", "<0x+1>", "<0x1>", "<0x100>", "<0xG0>", "0x00", "<0x 1>", "byte"}) {
    expect_refused(vocab_file("llama", {{"<unk>", 2}, {text, 6}}), kTokens);
  }
  expect_refused(vocab_file("llama", {{"<unk>", 2}, {"<0xAB>", 6}, {"<0xab>", 6}}), kTokens);
}

TEST(HostileVocab, Pb37SpecialIds) {
  const uint32_t size = 262;
  expect_refused(spm().u32(kEos, size), kEos);
  expect_refused(spm().add<int32_t>(kEos, -1), kEos);
  expect_refused(spm().u32(kEos, 0xFFFFFFFFu), kEos);
  expect_refused(spm().string(kEos, "2"), kEos);
  expect_refused(spm().f32(kEos, 2.0f), kEos);
  expect_refused(spm().u32("tokenizer.ggml.fim_pre_token_id", size), "tokenizer.ggml.fim_pre_token_id");
  expect_refused(spm().u32("tokenizer.ggml.unknown_token_id", size), "tokenizer.ggml.unknown_token_id");
  expect_refused(spm().string("tokenizer.ggml.add_bos_token", "yes"), "tokenizer.ggml.add_bos_token");
  expect_refused(vocab_file("llama", {{"a"}}).boolean("tokenizer.ggml.add_bos_token", true), "tokenizer.ggml.add_bos_token");
  EXPECT_TRUE(make_tokenizer(spm().u32(kEos, size - 1)).ok());
}

TEST(HostileVocab, Pb37TinyVocabularyWithoutEnd) {
  const auto tokenizer = must_make(vocab_file("llama", {{"a"}}));
  ASSERT_TRUE(tokenizer);
  EXPECT_FALSE(tokenizer->eos());
  EXPECT_TRUE(tokenizer->end_ids().empty());
  EXPECT_FALSE(tokenizer->encode("b", false, true).ok());  // neither a piece, nor bytes, nor an unknown piece
}

TEST(HostileVocab, Pb37Merges) {
  for (const char* merge : {"a c", "x\xF0\x9F\x98\x80 b", "ab", "a ", " b", "", "a b c"})
    expect_refused(bpe({"a b", merge}), kMerges);
  expect_refused(bpe({"b a"}), kMerges);  // "ba" is no piece
  expect_refused(bpe({}).remove(kMerges), kMerges, Code::not_found);
  expect_refused(bpe({}).remove(kMerges).array(kMerges, std::vector<int32_t>{1}), kMerges);
  EXPECT_TRUE(make_tokenizer(bpe({"a b"})).ok());
}

TEST(HostileVocab, UnknownKinds) {
  expect_refused(bpe({}).remove("tokenizer.ggml.pre").string("tokenizer.ggml.pre", "nobody"), "tokenizer.ggml.pre",
                 Code::unsupported);
  expect_refused(bpe({}).remove("tokenizer.ggml.pre"), "tokenizer.ggml.pre", Code::not_found);
  expect_refused(vocab_file("rwkv", {{"a"}}), "tokenizer.ggml.model", Code::unsupported);
  expect_refused(spm().remove("tokenizer.ggml.model"), "tokenizer.ggml.model", Code::not_found);
  expect_refused(vocab_file("bert", {{"a"}}), "tokenizer.ggml.unknown_token_id");
}

TEST(HostileVocab, CharacterMap) {
  constexpr const char* kMap = "tokenizer.ggml.precompiled_charsmap";
  const auto with_map = [&](std::vector<uint8_t> map) { return vocab_file("t5", sentence_pieces({{"a"}})).array(kMap, map); };
  expect_refused(with_map({1}), kMap);
  expect_refused(with_map({4, 0, 0, 0}), kMap);                   // the trie is missing
  expect_refused(with_map({3, 0, 0, 0, 1, 2, 3, 0}), kMap);       // not whole units
  expect_refused(with_map({4, 0, 0, 0, 1, 2, 3, 4, 'x'}), kMap);  // a replacement without end
  expect_refused(with_map({0, 0, 0, 0, 0}), kMap);
  expect_refused(with_map({0xFC, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0}), kMap);
  expect_refused(vocab_file("t5", sentence_pieces({{"a"}})).string(kMap, "text"), kMap);
  // Units that point out of the array end the search.
  const auto wild = must_make(with_map({8, 0, 0, 0, 0xFF, 0xFD, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 'y', 0}));
  ASSERT_TRUE(wild);
  EXPECT_TRUE(wild->encode("abc \xC3\xA9", false, true).ok());
}

TEST(TokenizerLimits, TokenBytes) {
  using tokenizer_limits::kMaxTokenBytes;
  expect_refused(vocab_file("llama", sentence_pieces({{std::string(kMaxTokenBytes + 1, 'a')}})), kTokens, Code::limit_exceeded);
  expect_refused(vocab_file("llama", sentence_pieces({{std::string(10'000'000, 'a')}})), kTokens, Code::limit_exceeded);
  EXPECT_TRUE(make_tokenizer(vocab_file("llama", sentence_pieces({{std::string(kMaxTokenBytes, 'a')}}))).ok());
}

TEST(TokenizerLimits, Tokens) {
  const std::vector<std::string> holes(tokenizer_limits::kMaxTokens + 1);
  expect_refused(spm().remove(kTokens).strings(kTokens, holes), kTokens, Code::limit_exceeded);
}

TEST(TokenizerLimits, Merges) {
  const std::vector<std::string> same(tokenizer_limits::kMaxMerges + 1, "a b");
  expect_refused(bpe(same), kMerges, Code::limit_exceeded);
}

TEST(TokenizerLimits, CharacterMapBytes) {
  const std::vector<uint8_t> map(tokenizer_limits::kMaxCharsmapBytes - 7);  // with what GGUF allows in one array
  auto file = vocab_file("t5", sentence_pieces({{"a"}})).array("tokenizer.ggml.precompiled_charsmap", map);
  expect_refused(file, "tokenizer.ggml.precompiled_charsmap", Code::invalid);
}

TEST(TokenizerLimits, Text) {
  const auto tokenizer = must_make(spm());
  ASSERT_TRUE(tokenizer);
  const std::string half(tokenizer_limits::kMaxTextBytes / 2 + 1, 'a');
  const TextPiece pieces[] = {{half, false}, {half, true}};
  const auto ids = tokenizer->encode(pieces, false);
  ASSERT_FALSE(ids.ok());
  EXPECT_EQ(ids.status().code(), Code::limit_exceeded);
}

TEST(TokenizerLimits, DecodeTokens) {
  const auto tokenizer = must_make(spm());
  ASSERT_TRUE(tokenizer);
  std::vector<int32_t> ids(tokenizer_limits::kMaxDecodeTokens + 1, 1);
  EXPECT_EQ(tokenizer->decode(ids, true).status().code(), Code::limit_exceeded);
  for (const int32_t id : {-1, tokenizer->vocab_size(), std::numeric_limits<int32_t>::min()}) {
    EXPECT_EQ(tokenizer->decode({{id}}, true).status().code(), Code::invalid);
    EXPECT_EQ(tokenizer->token_bytes(id), "");
    EXPECT_EQ(tokenizer->token_text(id), "");
    EXPECT_FALSE(tokenizer->is_special(id));
  }
}

TEST(TokenizerLimits, AllAreListed) {
  size_t num_named = 0;
  for (const auto& limit : tokenizer_limits::list())
    num_named += limit.name.starts_with("tokenizer_max_") && limit.value > 0 ? 1 : 0;
  EXPECT_EQ(num_named, 7u);
}

}  // namespace
}  // namespace gainz::test
