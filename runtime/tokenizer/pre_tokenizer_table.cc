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
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)"};
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
    R"(\s?[A-Za-z)"
    R"(\x{B5}\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{1BA}\x{1BC}-\x{1BF}\x{1C4}-\x{293}\x{295}-\x{2AF})"
    R"(\x{370}-\x{373}\x{376}\x{377}\x{37B}-\x{37D}\x{37F}\x{386}\x{388}-\x{38A}\x{38C}\x{38E}-\x{3A1})"
    R"(\x{3A3}-\x{3F5}\x{3F7}-\x{481}\x{48A}-\x{52F}\x{531}-\x{556}\x{10A0}-\x{10C5}\x{13A0}-\x{13F5})"
    R"(\x{13F8}-\x{13FD}\x{1C90}-\x{1CBA}\x{1CBD}-\x{1CBF}\x{1D00}-\x{1D2B}\x{1D6B}-\x{1D77})"
    R"(\x{1D79}-\x{1D9A}\x{1E00}-\x{1F15}\x{1F18}-\x{1F1D}\x{1F20}-\x{1F45}\x{1F48}-\x{1F4D})"
    R"(\x{1F50}-\x{1F57}\x{1F59}\x{1F5B}\x{1F5D}\x{1F5F}-\x{1F7D}\x{1F80}-\x{1FB4}\x{1FB6}-\x{1FBC}\x{1FBE})"
    R"(\x{1FC2}-\x{1FC4}\x{1FC6}-\x{1FCC}\x{1FD0}-\x{1FD3}\x{1FD6}-\x{1FDB}\x{1FE0}-\x{1FEC})"
    R"(\x{1FF2}-\x{1FF4}\x{1FF6}-\x{1FFC}\x{2102}\x{2107}\x{210A}-\x{2113}\x{2115}\x{2119}-\x{211D}\x{2124})"
    R"(\x{2126}\x{2128}\x{212A}-\x{212D}\x{212F}-\x{2134}\x{2139}\x{213C}-\x{213F}\x{2145}-\x{2149}\x{214E})"
    R"(\x{2183}\x{2184}\x{2C00}-\x{2C7B}\x{2C7E}-\x{2CE4}\x{2CEB}-\x{2CEE}\x{2CF2}\x{2CF3}\x{A640}-\x{A66D})"
    R"(\x{A680}-\x{A69B}\x{A722}-\x{A76F}\x{A771}-\x{A787}\x{A78B}-\x{A78E}\x{AB70}-\x{ABBF})"
    R"(\x{FB00}-\x{FB06}\x{FB13}-\x{FB17}\x{FF21}-\x{FF3A}\x{FF41}-\x{FF5A}\x{10400}-\x{1044F})"
    R"(\x{104B0}-\x{104D3}\x{104D8}-\x{104FB}\x{10C80}-\x{10CB2}\x{10CC0}-\x{10CF2}\x{118A0}-\x{118DF})"
    R"(\x{1E900}-\x{1E943})"
    R"(]+)",
    R"(\s?[!-/:-~！-／：-～‘-‟　-。]+)",
    R"((?<!\s)\s+$)",
    R"([\x{4E00}-\x{9FA5}\x{800}-\x{4E00}\x{AC00}-\x{D7FF}]+)",
    R"(\p{N})"};
constexpr Texts kDeepSeekCoder[] = {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)",
                                    R"([\x{4E00}-\x{9FA5}\x{800}-\x{4E00}\x{AC00}-\x{D7FF}]+)", R"(\p{N})"};
constexpr Texts kDeepSeekV3[] = {R"(\p{N}{1,3})", R"([一-龥぀-ゟ゠-ヿ]+)",
                                 R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)"
                                 R"(| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};

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
