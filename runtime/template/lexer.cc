#include "template/lexer.h"

#include <algorithm>
#include <charconv>

#include "template/number_text.h"
#include "template/string_literal.h"
#include "template/unicode.h"

namespace gainz::jinja {

namespace {

bool is_digit_byte(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0; }
bool is_name_byte(char c) { return is_name_start(c) || is_digit_byte(c); }

// Every newline becomes \n and one at the very end is dropped.
std::string normalize_newlines(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (size_t at = 0; at < source.size(); ++at) {
    if (source[at] == '\r') {
      out += '\n';
      if (at + 1 < source.size() && source[at + 1] == '\n') ++at;
    } else {
      out += source[at];
    }
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(normalize_newlines(source)), view_(source_) {}
  Result<std::vector<Token>> run();

 private:
  Status fail(const std::string& what) const {
    return Status(Code::invalid, "chat template, line " + std::to_string(line_) + ": " + what);
  }
  bool at(std::string_view text, size_t pos) const { return view_.compare(pos, text.size(), text) == 0; }
  size_t skip_space(size_t pos) const;
  void advance(size_t to);
  void push(TokenKind kind, std::string text = {});
  void push_data(size_t begin, size_t end, char sign, bool strip_line);
  // The end of a tag at pos: 0, or the position after it with the whitespace that it eats. `trim`: a newline after it goes too.
  size_t tag_end(std::string_view end, size_t pos, bool plus, bool trim) const;
  Status root();
  Status comment();
  bool raw_begin(size_t pos, size_t* out_end) const;
  Status raw(size_t begin);
  Status tag(std::string_view end, TokenKind begin_kind, TokenKind end_kind, bool is_block);
  Status token();
  Status string_token();
  Status number_token();
  Status operator_token();
  size_t digits(size_t pos, int base) const;

  std::string source_;
  std::string_view view_;
  size_t pos_ = 0;
  int line_ = 1;
  bool line_starting_ = true;
  std::string brackets_;  // the closing ones that are awaited
  std::vector<Token> tokens_;
};

size_t Lexer::skip_space(size_t pos) const {
  while (pos < view_.size()) {
    size_t next = 0;
    if (!is_space(decode_at(view_, pos, &next))) break;
    pos = next;
  }
  return pos;
}

void Lexer::advance(size_t to) {
  line_ += static_cast<int>(std::count(view_.begin() + pos_, view_.begin() + to, '\n'));
  pos_ = to;
}

void Lexer::push(TokenKind kind, std::string text) {
  Token token;
  token.kind = kind;
  token.line = line_;
  token.text = std::move(text);
  tokens_.push_back(std::move(token));
}

void Lexer::push_data(size_t begin, size_t end, char sign, bool strip_line) {
  if (sign == '-') {
    while (end > begin) {
      const size_t before = previous_char(view_, end);
      size_t next = 0;
      if (before < begin || !is_space(decode_at(view_, before, &next))) break;
      end = before;
    }
  } else if (sign != '+' && strip_line) {
    const size_t newline = view_.substr(begin, end - begin).rfind('\n');
    const size_t start = newline == std::string_view::npos ? begin : begin + newline + 1;
    const bool own_line = newline != std::string_view::npos || line_starting_;
    if (own_line && skip_space(start) >= end) end = start;
  }
  if (end > begin) push(TokenKind::data, std::string(view_.substr(begin, end - begin)));
}

size_t Lexer::tag_end(std::string_view end, size_t pos, bool plus, bool trim) const {
  if (plus && at("+", pos) && at(end, pos + 1)) return pos + 1 + end.size();
  if (at("-", pos) && at(end, pos + 1)) return skip_space(pos + 1 + end.size());
  if (!at(end, pos)) return 0;
  pos += end.size();
  return trim && at("\n", pos) ? pos + 1 : pos;
}

Result<std::vector<Token>> Lexer::run() {
  while (pos_ < view_.size()) GAINZ_TRY(root());
  push(TokenKind::eof);
  return std::move(tokens_);
}

Status Lexer::root() {
  size_t open = pos_;
  for (;; ++open) {
    open = view_.find('{', open);
    if (open == std::string_view::npos || open + 1 >= view_.size()) {
      push(TokenKind::data, std::string(view_.substr(pos_)));
      pos_ = view_.size();
      return {};
    }
    const char c = view_[open + 1];
    if (c == '%' || c == '#' || c == '{') break;
  }
  size_t raw_end = 0;
  const bool is_raw = raw_begin(open, &raw_end);
  const char sign = open + 2 < view_.size() ? view_[open + 2] : ' ';
  const bool is_signed = sign == '-' || sign == '+';
  push_data(pos_, open, sign, view_[open + 1] != '{');
  if (is_raw) {
    advance(raw_end);
    line_starting_ = view_[raw_end - 1] == '\n';
    return raw(raw_end);
  }
  advance(open + (is_signed ? 3 : 2));
  line_starting_ = false;
  switch (view_[open + 1]) {
    case '#':
      return comment();
    case '%':
      return tag("%}", TokenKind::block_begin, TokenKind::block_end, true);
    default:
      return tag("}}", TokenKind::variable_begin, TokenKind::variable_end, false);
  }
}

Status Lexer::comment() {
  if (pos_ == view_.size()) return {};  // Jinja minds an open comment only if something is in it
  for (size_t pos = pos_; pos < view_.size(); ++pos) {
    const size_t end = tag_end("#}", pos, true, true);
    if (end == 0) continue;
    advance(end);
    line_starting_ = view_[end - 1] == '\n';
    return {};
  }
  return fail("Missing end of comment tag");
}

bool Lexer::raw_begin(size_t pos, size_t* out_end) const {
  if (!at("{%", pos)) return false;
  pos += 2;
  if (at("-", pos) || at("+", pos)) ++pos;
  pos = skip_space(pos);
  if (!at("raw", pos)) return false;
  pos = skip_space(pos + 3);
  *out_end = tag_end("%}", pos, false, false);
  return *out_end != 0;
}

Status Lexer::raw(size_t begin) {
  if (begin == view_.size()) return {};  // as with comments
  for (size_t open = view_.find("{%", begin); open != std::string_view::npos; open = view_.find("{%", open + 1)) {
    size_t pos = open + 2;
    const char sign = at("-", pos) ? '-' : (at("+", pos) ? '+' : ' ');
    if (sign != ' ') ++pos;
    pos = skip_space(pos);
    if (!at("endraw", pos)) continue;
    const size_t end = tag_end("%}", skip_space(pos + 6), true, true);
    if (end == 0) continue;
    push_data(begin, open, sign, true);
    advance(end);
    line_starting_ = view_[end - 1] == '\n';
    return {};
  }
  return fail("Missing end of raw directive");
}

Status Lexer::tag(std::string_view end, TokenKind begin_kind, TokenKind end_kind, bool is_block) {
  push(begin_kind);
  brackets_.clear();
  while (pos_ < view_.size()) {
    if (brackets_.empty()) {
      if (const size_t after = tag_end(end, pos_, is_block, is_block)) {
        push(end_kind);
        advance(after);
        line_starting_ = view_[after - 1] == '\n';
        return {};
      }
    }
    const size_t after = skip_space(pos_);
    if (after != pos_) {
      advance(after);
    } else {
      GAINZ_TRY(token());
    }
  }
  return {};  // the parser says what is missing at the end
}

Status Lexer::token() {
  const char c = view_[pos_];
  if (is_digit_byte(c)) return number_token();
  if (c == '\'' || c == '"') return string_token();
  if (!is_name_start(c)) return operator_token();
  size_t end = pos_;
  while (end < view_.size() && is_name_byte(view_[end])) ++end;
  push(TokenKind::name, std::string(view_.substr(pos_, end - pos_)));
  pos_ = end;
  return {};
}

Status Lexer::string_token() {
  const char quote = view_[pos_];
  size_t end = pos_ + 1;
  while (end < view_.size() && view_[end] != quote) end += view_[end] == '\\' ? 2 : 1;
  if (end >= view_.size()) return fail("a string is not closed");
  std::string value;
  std::string problem;
  if (!unescape_string(view_.substr(pos_ + 1, end - pos_ - 1), &value, &problem)) return fail(problem);
  push(TokenKind::string, std::move(value));
  advance(end + 1);
  return {};
}

// Digits of the base with single underscores between them; the position after them.
size_t Lexer::digits(size_t pos, int base) const {
  const auto is_one = [&](size_t k) {
    if (k >= view_.size()) return false;
    const char c = view_[k] | 0x20;
    const int value = is_digit_byte(view_[k]) ? view_[k] - '0' : (c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99);
    return value < base;
  };
  size_t end = pos;
  for (;;) {
    if (is_one(end)) {
      ++end;
    } else if (end < view_.size() && view_[end] == '_' && is_one(end + 1)) {
      end += 2;
    } else {
      return end;
    }
  }
}

Status Lexer::number_token() {
  const char second = pos_ + 1 < view_.size() ? static_cast<char>(view_[pos_ + 1] | 0x20) : ' ';
  int base = 10;
  size_t begin = pos_;
  bool is_real = false;
  if (view_[pos_] == '0' && (second == 'x' || second == 'o' || second == 'b')) {
    base = second == 'x' ? 16 : (second == 'o' ? 8 : 2);
    begin += 2;
  }
  size_t end = digits(begin, base);
  if (base != 10 && end == begin) {
    base = 10;
    end = pos_ + 1;
  }
  if (base == 10) {
    const bool after_dot = pos_ > 0 && view_[pos_ - 1] == '.';
    if (!after_dot && at(".", end) && digits(end + 1, 10) > end + 1) {
      end = digits(end + 1, 10);
      is_real = true;
    }
    if (!after_dot && end < view_.size() && (view_[end] | 0x20) == 'e') {
      const size_t sign = end + 1 + (at("+", end + 1) || at("-", end + 1) ? 1 : 0);
      if (digits(sign, 10) > sign) {
        end = digits(sign, 10);
        is_real = true;
      }
    }
    if (!is_real && view_[pos_] == '0') {  // 00 is a number, 01 is two
      end = pos_ + 1;
      while (end < view_.size() && (view_[end] == '0' || (view_[end] == '_' && at("0", end + 1)))) ++end;
    }
  }
  std::string text(view_.substr(base == 10 ? pos_ : begin, end - (base == 10 ? pos_ : begin)));
  text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
  push(is_real ? TokenKind::real : TokenKind::integer);
  if (is_real) {
    (void)parse_real(text, &tokens_.back().real);
  } else if (std::from_chars(text.data(), text.data() + text.size(), tokens_.back().integer, base).ec != std::errc()) {
    return fail("the number " + text + " does not fit 64 bits");
  }
  pos_ = end;
  return {};
}

Status Lexer::operator_token() {
  static constexpr std::string_view kTwo[] = {"//", "**", "==", "!=", ">=", "<="};
  size_t size = 1;
  for (const std::string_view two : kTwo) {
    if (at(two, pos_)) size = 2;
  }
  const char c = view_[pos_];
  if (size == 1 && std::string_view("+-/*%~[](){}><=.:|,;").find(c) == std::string_view::npos) {
    return fail("unexpected character '" + std::string(1, c) + "'");
  }
  if (c == '(') brackets_ += ')';
  if (c == '[') brackets_ += ']';
  if (c == '{') brackets_ += '}';
  if (c == ')' || c == ']' || c == '}') {
    if (brackets_.empty()) return fail("unexpected '" + std::string(1, c) + "'");
    if (brackets_.back() != c) return fail("unexpected '" + std::string(1, c) + "', expected '" + brackets_.back() + "'");
    brackets_.pop_back();
  }
  push(TokenKind::op, std::string(view_.substr(pos_, size)));
  pos_ += size;
  return {};
}

}  // namespace

Result<std::vector<Token>> tokenize(std::string_view source) { return Lexer(source).run(); }

}  // namespace gainz::jinja
