// Tokens to a Program. parser.cc holds the statements, parser_expr.cc the expressions. Syntax errors name the line. Nesting is
// limited (kMaxNesting, kMaxExpressionHeight, kMaxStackBytes), so that neither parsing nor freeing the tree can exhaust a
// stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "template/ast.h"
#include "template/lexer.h"

namespace gainz::jinja {

// Errors: invalid, limit_exceeded.
Result<std::unique_ptr<const Program>> parse_program(std::string_view source);

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens);
  bool run(Program* program);
  const Status& status() const { return status_; }

 private:
  // Counts one level of nesting while it lives; ok() is false, and the parser has failed, when there are too many.
  class Nest {
   public:
    explicit Nest(Parser& parser);
    ~Nest() { --parser_.depth_; }
    Nest(const Nest&) = delete;
    Nest& operator=(const Nest&) = delete;
    bool ok() const { return !parser_.failed(); }

   private:
    Parser& parser_;
  };

  bool failed() const { return !status_.ok(); }
  std::nullptr_t fail(const std::string& what);
  std::nullptr_t fail_limit(const char* what, uint64_t value);
  std::nullptr_t unexpected();
  const Token& now() const { return tokens_[at_]; }
  const Token& ahead() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  void next() { at_ += at_ + 1 < tokens_.size() ? 1 : 0; }
  bool is_op(std::string_view op) const { return now().kind == TokenKind::op && now().text == op; }
  bool is_name(std::string_view name) const { return now().kind == TokenKind::name && now().text == name; }
  bool skip_op(std::string_view op);
  bool skip_name(std::string_view name);
  bool expect_op(std::string_view op);
  bool expect_name(std::string_view name);
  bool expect(TokenKind kind, const char* what);
  std::string identifier();
  NameId intern(const std::string& name);

  // Statements. Null: failed.
  bool body_until(std::initializer_list<std::string_view> ends, Body* out);  // stops at the end's name, after {%
  bool statements(std::initializer_list<std::string_view> ends, Body* out);  // first the rest of the opening tag
  bool end_statements(std::string_view end, Body* out);                      // and skips the end's name
  StmtPtr statement();
  StmtPtr output();
  StmtPtr parse_for();
  StmtPtr parse_if();
  StmtPtr parse_set();
  StmtPtr parse_macro();
  StmtPtr parse_call();
  StmtPtr parse_filter_block();
  StmtPtr parse_with();
  StmtPtr parse_scope(std::string_view end);
  StmtPtr parse_loop_control();
  bool signature(Signature* out);
  bool macro_body(MacroStmt* macro, std::string_view end);
  bool target(Target* out, bool with_attribute);
  bool target_item(Target* out, bool with_attribute);

  // Expressions. Null: failed.
  ExprPtr expression(bool with_conditional = true);
  ExprPtr conditional();
  ExprPtr climb(int min_level);
  ExprPtr negations();
  ExprPtr logic(ExprPtr first, int level);
  ExprPtr comparison(ExprPtr first);
  ExprPtr concatenation(ExprPtr first);
  ExprPtr arithmetic(ExprPtr first, int level);
  int level_here(Op* out_op) const;
  ExprPtr unary(bool with_filter = true);
  ExprPtr primary();
  ExprPtr constant(Value value);
  ExprPtr strings();
  ExprPtr names();
  ExprPtr tuple(bool with_conditional, std::string_view end_name, bool in_parentheses);
  ExprPtr list_literal();
  ExprPtr dict_literal();
  ExprPtr postfix(ExprPtr base, bool with_filter);
  bool link(ChainExpr* chain, bool with_filter, bool filters_begun, bool* out_more);
  bool dot(Postfix* link);
  bool subscript(Postfix* link);
  bool subscript_part(Postfix* link);
  bool filter(Postfix* link);
  bool test(Postfix* link);
  bool call_args(CallArgs* out);
  ExprPtr filter_chain(bool need_pipe);
  static void lift(Expr* parent, const ExprPtr& child);  // the parent is higher than the child
  static void lift(Expr* parent, const CallArgs& args);
  ExprPtr checked(ExprPtr expr);  // or null: too high

  std::vector<Token> tokens_;
  size_t at_ = 0;
  int depth_ = 0;
  int loops_ = 0;      // around this place, in the same macro
  int all_loops_ = 0;  // around this place
  uintptr_t stack_base_;
  Status status_;
  Program* program_ = nullptr;
  // Special names that the macro being parsed uses.
  bool uses_caller_ = false, uses_varargs_ = false, uses_kwargs_ = false;
};

}  // namespace gainz::jinja
