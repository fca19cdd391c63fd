// Expressions, by operator precedence: or, and, not, comparisons, + -, ~, * / // %, **, signs, postfix, filters and tests.
#include <algorithm>

#include "template/limits.h"
#include "template/parser.h"

namespace gainz::jinja {

namespace {

constexpr int kOr = 1, kAnd = 2, kNot = 3, kCompare = 4, kAdd = 5, kConcat = 6, kMultiply = 7, kPower = 8;

struct OpEntry {
  std::string_view text;
  int level;
  Op op;
};
constexpr OpEntry kOps[] = {
    {"==", kCompare, Op::eq},  {"!=", kCompare, Op::ne},  {"<", kCompare, Op::lt},   {"<=", kCompare, Op::le},
    {">", kCompare, Op::gt},   {">=", kCompare, Op::ge},  {"+", kAdd, Op::add},      {"-", kAdd, Op::sub},
    {"~", kConcat, Op::add},   {"*", kMultiply, Op::mul}, {"/", kMultiply, Op::div}, {"//", kMultiply, Op::floordiv},
    {"%", kMultiply, Op::mod}, {"**", kPower, Op::pow},
};

}  // namespace

void Parser::lift(Expr* parent, const ExprPtr& child) {
  if (child) parent->height = std::max(parent->height, child->height + 1);
}

void Parser::lift(Expr* parent, const CallArgs& args) {
  for (const auto& arg : args.positional) lift(parent, arg);
  for (const auto& arg : args.named) lift(parent, arg.second);
  lift(parent, args.star);
  lift(parent, args.star_star);
}

ExprPtr Parser::checked(ExprPtr expr) {
  if (failed()) return nullptr;
  if (expr->height > kMaxExpressionHeight) return fail_limit("levels in one expression", kMaxExpressionHeight);
  return expr;
}

ExprPtr Parser::expression(bool with_conditional) {
  const Nest nest(*this);
  if (!nest.ok()) return nullptr;
  return with_conditional ? conditional() : climb(kOr);
}

ExprPtr Parser::conditional() {
  ExprPtr value = climb(kOr);
  if (!value || !is_name("if")) return value;
  auto result = std::make_unique<ConditionalExpr>(value->line);
  while (value && is_name("if")) {
    const int line = now().line;
    next();
    ExprPtr condition = climb(kOr);
    if (!condition) return nullptr;
    if (skip_name("else")) {
      lift(result.get(), condition);
      lift(result.get(), value);
      result->branches.emplace_back(std::move(condition), std::move(value));
      value = climb(kOr);
      continue;
    }
    auto inner = std::make_unique<ConditionalExpr>(line);
    lift(inner.get(), condition);
    lift(inner.get(), value);
    inner->branches.emplace_back(std::move(condition), std::move(value));
    value = checked(std::move(inner));
  }
  if (!value) return nullptr;
  if (result->branches.empty()) return value;
  lift(result.get(), value);
  result->otherwise = std::move(value);
  return checked(std::move(result));
}

int Parser::level_here(Op* out_op) const {
  if (now().kind == TokenKind::name) {
    if (now().text == "or") return kOr;
    if (now().text == "and") return kAnd;
    if (now().text == "in") {
      *out_op = Op::in;
      return kCompare;
    }
    if (now().text == "not" && ahead().kind == TokenKind::name && ahead().text == "in") {
      *out_op = Op::not_in;
      return kCompare;
    }
    return 0;
  }
  if (now().kind != TokenKind::op) return 0;
  for (const OpEntry& entry : kOps) {
    if (entry.text == now().text) {
      *out_op = entry.op;
      return entry.level;
    }
  }
  return 0;
}

// An expression of operators that bind at least as tightly as min_level.
ExprPtr Parser::climb(int min_level) {
  ExprPtr result = min_level <= kNot && is_name("not") ? negations() : unary();
  while (result) {
    Op op = Op::add;
    const int level = level_here(&op);
    if (level == 0 || level < min_level) return result;
    switch (level) {
      case kOr:
      case kAnd:
        result = logic(std::move(result), level);
        break;
      case kCompare:
        result = comparison(std::move(result));
        break;
      case kConcat:
        result = concatenation(std::move(result));
        break;
      default:
        result = arithmetic(std::move(result), level);
        break;
    }
  }
  return nullptr;
}

ExprPtr Parser::negations() {
  const int line = now().line;
  int count = 0;
  while (skip_name("not")) ++count;
  ExprPtr operand = climb(kCompare);
  for (int k = count % 2 == 0 ? 0 : 1; operand && k < 2; ++k) {  // not not x is bool(x): two nodes; any odd number is one
    auto node = std::make_unique<UnaryExpr>(line, Op::logical_not, std::move(operand));
    lift(node.get(), node->operand);
    operand = checked(std::move(node));
  }
  return operand;
}

ExprPtr Parser::logic(ExprPtr first, int level) {
  auto node = std::make_unique<ListedExpr>(ExprKind::logic, first->line);
  node->is_and = level == kAnd;
  lift(node.get(), first);
  node->items.push_back(std::move(first));
  while (skip_name(level == kAnd ? "and" : "or")) {
    node->items.push_back(climb(level + 1));
    lift(node.get(), node->items.back());
    if (failed()) return nullptr;
  }
  return checked(std::move(node));
}

ExprPtr Parser::comparison(ExprPtr first) {
  auto node = std::make_unique<BinaryExpr>(ExprKind::compare, first->line);
  lift(node.get(), first);
  node->first = std::move(first);
  Op op = Op::eq;
  while (level_here(&op) == kCompare) {
    if (op == Op::not_in) next();
    next();
    node->rest.push_back({op, climb(kCompare + 1)});
    lift(node.get(), node->rest.back().expr);
    if (failed()) return nullptr;
  }
  return checked(std::move(node));
}

ExprPtr Parser::concatenation(ExprPtr first) {
  auto node = std::make_unique<ListedExpr>(ExprKind::concat, first->line);
  lift(node.get(), first);
  node->items.push_back(std::move(first));
  while (skip_op("~")) {
    node->items.push_back(climb(kConcat + 1));
    lift(node.get(), node->items.back());
    if (failed()) return nullptr;
  }
  return checked(std::move(node));
}

ExprPtr Parser::arithmetic(ExprPtr first, int level) {
  auto node = std::make_unique<BinaryExpr>(ExprKind::binary, first->line);
  lift(node.get(), first);
  node->first = std::move(first);
  Op op = Op::add;
  while (level_here(&op) == level) {
    next();
    node->rest.push_back({op, climb(level + 1)});
    lift(node.get(), node->rest.back().expr);
    if (failed()) return nullptr;
  }
  return checked(std::move(node));
}

ExprPtr Parser::unary(bool with_filter) {
  ExprPtr node;
  if (is_op("-") || is_op("+")) {
    const Nest nest(*this);
    if (!nest.ok()) return nullptr;
    const Op op = is_op("-") ? Op::neg : Op::pos;
    const int line = now().line;
    next();
    ExprPtr operand = unary(false);
    if (!operand) return nullptr;
    auto sign = std::make_unique<UnaryExpr>(line, op, std::move(operand));
    lift(sign.get(), sign->operand);
    node = checked(std::move(sign));
  } else {
    node = primary();
  }
  return node ? postfix(std::move(node), with_filter) : nullptr;
}

ExprPtr Parser::constant(Value value) { return std::make_unique<ConstantExpr>(now().line, std::move(value)); }

ExprPtr Parser::primary() {
  ExprPtr node;
  switch (now().kind) {
    case TokenKind::name:
      return names();
    case TokenKind::string:
      return strings();
    case TokenKind::integer:
      node = constant(Value::integer(now().integer));
      next();
      return node;
    case TokenKind::real:
      node = constant(Value::real(now().real));
      next();
      return node;
    default:
      break;
  }
  if (is_op("[")) return list_literal();
  if (is_op("{")) return dict_literal();
  if (!skip_op("(")) return unexpected();
  node = tuple(true, {}, true);
  return node && expect_op(")") ? std::move(node) : nullptr;
}

ExprPtr Parser::names() {
  const std::string& name = now().text;
  ExprPtr node;
  if (name == "true" || name == "True") {
    node = constant(Value::boolean(true));
  } else if (name == "false" || name == "False") {
    node = constant(Value::boolean(false));
  } else if (name == "none" || name == "None") {
    node = constant(Value::none());
  } else {
    uses_caller_ |= name == "caller";
    uses_varargs_ |= name == "varargs";
    uses_kwargs_ |= name == "kwargs";
    node = std::make_unique<NameExpr>(now().line, intern(name));
  }
  next();
  return node;
}

ExprPtr Parser::strings() {
  const int line = now().line;
  std::string bytes;
  for (; now().kind == TokenKind::string; next()) bytes += now().text;
  Value value;
  value.kind = Kind::text;
  value.ref = std::make_shared<TextRef>(Text(std::move(bytes)), nullptr, 0);
  return std::make_unique<ConstantExpr>(line, std::move(value));
}

// One expression, or several with commas: a tuple. `end_name`: a name that may follow a last comma.
ExprPtr Parser::tuple(bool with_conditional, std::string_view end_name, bool in_parentheses) {
  const Nest nest(*this);
  if (!nest.ok()) return nullptr;
  auto node = std::make_unique<ListExpr>(ExprKind::tuple, now().line);
  bool is_tuple = false;
  for (;;) {
    const bool ends = now().kind == TokenKind::variable_end || now().kind == TokenKind::block_end || is_op(")") ||
                      (!end_name.empty() && is_name(end_name));
    if (ends) break;
    ExprPtr item = expression(with_conditional);
    if (!item) return nullptr;
    lift(node.get(), item);
    node->items.push_back(std::move(item));
    if (!skip_op(",")) break;
    is_tuple = true;
  }
  if (!is_tuple && !node->items.empty()) return std::move(node->items.front());
  if (!is_tuple && !in_parentheses) return fail("expected an expression");
  return checked(std::move(node));
}

ExprPtr Parser::list_literal() {
  auto node = std::make_unique<ListExpr>(ExprKind::list, now().line);
  next();
  while (!is_op("]")) {
    if (!node->items.empty() && !expect_op(",")) return nullptr;
    if (is_op("]")) break;
    node->items.push_back(expression());
    lift(node.get(), node->items.back());
    if (failed()) return nullptr;
  }
  next();
  return checked(std::move(node));
}

ExprPtr Parser::dict_literal() {
  auto node = std::make_unique<DictExpr>(now().line);
  next();
  while (!is_op("}")) {
    if (!node->items.empty() && !expect_op(",")) return nullptr;
    if (is_op("}")) break;
    ExprPtr key = expression();
    if (!key || !expect_op(":")) return nullptr;
    ExprPtr value = expression();
    if (!value) return nullptr;
    lift(node.get(), key);
    lift(node.get(), value);
    node->items.emplace_back(std::move(key), std::move(value));
  }
  next();
  return checked(std::move(node));
}

}  // namespace gainz::jinja
