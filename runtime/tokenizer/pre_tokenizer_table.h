// The table of pre-tokenizers: by the name that a file gives (tokenizer.ggml.pre), how its model cuts text into words before
// merging. Facts of the models' own published tokenizer definitions. Static data, any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gainz {

struct PreTokenizerRule {
  std::span<const std::string_view> names;        // of the rule and of others that are exactly the same
  std::span<const std::string_view> splits;       // regular expressions, each applied to what the ones before left
  std::span<const std::string_view> byte_splits;  // the same, but over single bytes, after all of `splits`
  bool nfc = false;                               // text is brought to normalisation form C first
  bool whole_words = false;  // a word that is a piece is that piece, whatever the merges say ("ignore_merges")
  bool adds_bos = false;     // what holds when the file does not say
};

const PreTokenizerRule* find_pre_tokenizer(std::string_view name);

// "gpt-2, llama-bpe, ...": for an error's sentence.
std::string pre_tokenizer_names();

}  // namespace gainz
