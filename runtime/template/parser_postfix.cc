// What may follow an operand: .name, [item], [slice], (call), |filter, is test.
#include "template/parser.h"

namespace gainz::jinja {

ExprPtr Parser::postfix(ExprPtr base, bool with_filter) {
  const bool begins = is_op(".") || is_op("[") || is_op("(") || (with_filter && (is_op("|") || is_name("is")));
  if (!begins) return base;
  auto chain = std::make_unique<ChainExpr>(base->line);
  lift(chain.get(), base);
  chain->base = std::move(base);
  bool filters_begun = false;
  for (bool more = true; more;) {
    if (!link(chain.get(), with_filter, filters_begun, &more)) return nullptr;
    const PostfixKind last = chain->links.back().kind;
    filters_begun |= last == PostfixKind::filter || last == PostfixKind::test;
  }
  return checked(std::move(chain));
}

bool Parser::link(ChainExpr* chain, bool with_filter, bool filters_begun, bool* out_more) {
  Postfix link;
  link.line = now().line;
  bool good = true;
  if (!filters_begun && is_op(".")) {
    good = dot(&link);
  } else if (!filters_begun && is_op("[")) {
    good = subscript(&link);
  } else if (is_op("(")) {
    link.kind = PostfixKind::call;
    good = call_args(&link.args);
  } else if (with_filter && is_op("|")) {
    next();
    good = filter(&link);
  } else if (with_filter && is_name("is")) {
    good = test(&link);
  } else {
    *out_more = false;
    return true;
  }
  if (!good || failed()) return false;
  lift(chain, link.a);
  lift(chain, link.b);
  lift(chain, link.c);
  lift(chain, link.args);
  chain->links.push_back(std::move(link));
  return true;
}

bool Parser::dot(Postfix* link) {
  next();
  if (now().kind == TokenKind::integer) {
    link->kind = PostfixKind::item;
    link->a = constant(Value::integer(now().integer));
    next();
    return true;
  }
  link->kind = PostfixKind::attribute;
  link->name = identifier();
  return !failed();
}

bool Parser::subscript(Postfix* link) {
  next();
  if (skip_op("]")) {  // x[] is x[()]
    link->kind = PostfixKind::item;
    link->a = std::make_unique<ListExpr>(ExprKind::tuple, now().line);
    return true;
  }
  if (!subscript_part(link)) return false;
  if (is_op(",")) {  // a[1, 2] is a[(1, 2)]
    if (link->kind == PostfixKind::slice) {
      fail("a slice cannot stand in a tuple");
      return false;
    }
    auto items = std::make_unique<ListExpr>(ExprKind::tuple, now().line);
    lift(items.get(), link->a);
    items->items.push_back(std::move(link->a));
    while (skip_op(",")) {
      items->items.push_back(expression());
      lift(items.get(), items->items.back());
      if (failed()) return false;
    }
    link->a = checked(std::move(items));
  }
  return !failed() && expect_op("]");
}

bool Parser::subscript_part(Postfix* link) {
  link->kind = PostfixKind::item;
  if (!is_op(":")) {
    link->a = expression();
    if (!link->a) return false;
    if (!is_op(":")) return true;
  }
  link->kind = PostfixKind::slice;
  next();
  if (!is_op(":") && !is_op("]") && !is_op(",") && !(link->b = expression())) return false;
  if (!skip_op(":")) return true;
  return is_op("]") || is_op(",") || (link->c = expression());
}

bool Parser::filter(Postfix* link) {
  link->kind = PostfixKind::filter;
  link->name = identifier();
  while (!failed() && skip_op(".")) link->name += "." + identifier();
  if (failed()) return false;
  return !is_op("(") || call_args(&link->args);
}

bool Parser::test(Postfix* link) {
  next();
  link->kind = PostfixKind::test;
  link->negated = skip_name("not");
  link->name = identifier();
  while (!failed() && skip_op(".")) link->name += "." + identifier();
  if (failed()) return false;
  if (is_op("(")) return call_args(&link->args);
  const TokenKind kind = now().kind;
  const bool has_argument = kind == TokenKind::string || kind == TokenKind::integer || kind == TokenKind::real || is_op("[") ||
                            is_op("{") || (kind == TokenKind::name && !is_name("else") && !is_name("or") && !is_name("and"));
  if (!has_argument) return true;
  if (is_name("is")) {
    fail("tests cannot be chained with 'is'");
    return false;
  }
  ExprPtr argument = primary();
  if (argument) argument = postfix(std::move(argument), false);
  if (!argument) return false;
  link->args.positional.push_back(std::move(argument));
  return true;
}

bool Parser::call_args(CallArgs* out) {
  const Nest nest(*this);
  if (!nest.ok() || !expect_op("(")) return false;
  bool is_first = true;
  while (!is_op(")")) {
    if (!is_first && !expect_op(",")) return false;
    if (is_op(")")) break;
    is_first = false;
    const bool before_named = out->named.empty() && !out->star_star;
    if (is_op("*") && !out->star && !out->star_star) {
      next();
      out->star = expression();
    } else if (is_op("**") && !out->star_star) {
      next();
      out->star_star = expression();
    } else if (now().kind == TokenKind::name && ahead().kind == TokenKind::op && ahead().text == "=" && !out->star_star) {
      std::string name = identifier();
      next();
      out->named.emplace_back(std::move(name), expression());
    } else if (before_named && !out->star) {
      out->positional.push_back(expression());
    } else {
      fail("a positional argument follows a named one");
    }
    if (failed()) return false;
  }
  next();
  return true;
}

ExprPtr Parser::filter_chain(bool need_pipe) {
  auto chain = std::make_unique<ChainExpr>(now().line);
  while (!need_pipe || skip_op("|")) {
    Postfix link;
    link.line = now().line;
    if (!filter(&link)) return nullptr;
    lift(chain.get(), link.args);
    chain->links.push_back(std::move(link));
    need_pipe = true;
  }
  return checked(std::move(chain));
}

}  // namespace gainz::jinja
