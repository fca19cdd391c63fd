#include "template/builtins.h"
#include "template/evaluator.h"
#include "template/format.h"
#include "template/limits.h"
#include "template/operators.h"

namespace gainz::jinja {

Evaluator::Level::Level(Evaluator& evaluator) : evaluator_(evaluator) {
  if (++evaluator.depth_ > kMaxEvaluationDepth) evaluator.over("levels of evaluation", kMaxEvaluationDepth);
  evaluator.step();
  evaluator.deep();
}

Value Evaluator::eval(const Expr& expr) {
  const Level level(*this);
  if (!level.ok()) return {};
  line = expr.line;
  switch (expr.kind) {
    case ExprKind::constant:
      return static_cast<const ConstantExpr&>(expr).value;
    case ExprKind::name:
      return eval_name(static_cast<const NameExpr&>(expr).name);
    case ExprKind::list:
    case ExprKind::tuple:
      return eval_list(static_cast<const ListExpr&>(expr));
    case ExprKind::dict:
      return eval_dict(static_cast<const DictExpr&>(expr));
    case ExprKind::unary:
      return eval_unary(static_cast<const UnaryExpr&>(expr));
    case ExprKind::binary:
      return eval_binary(static_cast<const BinaryExpr&>(expr));
    case ExprKind::concat:
      return eval_concat(static_cast<const ListedExpr&>(expr));
    case ExprKind::compare:
      return eval_compare(static_cast<const BinaryExpr&>(expr));
    case ExprKind::logic:
      return eval_logic(static_cast<const ListedExpr&>(expr));
    case ExprKind::conditional:
      return eval_conditional(static_cast<const ConditionalExpr&>(expr));
    case ExprKind::chain: {
      const auto& chain = static_cast<const ChainExpr&>(expr);
      return eval_links(chain, eval(*chain.base), chain.links.size());
    }
  }
  return {};
}

Value Evaluator::eval_name(NameId name) {
  for (Scope* scope = scope_.get(); scope; scope = scope->parent.get()) {
    if (const Value* found = scope->find(name)) return *found;
  }
  const std::string& text = program_.names[name];
  if (find_global(text)) return function(text);
  return undefined("'" + text + "' is undefined");
}

Value Evaluator::eval_list(const ListExpr& expr) {
  std::vector<Value> items;
  items.reserve(expr.items.size());
  for (const ExprPtr& item : expr.items) {
    items.push_back(eval(*item));
    if (failed()) return {};
  }
  return list(std::move(items), expr.kind == ExprKind::tuple ? Kind::tuple : Kind::list);
}

Value Evaluator::eval_dict(const DictExpr& expr) {
  DictBuilder dict(*this);
  for (const auto& [key, value] : expr.items) {
    const Value k = eval(*key);
    if (failed() || !dict.set(k, eval(*value))) return {};
  }
  return dict.finish();
}

Value Evaluator::eval_unary(const UnaryExpr& expr) {
  const Value operand = eval(*expr.operand);
  if (failed()) return {};
  return expr.op == Op::logical_not ? Value::boolean(!truth(operand)) : sign(*this, expr.op, operand);
}

Value Evaluator::eval_binary(const BinaryExpr& expr) {
  Value result = eval(*expr.first);
  for (const Operand& operand : expr.rest) {
    const Value right = eval(*operand.expr);
    if (failed()) return {};
    result = binary(*this, operand.op, result, right);
  }
  return result;
}

Value Evaluator::eval_concat(const ListedExpr& expr) {
  TextBuilder out(*this);
  for (const ExprPtr& item : expr.items) {
    const Value value = eval(*item);
    if (failed() || !append_str(*this, out, value)) return {};
  }
  return out.finish();
}

Value Evaluator::eval_compare(const BinaryExpr& expr) {
  Value left = eval(*expr.first);
  for (const Operand& operand : expr.rest) {
    Value right = eval(*operand.expr);
    if (failed()) return {};
    if (!holds(*this, operand.op, left, right)) return Value::boolean(false);
    left = std::move(right);
  }
  return Value::boolean(true);
}

Value Evaluator::eval_logic(const ListedExpr& expr) {
  Value value;
  for (const ExprPtr& item : expr.items) {
    value = eval(*item);
    if (failed() || truth(value) != expr.is_and) return value;
  }
  return value;
}

Value Evaluator::eval_conditional(const ConditionalExpr& expr) {
  for (const auto& [condition, value] : expr.branches) {
    const bool taken = truth(eval(*condition));
    if (failed()) return {};
    if (taken) return eval(*value);
  }
  if (expr.otherwise) return eval(*expr.otherwise);
  return undefined("the inline if-expression on line " + std::to_string(expr.line) +
                   " evaluated to false and no else section was defined.");
}

Value Evaluator::eval_links(const ChainExpr& expr, Value value, size_t count) {
  for (size_t k = 0; k < count && !failed(); ++k) {
    const Postfix& link = expr.links[k];
    line = link.line;
    if (!step()) return {};
    switch (link.kind) {
      case PostfixKind::attribute:
        value = get_attribute(*this, value, link.name);
        break;
      case PostfixKind::item:
        value = get_item(*this, value, eval(*link.a));
        break;
      case PostfixKind::slice:
        value = eval_slice(link, value);
        break;
      case PostfixKind::call:
        value = eval_call(link.args, value);
        break;
      case PostfixKind::filter:
      case PostfixKind::test:
        value = eval_named(link, value);
        break;
    }
  }
  return failed() ? Value() : value;
}

Value Evaluator::eval_slice(const Postfix& link, const Value& value) {
  const Value start = link.a ? eval(*link.a) : Value::none();
  const Value stop = link.b ? eval(*link.b) : Value::none();
  const Value stride = link.c ? eval(*link.c) : Value::none();
  return get_slice(*this, value, start, stop, stride);
}

Value Evaluator::eval_call(const CallArgs& args, const Value& callee) {
  Args values;
  if (!eval_args(args, &values)) return {};
  return call(callee, values);
}

Value Evaluator::eval_named(const Postfix& link, const Value& value) {
  Args values;
  if (!eval_args(link.args, &values)) return {};
  line = link.line;
  if (link.kind == PostfixKind::filter) return apply_filter(*this, link.name, value, values);
  return Value::boolean(apply_test(*this, link.name, value, values) != link.negated);
}

bool Evaluator::eval_args(const CallArgs& args, Args* out) {
  for (const ExprPtr& arg : args.positional) {
    out->positional.push_back(eval(*arg));
    if (failed()) return false;
  }
  for (const auto& [name, arg] : args.named) {
    out->named.emplace_back(name, eval(*arg));
    if (failed()) return false;
  }
  return (!args.star && !args.star_star) || eval_stars(args, out);
}

bool Evaluator::eval_stars(const CallArgs& args, Args* out) {
  if (args.star && !iterate(*this, eval(*args.star), &out->positional)) return false;
  if (!args.star_star) return !failed();
  const Value named = eval(*args.star_star);
  if (failed()) return false;
  if (!named.is(Kind::dict)) {
    error("argument after ** must be a mapping, not " + type_name(named));
    return false;
  }
  if (!step(named.dict().entries.size())) return false;
  for (const auto& [key, value] : named.dict().entries) {
    if (!key.is_text()) {
      error("keywords must be strings");
      return false;
    }
    out->named.emplace_back(key.text().bytes(), value);
  }
  return true;
}

}  // namespace gainz::jinja
