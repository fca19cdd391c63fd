#include "template/parser.h"

#include <algorithm>

#include "template/limits.h"

namespace gainz::jinja {

namespace {

uintptr_t stack_here() { return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)); }

}  // namespace

Parser::Nest::Nest(Parser& parser) : parser_(parser) {
  const uintptr_t here = stack_here();
  const uintptr_t used = here > parser.stack_base_ ? here - parser.stack_base_ : parser.stack_base_ - here;
  if (++parser.depth_ > kMaxNesting) parser.fail_limit("levels of nesting", kMaxNesting);
  if (used > kMaxStackBytes) parser.fail_limit("bytes of stack (it nests too deeply)", kMaxStackBytes);
}

Parser::Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)), stack_base_(stack_here()) {}

std::nullptr_t Parser::fail(const std::string& what) {
  if (!failed()) status_ = Status(Code::invalid, "chat template, line " + std::to_string(now().line) + ": " + what);
  return nullptr;
}

std::nullptr_t Parser::fail_limit(const char* what, uint64_t value) {
  if (!failed()) {
    status_ = Status(Code::limit_exceeded,
                     "chat template, line " + std::to_string(now().line) + ": more than " + std::to_string(value) + " " + what);
  }
  return nullptr;
}

std::nullptr_t Parser::unexpected() {
  switch (now().kind) {
    case TokenKind::eof:
      return fail("the template ends too early");
    case TokenKind::variable_end:
      return fail("unexpected end of a print statement");
    case TokenKind::block_end:
      return fail("unexpected end of a statement");
    case TokenKind::integer:
    case TokenKind::real:
      return fail("unexpected number");
    case TokenKind::string:
      return fail("unexpected string");
    default:
      return fail("unexpected '" + now().text + "'");
  }
}

bool Parser::skip_op(std::string_view op) {
  if (!is_op(op)) return false;
  next();
  return true;
}

bool Parser::skip_name(std::string_view name) {
  if (!is_name(name)) return false;
  next();
  return true;
}

bool Parser::expect_op(std::string_view op) {
  if (skip_op(op)) return true;
  unexpected();
  return false;
}

bool Parser::expect_name(std::string_view name) {
  if (skip_name(name)) return true;
  unexpected();
  return false;
}

bool Parser::expect(TokenKind kind, const char* what) {
  if (now().kind != kind) {
    fail(now().kind == TokenKind::eof ? "the template ends too early" : std::string("expected ") + what);
    return false;
  }
  next();
  return true;
}

std::string Parser::identifier() {
  std::string name = now().text;
  if (now().kind != TokenKind::name) {
    fail("expected a name");
    return {};
  }
  next();
  return name;
}

NameId Parser::intern(const std::string& name) {
  const auto [found, is_new] = program_->ids.emplace(name, static_cast<NameId>(program_->names.size()));
  if (is_new) program_->names.push_back(name);
  return found->second;
}

bool Parser::run(Program* program) {
  program_ = program;
  for (const char* name : {"loop", "caller", "varargs", "kwargs"}) intern(name);
  return body_until({}, &program->body);
}

bool Parser::body_until(std::initializer_list<std::string_view> ends, Body* out) {
  while (!failed()) {
    switch (now().kind) {
      case TokenKind::eof:
        if (ends.size() == 0) return true;
        fail("the template ends, but a tag is still open (waiting for '" + std::string(*(ends.end() - 1)) + "')");
        return false;
      case TokenKind::data:
        out->push_back(std::make_unique<DataStmt>(now().line, now().text));
        next();
        break;
      case TokenKind::variable_begin:
        out->push_back(output());
        break;
      case TokenKind::block_begin: {
        next();
        if (now().kind != TokenKind::name) {
          fail("expected the name of a tag");
          return false;
        }
        if (std::find(ends.begin(), ends.end(), now().text) != ends.end()) return true;
        StmtPtr stmt = statement();
        if (!stmt || !expect(TokenKind::block_end, "the end of the tag")) return false;
        out->push_back(std::move(stmt));
        break;
      }
      default:
        unexpected();
        return false;
    }
  }
  return false;
}

StmtPtr Parser::output() {
  const int line = now().line;
  next();
  ExprPtr expr = tuple(true, {}, false);
  if (!expr || !expect(TokenKind::variable_end, "the end of the print statement")) return nullptr;
  return std::make_unique<OutputStmt>(line, std::move(expr));
}

bool Parser::statements(std::initializer_list<std::string_view> ends, Body* out) {
  skip_op(":");
  return expect(TokenKind::block_end, "the end of the tag") && body_until(ends, out);
}

bool Parser::end_statements(std::string_view end, Body* out) {
  if (!statements({end}, out)) return false;
  next();
  return true;
}

StmtPtr Parser::statement() {
  const Nest nest(*this);
  if (!nest.ok()) return nullptr;
  if (is_name("for")) return parse_for();
  if (is_name("if")) return parse_if();
  if (is_name("set")) return parse_set();
  if (is_name("macro")) return parse_macro();
  if (is_name("call")) return parse_call();
  if (is_name("filter")) return parse_filter_block();
  if (is_name("with")) return parse_with();
  if (is_name("generation")) return parse_scope("endgeneration");
  if (is_name("break") || is_name("continue")) return parse_loop_control();
  return fail("unknown tag '" + now().text + "'");
}

StmtPtr Parser::parse_loop_control() {
  if (loops_ == 0) return fail("'" + now().text + "' outside of a loop");
  auto stmt = std::make_unique<Stmt>(is_name("break") ? StmtKind::break_loop : StmtKind::continue_loop, now().line);
  next();
  return stmt;
}

StmtPtr Parser::parse_for() {
  auto stmt = std::make_unique<ForStmt>(now().line);
  next();
  ++all_loops_;
  const bool has_target = target(&stmt->target, false) && expect_name("in");
  --all_loops_;
  if (!has_target) return nullptr;
  stmt->iterable = tuple(false, "recursive", false);
  if (!stmt->iterable) return nullptr;
  if (skip_name("if") && !(stmt->condition = expression())) return nullptr;
  stmt->recursive = skip_name("recursive");
  ++loops_;
  ++all_loops_;
  const bool good = statements({"else", "endfor"}, &stmt->body);
  --loops_;
  --all_loops_;
  if (!good) return nullptr;
  if (skip_name("endfor")) return stmt;
  next();
  if (!end_statements("endfor", &stmt->otherwise)) return nullptr;
  return stmt;
}

StmtPtr Parser::parse_if() {
  auto stmt = std::make_unique<IfStmt>(now().line);
  next();
  for (;;) {
    ExprPtr condition = tuple(false, {}, false);
    if (!condition) return nullptr;
    stmt->branches.emplace_back(std::move(condition), Body());
    if (!statements({"elif", "else", "endif"}, &stmt->branches.back().second)) return nullptr;
    if (skip_name("elif")) continue;
    if (skip_name("endif")) return stmt;
    next();
    if (!end_statements("endif", &stmt->otherwise)) return nullptr;
    return stmt;
  }
}

StmtPtr Parser::parse_set() {
  const int line = now().line;
  next();
  Target where;
  if (!target(&where, true)) return nullptr;
  const bool is_block = !skip_op("=");
  auto stmt = std::make_unique<AssignStmt>(is_block ? StmtKind::assign_block : StmtKind::assign, line);
  stmt->target = std::move(where);
  if (!is_block) {
    stmt->value = tuple(true, {}, false);
    if (!stmt->value) return nullptr;
    return stmt;
  }
  if (is_op("|") && !(stmt->value = filter_chain(true))) return nullptr;
  if (!end_statements("endset", &stmt->body)) return nullptr;
  return stmt;
}

StmtPtr Parser::parse_filter_block() {
  auto stmt = std::make_unique<FilterStmt>(now().line);
  next();
  stmt->filters = filter_chain(false);
  if (!stmt->filters || !end_statements("endfilter", &stmt->body)) return nullptr;
  return stmt;
}

StmtPtr Parser::parse_with() {
  auto stmt = std::make_unique<WithStmt>(StmtKind::with, now().line);
  next();
  while (now().kind != TokenKind::block_end) {
    if (!stmt->values.empty() && !expect_op(",")) return nullptr;
    Target where;
    if (!target(&where, false) || !expect_op("=")) return nullptr;
    ExprPtr value = expression();
    if (!value) return nullptr;
    stmt->values.emplace_back(std::move(where), std::move(value));
  }
  if (!end_statements("endwith", &stmt->body)) return nullptr;
  return stmt;
}

StmtPtr Parser::parse_scope(std::string_view end) {
  auto stmt = std::make_unique<WithStmt>(StmtKind::scope, now().line);
  next();
  const int loops = std::exchange(loops_, 0);
  const bool good = end_statements(end, &stmt->body);
  loops_ = loops;
  if (!good) return nullptr;
  return stmt;
}

bool Parser::signature(Signature* out) {
  if (!expect_op("(")) return false;
  while (!is_op(")")) {
    if (!out->names.empty() && !expect_op(",")) return false;
    const std::string name = identifier();
    if (failed()) return false;
    out->names.push_back(intern(name));
    if (skip_op("=")) {
      out->defaults.push_back(expression());
    } else if (!out->defaults.empty()) {
      fail("a parameter without a default follows one with a default");
    }
    if (failed()) return false;
  }
  next();
  return true;
}

bool Parser::macro_body(MacroStmt* macro, std::string_view end) {
  const bool caller = std::exchange(uses_caller_, false);
  const bool varargs = std::exchange(uses_varargs_, false);
  const bool kwargs = std::exchange(uses_kwargs_, false);
  const int loops = std::exchange(loops_, 0);
  const bool good = end_statements(end, &macro->body);
  loops_ = loops;
  macro->uses_caller = uses_caller_;
  macro->uses_varargs = uses_varargs_;
  macro->uses_kwargs = uses_kwargs_;
  uses_caller_ |= caller;
  uses_varargs_ |= varargs;
  uses_kwargs_ |= kwargs;
  return good;
}

StmtPtr Parser::parse_macro() {
  auto stmt = std::make_unique<MacroStmt>(StmtKind::macro, now().line);
  next();
  stmt->name = identifier();
  if (failed()) return nullptr;
  stmt->id = intern(stmt->name);
  if (!signature(&stmt->signature) || !macro_body(stmt.get(), "endmacro")) return nullptr;
  return stmt;
}

StmtPtr Parser::parse_call() {
  auto stmt = std::make_unique<MacroStmt>(StmtKind::call_block, now().line);
  next();
  stmt->name = "caller";
  if (is_op("(") && !signature(&stmt->signature)) return nullptr;
  stmt->call = expression();
  if (!stmt->call) return nullptr;
  const auto* chain = stmt->call->kind == ExprKind::chain ? static_cast<const ChainExpr*>(stmt->call.get()) : nullptr;
  if (!chain || chain->links.back().kind != PostfixKind::call) return fail("expected a call");
  if (!macro_body(stmt.get(), "endcall")) return nullptr;
  return stmt;
}

bool Parser::target(Target* out, bool with_attribute) {
  Target first;
  if (!target_item(&first, with_attribute)) return false;
  if (!is_op(",")) {
    *out = std::move(first);
    return true;
  }
  out->kind = Target::tuple;
  out->items.push_back(std::move(first));
  while (skip_op(",")) {
    if (is_name("in") || is_op("=") || is_op(")") || now().kind == TokenKind::block_end) break;
    out->items.emplace_back();
    if (!target_item(&out->items.back(), with_attribute)) return false;
  }
  return true;
}

bool Parser::target_item(Target* out, bool with_attribute) {
  const Nest nest(*this);
  if (!nest.ok()) return false;
  if (skip_op("(")) return target(out, with_attribute) && expect_op(")");
  const std::string name = identifier();
  if (failed()) return false;
  for (const std::string_view constant : {"true", "false", "none", "True", "False", "None"}) {
    if (name == constant) {
      fail("cannot assign to '" + name + "'");
      return false;
    }
  }
  if (name == "loop" && all_loops_ > 0) {
    fail("cannot assign to the special variable 'loop' in a for loop");
    return false;
  }
  out->id = intern(name);
  if (!with_attribute || !skip_op(".")) return true;
  out->kind = Target::attribute;
  out->attribute_name = identifier();
  return !failed();
}

Result<std::unique_ptr<const Program>> parse_program(std::string_view source) {
  GAINZ_ASSIGN(std::vector<Token> tokens, tokenize(source));
  auto program = std::make_unique<Program>();
  Parser parser(std::move(tokens));
  if (!parser.run(program.get())) return parser.status();
  return std::unique_ptr<const Program>(std::move(program));
}

}  // namespace gainz::jinja
