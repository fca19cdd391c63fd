// What holds for every kind of tokenizer: markers and trust, broken text, byte pieces, streams, end ids.
#include "tokenizer/tokenizer.h"

#include <gtest/gtest.h>

#include "runtime/tokenizer/vectors.h"
#include "runtime/tokenizer/vocab_file.h"
#include "tokenizer/utf8.h"

namespace gainz::test {
namespace {

using Ids = std::vector<int32_t>;

const std::string kBroken[] = {"\x80",
                               "\xE2\x96",
                               "\xF0\x9F\x98",
                               "\xC0\xAF",
                               "\xED\xA0\x80",
                               std::string("\0", 1),
                               "a\xFF"
                               "b",
                               "\xE2\x82x\xF0\x90",
                               "\xF4\x90\x80\x80",
                               "ok \xC3"};

std::shared_ptr<const Tokenizer> bpe_with_markers() {
  return must_make(vocab_file("gpt2",
                              byte_level_pieces({{"ab"}, {"<|im_start|>", 3}, {"<|im_end|>", 3}, {"<tool>", 4}, {"</s>", 4}}),
                              {"a b"})
                       .u32("tokenizer.ggml.eos_token_id", 258));
}

TEST(Tokenizer, Pb01MarkersOfUsersStayText) {
  const auto tokenizer = bpe_with_markers();
  ASSERT_TRUE(tokenizer);
  const std::string text = "<|im_end|><|im_start|>";
  const auto plain = tokenizer->encode(text, false, false);
  ASSERT_TRUE(plain.ok());
  for (const int32_t id : *plain) EXPECT_FALSE(tokenizer->is_special(id));
  EXPECT_EQ(*tokenizer->decode(*plain, true), text);
  EXPECT_EQ(*tokenizer->encode(text, true, false), (Ids{258, 257}));
}

TEST(Tokenizer, Pb01OnlyTrustedPiecesMakeMarkers) {
  const auto tokenizer = bpe_with_markers();
  ASSERT_TRUE(tokenizer);
  const auto encode = [&](std::initializer_list<TextPiece> pieces) {
    return *tokenizer->encode(std::span<const TextPiece>(pieces.begin(), pieces.size()), false);
  };
  EXPECT_EQ(encode({{"<|im_start|>", true}, {"a<|im_end|>", false}, {"<|im_end|>", true}}),
            encode({{"<|im_start|>", true}, {"a", false}, {"<|im_end|>", false}, {"<|im_end|>", true}}));
  const Ids ids = encode({{"<|im_start|>", true}, {"a<|im_end|>", false}, {"<|im_end|>", true}});
  EXPECT_EQ(std::count(ids.begin(), ids.end(), 258), 1);
  // A marker that is only partly trusted is text; one over two trusted pieces is a marker.
  EXPECT_EQ(encode({{"<|im_", true}, {"end|>", false}}), encode({{"<|im_end|>", false}}));
  EXPECT_EQ(encode({{"<|im_", false}, {"end|>", true}}), encode({{"<|im_end|>", false}}));
  EXPECT_EQ(encode({{"<|im_", true}, {"", false}, {"end|>", true}}), (Ids{258}));
  // Borders of pieces are no borders of words.
  EXPECT_EQ(encode({{"a", true}, {"b", false}}), (Ids{256}));
}

TEST(Tokenizer, TypesDecideNotSpellings) {
  const auto tokenizer = bpe_with_markers();
  ASSERT_TRUE(tokenizer);
  EXPECT_EQ(*tokenizer->encode("x</s><tool>", false, false), (Ids{'x', 260, 259}));  // user-defined: always found
  EXPECT_FALSE(tokenizer->is_special(260));
  EXPECT_EQ(*tokenizer->decode({{260, 258}}, true), "</s>");
  EXPECT_EQ(*tokenizer->decode({{260, 258}}, false), "</s><|im_end|>");
}

TEST(Tokenizer, WithoutTypesTheKeysNameTheMarkers) {
  auto file = vocab_file("gpt2", byte_level_pieces({{"<end>"}}), {}).remove("tokenizer.ggml.token_type");
  const auto tokenizer = must_make(file.u32("tokenizer.ggml.eos_token_id", 256));
  ASSERT_TRUE(tokenizer);
  EXPECT_TRUE(tokenizer->is_special(256));
  EXPECT_EQ(tokenizer->encode("<end>", false, false)->size(), 5u);
  EXPECT_EQ(*tokenizer->encode("<end>", true, false), (Ids{256}));
}

TEST(Tokenizer, Pb02BrokenTextRoundTripsInByteLevel) {
  const auto tokenizer = bpe_with_markers();
  ASSERT_TRUE(tokenizer);
  for (const std::string& text : kBroken) {
    const auto ids = tokenizer->encode(text, true, false);
    ASSERT_TRUE(ids.ok());
    std::string bytes;
    for (const int32_t id : *ids) bytes += tokenizer->token_bytes(id);
    EXPECT_EQ(bytes, text);
    EXPECT_EQ(*tokenizer->decode(*ids, true), utf8::repair(text));
  }
}

TEST(Tokenizer, Pb02BrokenTextRoundTripsByBytePieces) {
  for (const char* model : {"llama", "t5"}) {
    const auto tokenizer = must_make(
        vocab_file(model, sentence_pieces({{"a"}, {"\xE2\x96\x81"}})).boolean("tokenizer.ggml.add_space_prefix", false));
    ASSERT_TRUE(tokenizer);
    for (const std::string& text : kBroken) {
      const auto ids = tokenizer->encode(text, true, false);
      ASSERT_TRUE(ids.ok());
      std::string bytes;
      for (const int32_t id : *ids) bytes += tokenizer->token_bytes(id);
      EXPECT_EQ(bytes, text) << model;
    }
  }
}

TEST(Tokenizer, Pb04BytePieces) {
  const auto tokenizer =
      must_make(vocab_file("llama", sentence_pieces({{"a"}})).boolean("tokenizer.ggml.add_space_prefix", false));
  ASSERT_TRUE(tokenizer);
  for (const std::string text : {"한", "🦜", "a한🦜a"}) {
    const auto ids = tokenizer->encode(text, false, false);
    ASSERT_TRUE(ids.ok());
    EXPECT_EQ(std::count(ids->begin(), ids->end(), 0), 0);
    EXPECT_EQ(*tokenizer->decode(*ids, false), text);
    StreamDecoder stream(tokenizer);
    std::string streamed;
    for (const int32_t id : *ids) streamed += stream.push(id);
    EXPECT_EQ(streamed, text);
    EXPECT_EQ(stream.finish(), "");
  }
  const auto literal = tokenizer->encode("<0x0A>", true, false);
  ASSERT_TRUE(literal.ok());
  EXPECT_EQ(std::count(literal->begin(), literal->end(), 3 + 0x0A), 0);
  EXPECT_EQ(*tokenizer->decode(*literal, false), "<0x0A>");
}

TEST(Tokenizer, UnknownPiecesAreOneForARun) {
  const auto tokenizer = must_make(vocab_file("llama", {{"<unk>", 2}, {"a"}, {"\xE2\x96\x81"}}));
  ASSERT_TRUE(tokenizer);
  EXPECT_EQ(*tokenizer->encode("axyza", false, false), (Ids{2, 1, 0, 1}));
}

TEST(Tokenizer, SpaceIsPutAtTheStartAndAfterMarkersAndTakenOffAgain) {
  const auto tokenizer = must_make(vocab_file("llama", sentence_pieces({{"\xE2\x96\x81"},
                                                                        {"a"},
                                                                        {"\xE2\x96\x81"
                                                                         "a",
                                                                         1, 1.0f}})));
  ASSERT_TRUE(tokenizer);
  const int32_t word = 261;
  EXPECT_EQ(*tokenizer->encode("a", false, true), (Ids{1, word}));
  EXPECT_EQ(*tokenizer->encode("a</s>a", true, false), (Ids{word, 2, word}));
  EXPECT_EQ(*tokenizer->decode({{1, word, word}}, true), "a a");
  StreamDecoder stream(tokenizer);  // a stream begins in the middle of a text
  EXPECT_EQ(stream.push(1), "");
  EXPECT_EQ(stream.push(word), " a");
}

TEST(Tokenizer, Pb07StreamsOnlyWholeCharacters) {
  const auto tokenizer = bpe_with_markers();
  ASSERT_TRUE(tokenizer);
  const std::string emoji = "\xF0\x9F\xA6\x9C";
  for (size_t cut = 1; cut <= 4; ++cut) {
    StreamDecoder stream(tokenizer);
    std::string shown;
    for (size_t i = 0; i < cut; ++i) {
      const std::string now = stream.push(static_cast<uint8_t>(emoji[i]));
      EXPECT_TRUE(i == 3 || now.empty());
      shown += now;
    }
    EXPECT_EQ(shown, cut == 4 ? emoji : "");
    EXPECT_EQ(stream.finish(), cut == 4 ? "" : utf8::kReplacement);
  }
  const auto stream = [&](const Ids& ids) {
    StreamDecoder decoder(tokenizer);
    std::string shown;
    for (const int32_t id : ids) shown += decoder.push(id);
    return shown;
  };
  const std::string bad(utf8::kReplacement);
  EXPECT_EQ(stream({0xF0, 'x'}), bad + "x");
  EXPECT_EQ(stream({0x80, 'x', 0xF0, 0x9F, 0x98, 0xF0, 'y'}), bad + "x" + bad + bad + "y");
  EXPECT_EQ(stream({0xC3, 258, 0xA9}), "\xC3\xA9");  // a skipped marker splits nothing
  EXPECT_EQ(stream({-1, 100000, 'x'}), "x");
}

TEST(Tokenizer, Pb09EndIds) {
  const std::vector<VocabPiece> more = {
      {"<|endoftext|>", 3}, {"<|im_end|>", 3}, {"<|eot_id|>", 3}, {"<end_of_turn>", 1}, {"<|eom_id|>", 3}};
  const auto file = [&] { return vocab_file("gpt2", byte_level_pieces(more), {}); };
  const auto ends = [](const GgufWriter& made) { return must_make(made)->end_ids(); };
  EXPECT_EQ(ends(file()), (Ids{256}));  // spelled as an end of text
  EXPECT_EQ(ends(file().u32("tokenizer.ggml.eos_token_id", 65)), (Ids{65, 256}));
  EXPECT_EQ(ends(file().u32("tokenizer.ggml.eot_token_id", 257).u32("tokenizer.ggml.eom_token_id", 66)), (Ids{66, 256, 257}));
  EXPECT_EQ(ends(file().string("tokenizer.chat_template", "{{ x }}<|eot_id|><end_of_turn>")), (Ids{256, 258}));
  const auto tokenizer = must_make(file().string("tokenizer.chat_template", "<|im_end|>"));
  EXPECT_TRUE(tokenizer->is_end_of_generation(257));
  EXPECT_FALSE(tokenizer->is_end_of_generation(258));
  EXPECT_FALSE(tokenizer->is_end_of_generation(-1));
}

TEST(Tokenizer, MessageEndIsNoTurnEnd) {
  const auto tokenizer =
      must_make(vocab_file("gpt2", byte_level_pieces({{"<|end|>", 3}, {"<|return|>", 3}, {"<|call|>", 3}}), {})
                    .string("tokenizer.chat_template", "<|end|><|return|><|call|>"));
  ASSERT_TRUE(tokenizer);
  EXPECT_EQ(tokenizer->end_ids(), (Ids{257, 258}));
}

TEST(Tokenizer, AddsWhatTheFileSays) {
  const auto spm = must_make(vocab_file("llama", sentence_pieces({{"a"}})).boolean("tokenizer.ggml.add_eos_token", true));
  EXPECT_EQ(spm->encode("", false, true).value(), (Ids{1, 2}));
  EXPECT_EQ(spm->encode("", false, false).value(), (Ids{}));
  const auto bert = must_make(vocab_file("bert", {{"[PAD]", 3}, {"[UNK]", 3}, {"[CLS]", 3}, {"[SEP]", 3}, {"a"}})
                                  .u32("tokenizer.ggml.cls_token_id", 2)
                                  .u32("tokenizer.ggml.seperator_token_id", 3)
                                  .u32("tokenizer.ggml.unknown_token_id", 1));
  EXPECT_EQ(bert->encode("A b", false, true).value(), (Ids{2, 4, 1, 3}));
  const auto llama3 = vocab_file("gpt2", byte_level_pieces({{"<bos>", 3}}), {}).u32("tokenizer.ggml.bos_token_id", 256);
  EXPECT_FALSE(must_make(llama3)->adds_bos());
  auto named = llama3;
  EXPECT_TRUE(must_make(named.remove("tokenizer.ggml.pre").string("tokenizer.ggml.pre", "llama-bpe"))->adds_bos());
}

TEST(Tokenizer, UnusedPiecesAreTakenApart) {
  const auto tokenizer = must_make(vocab_file("llama", sentence_pieces({{"a"}, {"b"}, {"ab", 5, 2.0f}, {"abb", 1, 1.0f}}))
                                       .boolean("tokenizer.ggml.add_space_prefix", false));
  ASSERT_TRUE(tokenizer);
  EXPECT_EQ(*tokenizer->encode("ab", false, false), (Ids{259, 260}));
  EXPECT_EQ(*tokenizer->encode("abb", false, false), (Ids{262}));
}

TEST(Tokenizer, MergesByRankLeftmostFirst) {
  const auto tokenizer =
      must_make(vocab_file("gpt2", byte_level_pieces({{"ab"}, {"bc"}, {"aa"}, {"aaa"}}), {"b c", "a b", "a a", "aa a"}));
  ASSERT_TRUE(tokenizer);
  EXPECT_EQ(*tokenizer->encode("abc", false, false), (Ids{'a', 257}));
  EXPECT_EQ(*tokenizer->encode("aaaaa", false, false), (Ids{258, 259}));
  // Short and long words take different ways to the same ids.
  const auto long_ids = tokenizer->encode(std::string(1001, 'a'), false, false);
  ASSERT_TRUE(long_ids.ok());
  EXPECT_EQ(long_ids->size(), 500u);
  EXPECT_EQ(long_ids->back(), 259);
}

}  // namespace
}  // namespace gainz::test
