// The tree of a parsed template. Chains (a.b|c, a + b + c, a or b or c, x if y else ...) are flat, so the tree's height is the
// nesting that a person sees, and it is limited. Built by the parser, then never changed; shared by threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "template/value.h"

namespace gainz::jinja {

enum class ExprKind : uint8_t { constant, name, list, tuple, dict, unary, binary, concat, compare, logic, conditional, chain };

struct Expr {
  Expr(ExprKind k, int l) : kind(k), line(l) {}
  virtual ~Expr() = default;
  ExprKind kind;
  int line;
  int height = 1;
};
using ExprPtr = std::unique_ptr<Expr>;

enum class Op : uint8_t { add, sub, mul, div, floordiv, mod, pow, eq, ne, lt, le, gt, ge, in, not_in, neg, pos, logical_not };

using NameId = uint32_t;  // index into Program::names

struct ConstantExpr final : Expr {
  ConstantExpr(int l, Value v) : Expr(ExprKind::constant, l), value(std::move(v)) {}
  Value value;
};
struct NameExpr final : Expr {
  NameExpr(int l, NameId n) : Expr(ExprKind::name, l), name(n) {}
  NameId name;
};
struct ListExpr final : Expr {  // a list or a tuple
  using Expr::Expr;
  std::vector<ExprPtr> items;
};
struct DictExpr final : Expr {
  explicit DictExpr(int l) : Expr(ExprKind::dict, l) {}
  std::vector<std::pair<ExprPtr, ExprPtr>> items;
};
struct UnaryExpr final : Expr {
  UnaryExpr(int l, Op o, ExprPtr e) : Expr(ExprKind::unary, l), op(o), operand(std::move(e)) {}
  Op op;
  ExprPtr operand;
};
struct Operand {
  Op op;
  ExprPtr expr;
};
struct BinaryExpr final : Expr {  // first op a op b ..., from left to right; or a chain of comparisons
  using Expr::Expr;
  ExprPtr first;
  std::vector<Operand> rest;
};
struct ListedExpr final : Expr {  // a ~ b ~ c; a and b and c; a or b or c
  using Expr::Expr;
  bool is_and = false;
  std::vector<ExprPtr> items;
};
struct ConditionalExpr final : Expr {  // the value of the first branch whose condition holds, else otherwise (null: undefined)
  explicit ConditionalExpr(int l) : Expr(ExprKind::conditional, l) {}
  std::vector<std::pair<ExprPtr, ExprPtr>> branches;  // condition, value
  ExprPtr otherwise;
};

struct CallArgs {
  std::vector<ExprPtr> positional;
  std::vector<std::pair<std::string, ExprPtr>> named;
  ExprPtr star, star_star;
};
enum class PostfixKind : uint8_t { attribute, item, slice, call, filter, test };
struct Postfix {
  PostfixKind kind;
  bool negated = false;  // of a test
  int line = 1;
  std::string name;  // attribute, filter, test
  ExprPtr a, b, c;   // item; start, stop, step
  CallArgs args;
};
struct ChainExpr final : Expr {
  explicit ChainExpr(int l) : Expr(ExprKind::chain, l) {}
  ExprPtr base;  // null: a filter chain on text that a statement supplies
  std::vector<Postfix> links;
};

// What an assignment writes: a name, an attribute of a namespace, or a tuple of targets.
struct Target {
  enum Kind : uint8_t { name, attribute, tuple } kind = name;
  NameId id = 0;
  std::string attribute_name;
  std::vector<Target> items;
};

enum class StmtKind : uint8_t {
  data,
  output,
  for_loop,
  if_else,
  assign,
  assign_block,
  macro,
  call_block,
  filter_block,
  with,
  scope,
  break_loop,
  continue_loop
};

struct Stmt {
  Stmt(StmtKind k, int l) : kind(k), line(l) {}
  virtual ~Stmt() = default;
  StmtKind kind;
  int line;
};
using StmtPtr = std::unique_ptr<Stmt>;
using Body = std::vector<StmtPtr>;

struct DataStmt final : Stmt {
  DataStmt(int l, std::string t) : Stmt(StmtKind::data, l), text(std::move(t)) {}
  std::string text;
};
struct OutputStmt final : Stmt {
  OutputStmt(int l, ExprPtr e) : Stmt(StmtKind::output, l), expr(std::move(e)) {}
  ExprPtr expr;
};
struct ForStmt final : Stmt {
  explicit ForStmt(int l) : Stmt(StmtKind::for_loop, l) {}
  Target target;
  ExprPtr iterable, condition;
  bool recursive = false;
  Body body, otherwise;
};
struct IfStmt final : Stmt {
  explicit IfStmt(int l) : Stmt(StmtKind::if_else, l) {}
  std::vector<std::pair<ExprPtr, Body>> branches;
  Body otherwise;
};
struct AssignStmt final : Stmt {  // assign, assign_block
  using Stmt::Stmt;
  Target target;
  ExprPtr value;  // of a block: the filters, or null
  Body body;
};
struct Signature {
  std::vector<NameId> names;
  std::vector<ExprPtr> defaults;  // of the last names
};
struct MacroStmt final : Stmt {  // macro, call_block (its body is the caller)
  using Stmt::Stmt;
  std::string name;
  NameId id = 0;
  Signature signature;
  Body body;
  bool uses_caller = false, uses_varargs = false, uses_kwargs = false;
  ExprPtr call;  // of a call block
};
struct FilterStmt final : Stmt {
  explicit FilterStmt(int l) : Stmt(StmtKind::filter_block, l) {}
  ExprPtr filters;
  Body body;
};
struct WithStmt final : Stmt {  // with, scope
  using Stmt::Stmt;
  std::vector<std::pair<Target, ExprPtr>> values;
  Body body;
};

struct Program {
  Body body;
  std::vector<std::string> names;  // by NameId
  std::unordered_map<std::string, NameId> ids;
};

}  // namespace gainz::jinja
