#include "tokenizer/pre_tokenizer_table.h"

namespace gainz {

namespace {

using Texts = std::string_view;

// In every pattern \s means the White_Space property (pre_tokenizer.cc sees to it). A pattern without alternative for some
// character leaves that character between the matches, where it stays together with its likes.
constexpr Texts kGpt2[] = {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"};
constexpr Texts kDigitsGpt2[] = {R"(\p{N})", kGpt2[0]};
constexpr Texts kLlama3[] = {
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};
constexpr Texts kQwen2[] = {
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};
constexpr Texts kQwen35[] = {
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};
constexpr Texts kGpt4o[] = {
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};
constexpr Texts kTekken[] = {R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)"
                             R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|)"
                             R"(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

// `\s+$` is written with a guard, else a long run of blanks inside a text is tried from each of its places.
constexpr Texts kDeepSeekLlm[] = {
    R"([\r\n])",
    R"(\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗ)"
    R"(ὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇ)"
    R"(Ꞌ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+)",
    R"(\s?[!-/:-~！-／：-～‘-‟　-。]+)",
    R"((?<!\s)\s+$)",
    R"([一-龥ࠀ-一가-퟿]+)",
    R"(\p{N})"};
constexpr Texts kDeepSeekCoder[] = {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", R"([一-龥ࠀ-一가-퟿]+)", R"(\p{N})"};
constexpr Texts kDeepSeekV3[] = {
    R"(\p{N}{1,3})", R"([一-龥぀-ゟ゠-ヿ]+)",
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

// Falcon's own definition finds numbers after it has replaced bytes by the byte alphabet, in which bytes B2, B3, B9 and BC to
// BE are the characters for superscripts and fractions.
constexpr Texts kFalcon[] = {R"([\p{P}$+<=>^~|`]+)", kGpt2[0]};
constexpr Texts kFalconBytes[] = {R"([0-9\xB2\xB3\xB9\xBC-\xBE]+)", R"([0-9][0-9][0-9])"};

constexpr Texts kGpt2Names[] = {"gpt-2", "phi-2", "phi"};
constexpr Texts kDigitsNames[] = {"smollm", "starcoder", "refact"};
constexpr Texts kCommandRNames[] = {"command-r"};
constexpr Texts kLlama3Names[] = {"llama-bpe", "llama3", "llama-v3"};
constexpr Texts kDbrxNames[] = {"dbrx"};
constexpr Texts kQwen2Names[] = {"qwen2"};
constexpr Texts kQwen35Names[] = {"qwen35"};
constexpr Texts kGpt4oNames[] = {"gpt-4o"};
constexpr Texts kTekkenNames[] = {"tekken"};
constexpr Texts kDeepSeekLlmNames[] = {"deepseek-llm"};
constexpr Texts kDeepSeekCoderNames[] = {"deepseek-coder"};
constexpr Texts kDeepSeekV3Names[] = {"deepseek-v3"};
constexpr Texts kFalconNames[] = {"falcon"};

constexpr PreTokenizerRule kRules[] = {
    {.names = kGpt2Names, .splits = kGpt2},
    {.names = kDigitsNames, .splits = kDigitsGpt2},
    {.names = kCommandRNames, .splits = kDigitsGpt2, .nfc = true},
    {.names = kLlama3Names, .splits = kLlama3, .whole_words = true, .adds_bos = true},
    {.names = kDbrxNames, .splits = kLlama3},
    {.names = kQwen2Names, .splits = kQwen2, .nfc = true},
    {.names = kQwen35Names, .splits = kQwen35, .nfc = true},
    {.names = kGpt4oNames, .splits = kGpt4o, .whole_words = true},
    {.names = kTekkenNames, .splits = kTekken, .whole_words = true},
    {.names = kDeepSeekLlmNames, .splits = kDeepSeekLlm},
    {.names = kDeepSeekCoderNames, .splits = kDeepSeekCoder},
    {.names = kDeepSeekV3Names, .splits = kDeepSeekV3},
    {.names = kFalconNames, .splits = kFalcon, .byte_splits = kFalconBytes},
};

}  // namespace

const PreTokenizerRule* find_pre_tokenizer(std::string_view name) {
  for (const PreTokenizerRule& rule : kRules) {
    for (const std::string_view known : rule.names) {
      if (known == name) return &rule;
    }
  }
  return nullptr;
}

std::string pre_tokenizer_names() {
  std::string out;
  for (const PreTokenizerRule& rule : kRules) {
    for (const std::string_view name : rule.names) out.append(out.empty() ? "" : ", ").append(name);
  }
  return out;
}

}  // namespace gainz
