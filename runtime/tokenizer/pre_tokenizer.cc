#include "tokenizer/pre_tokenizer.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <new>
#include <string>

namespace gainz {

namespace {

// PCRE2's \s also matches U+180E, which lost the White_Space property long ago.
constexpr std::string_view kWhiteSpace = R"(\t-\r \x85\xA0\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000})";

// Writes \s and \S of a pattern as classes of the White_Space property.
std::string with_white_space(std::string_view pattern) {
  std::string out;
  bool in_class = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      const char next = pattern[++i];
      if (next == 's' && in_class)
        out.append(kWhiteSpace);
      else if (next == 's')
        out.append("[").append(kWhiteSpace).append("]");
      else if (next == 'S')
        out.append("[^").append(kWhiteSpace).append("]");
      else
        out.append({c, next});
      continue;
    }
    if (c == '[') in_class = true;
    if (c == ']') in_class = false;
    out += c;
  }
  return out;
}

}  // namespace

// One compiled expression and what running it needs.
class PreTokenizer::Expression {
 public:
  static Result<Expression> create(std::string_view pattern, bool bytes) {
    const std::string text = bytes ? std::string(pattern) : with_white_space(pattern);
    const uint32_t unicode = bytes ? 0 : PCRE2_UTF | PCRE2_UCP;
    int code = 0;
    size_t offset = 0;
    Expression out;
    out.code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), unicode | PCRE2_DOLLAR_ENDONLY, &code,
                                  &offset, nullptr));
    if (!out.code_)
      return Status(Code::internal, "pre-tokenizer pattern does not compile: PCRE2 error " + std::to_string(code));
    pcre2_jit_compile(out.code_.get(), PCRE2_JIT_COMPLETE);  // where it is not allowed the interpreter does the same
    return out;
  }

  // Cuts each of `words` at the matches; what lies between matches stays a word.
  Status split(const std::vector<std::string_view>& words, std::vector<std::string_view>& out_words) const {
    out_words.clear();
    const std::unique_ptr<pcre2_match_data, FreeMatch> match(pcre2_match_data_create_from_pattern(code_.get(), nullptr));
    const std::unique_ptr<pcre2_match_context, FreeContext> context(pcre2_match_context_create(nullptr));
    if (!match || !context) throw std::bad_alloc();
    pcre2_set_match_limit(context.get(), UINT32_MAX);  // a run of 20 million blanks backtracks once over itself
    pcre2_set_heap_limit(context.get(), UINT32_MAX);
    for (const std::string_view word : words) GAINZ_TRY(split_word(word, match.get(), context.get(), out_words));
    return {};
  }

 private:
  struct FreeCode {
    void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  };
  struct FreeMatch {
    void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
  };
  struct FreeContext {
    void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
  };

  Status split_word(std::string_view word, pcre2_match_data* match, pcre2_match_context* context,
                    std::vector<std::string_view>& out_words) const {
    const auto* subject = reinterpret_cast<PCRE2_SPTR>(word.data());
    const size_t* bounds = pcre2_get_ovector_pointer(match);
    for (size_t at = 0; at < word.size();) {
      const int found = pcre2_match(code_.get(), subject, word.size(), at, PCRE2_NO_UTF_CHECK, match, context);
      if (found == PCRE2_ERROR_NOMATCH) {
        out_words.push_back(word.substr(at));
        break;
      }
      if (found == PCRE2_ERROR_NOMEMORY) throw std::bad_alloc();
      if (found < 0) return {Code::limit_exceeded, "text cannot be cut into words: PCRE2 error " + std::to_string(found)};
      if (bounds[1] <= bounds[0]) return {Code::internal, "a pre-tokenizer pattern matches nothing"};
      if (bounds[0] > at) out_words.push_back(word.substr(at, bounds[0] - at));
      out_words.push_back(word.substr(bounds[0], bounds[1] - bounds[0]));
      at = bounds[1];
    }
    return {};
  }

  std::unique_ptr<pcre2_code, FreeCode> code_;
};

PreTokenizer::PreTokenizer(const PreTokenizerRule& rule) : rule_(&rule) {}
PreTokenizer::PreTokenizer(PreTokenizer&&) noexcept = default;
PreTokenizer& PreTokenizer::operator=(PreTokenizer&&) noexcept = default;
PreTokenizer::~PreTokenizer() = default;

Result<PreTokenizer> PreTokenizer::create(const PreTokenizerRule& rule) {
  PreTokenizer out(rule);
  for (const std::string_view pattern : rule.splits) {
    GAINZ_ASSIGN(Expression stage, Expression::create(pattern, false));
    out.stages_.push_back(std::move(stage));
  }
  for (const std::string_view pattern : rule.byte_splits) {
    GAINZ_ASSIGN(Expression stage, Expression::create(pattern, true));
    out.stages_.push_back(std::move(stage));
  }
  return out;
}

Status PreTokenizer::split(std::string_view text, std::vector<std::string_view>& out_words) const {
  std::vector<std::string_view> before;
  out_words.assign(1, text);
  if (text.empty()) out_words.clear();
  for (const Expression& stage : stages_) {
    before.swap(out_words);
    GAINZ_TRY(stage.split(before, out_words));
  }
  return {};
}

}  // namespace gainz
