// Template source to tokens, with trim_blocks and lstrip_blocks done. The rules are those of Jinja's lexer
// (jinja.palletsprojects.com, "Template Designer Documentation"). Pure function; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace gainz::jinja {

enum class TokenKind : uint8_t {
  data,
  variable_begin,
  variable_end,
  block_begin,
  block_end,
  name,
  string,
  integer,
  real,
  op,
  eof
};

struct Token {
  TokenKind kind = TokenKind::eof;
  int line = 1;
  std::string text;  // data, name, string (unescaped), op
  int64_t integer = 0;
  double real = 0;
};

// Errors: invalid, with the line. The last token is eof.
Result<std::vector<Token>> tokenize(std::string_view source);

}  // namespace gainz::jinja
