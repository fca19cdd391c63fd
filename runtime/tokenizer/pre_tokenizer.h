// PreTokenizer: cuts text into words by a rule of the table. Every byte of the text is in exactly one word.
//
// Threads: any, once created. Regular expressions run in PCRE2, compiled to machine code where that is allowed.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "tokenizer/pre_tokenizer_table.h"

namespace gainz {

class PreTokenizer {
 public:
  static Result<PreTokenizer> create(const PreTokenizerRule& rule);
  PreTokenizer(PreTokenizer&&) noexcept;
  PreTokenizer& operator=(PreTokenizer&&) noexcept;
  ~PreTokenizer();

  const PreTokenizerRule& rule() const { return *rule_; }

  // Replaces `out_words` by the words of `text`, which is valid UTF-8; they are views into it and none is empty.
  Status split(std::string_view text, std::vector<std::string_view>& out_words) const;

 private:
  class Expression;
  explicit PreTokenizer(const PreTokenizerRule& rule);

  const PreTokenizerRule* rule_;
  std::vector<Expression> stages_;
};

}  // namespace gainz
