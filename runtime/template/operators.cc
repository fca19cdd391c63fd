#include "template/operators.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "template/format.h"
#include "template/limits.h"

namespace gainz::jinja {

namespace {

const char* symbol(Op op) {
  switch (op) {
    case Op::add:
      return "+";
    case Op::sub:
      return "-";
    case Op::mul:
      return "*";
    case Op::div:
      return "/";
    case Op::floordiv:
      return "//";
    case Op::mod:
      return "%";
    case Op::pow:
      return "** or pow()";
    case Op::lt:
      return "<";
    case Op::le:
      return "<=";
    case Op::gt:
      return ">";
    case Op::ge:
      return ">=";
    default:
      return "?";
  }
}

Value type_error(Session& session, Op op, const Value& a, const Value& b) {
  return session.error(std::string("unsupported operand types for ") + symbol(op) + ": '" + type_name(a) + "' and '" +
                       type_name(b) + "'");
}

Value integer_power(Session& session, int64_t base, int64_t exponent, bool user) {
  if (exponent < 0) {
    if (base == 0) return session.error("0 cannot be raised to a negative power");
    return Value::real(std::pow(static_cast<double>(base), static_cast<double>(exponent)), user);
  }
  int64_t result = 1;
  bool fits = true;
  for (int64_t square = base, n = exponent; n > 0 && fits;) {
    if (n & 1) fits = !__builtin_mul_overflow(result, square, &result);
    n >>= 1;
    if (n > 0) fits = fits && !__builtin_mul_overflow(square, square, &square);
  }
  if (!fits) return session.error("an integer does not fit 64 bits");
  return Value::integer(result, user);
}

Value integers(Session& session, Op op, int64_t a, int64_t b, bool user) {
  int64_t result = 0;
  bool fits = true;
  switch (op) {
    case Op::add:
      fits = !__builtin_add_overflow(a, b, &result);
      break;
    case Op::sub:
      fits = !__builtin_sub_overflow(a, b, &result);
      break;
    case Op::mul:
      fits = !__builtin_mul_overflow(a, b, &result);
      break;
    case Op::div:
      if (b == 0) return session.error("division by zero");
      return Value::real(static_cast<double>(static_cast<long double>(a) / static_cast<long double>(b)), user);
    case Op::floordiv:
    case Op::mod: {
      if (b == 0) return session.error("integer division or modulo by zero");
      if (b == -1) {  // the one division that can overflow
        if (op == Op::mod) return Value::integer(0, user);
        fits = !__builtin_sub_overflow(int64_t{0}, a, &result);
        break;
      }
      const int64_t rest = a % b;
      const bool down = rest != 0 && (rest < 0) != (b < 0);
      result = op == Op::mod ? rest + (down ? b : 0) : a / b - (down ? 1 : 0);
      break;
    }
    default:
      return integer_power(session, a, b, user);
  }
  if (!fits) return session.error("an integer does not fit 64 bits");
  return Value::integer(result, user);
}

Value reals(Session& session, Op op, double a, double b, bool user) {
  switch (op) {
    case Op::add:
      return Value::real(a + b, user);
    case Op::sub:
      return Value::real(a - b, user);
    case Op::mul:
      return Value::real(a * b, user);
    case Op::div:
      if (b == 0) return session.error("float division by zero");
      return Value::real(a / b, user);
    case Op::floordiv:
    case Op::mod: {
      if (b == 0) return session.error("float floor division or modulo by zero");
      double rest = std::fmod(a, b);
      double quotient = (a - rest) / b;
      if (rest != 0 && (b < 0) != (rest < 0)) {
        rest += b;
        quotient -= 1;
      } else if (rest == 0) {
        rest = std::copysign(0.0, b);
      }
      if (op == Op::mod) return Value::real(rest, user);
      if (quotient == 0) return Value::real(std::copysign(0.0, a / b), user);
      const double floor = std::floor(quotient);
      return Value::real(quotient - floor > 0.5 ? floor + 1 : floor, user);
    }
    default: {
      if (a == 0 && b < 0) return session.error("0.0 cannot be raised to a negative power");
      if (a < 0 && std::isfinite(a) && std::isfinite(b) && b != std::floor(b))
        return session.error("the result is a complex number");
      const double result = std::pow(a, b);
      if (std::isinf(result) && std::isfinite(a) && std::isfinite(b)) return session.error("the result is too large");
      return Value::real(result, user);
    }
  }
}

Value concatenate(Session& session, const Value& a, const Value& b) {
  if (a.is_text()) {
    TextBuilder out(session);
    out.add(a.text());
    out.add(b.text());
    return out.finish();
  }
  const size_t n = a.items().size() + b.items().size();
  if (!session.step(n) || !session.room(n * sizeof(Value))) return {};
  std::vector<Value> items = a.items();
  items.insert(items.end(), b.items().begin(), b.items().end());
  return session.list(std::move(items), a.kind);
}

Value repeat(Session& session, const Value& sequence, int64_t times) {
  times = std::max<int64_t>(times, 0);
  if (sequence.is_text()) {
    TextBuilder out(session);
    out.repeat(sequence.text(), static_cast<uint64_t>(times));
    return out.finish();
  }
  const size_t n = sequence.items().size();
  if (n == 0) times = 0;
  if (n != 0 &&
      (times > static_cast<int64_t>(kMaxSteps) || !session.step(n * times) || !session.room(n * times * sizeof(Value)))) {
    return session.over("steps", kMaxSteps);
  }
  std::vector<Value> items;
  items.reserve(n * times);
  for (int64_t k = 0; k < times; ++k) items.insert(items.end(), sequence.items().begin(), sequence.items().end());
  return session.list(std::move(items), sequence.kind);
}

bool is_sequence(const Value& value) { return value.is_text() || value.is(Kind::list) || value.is(Kind::tuple); }

}  // namespace

Value binary(Session& session, Op op, const Value& a, const Value& b) {
  if (session.failed()) return {};
  if (a.is_number() && b.is_number()) {
    const bool user = a.user || b.user;
    if (a.is_int() && b.is_int()) return integers(session, op, a.as_int(), b.as_int(), user);
    return reals(session, op, a.as_real(), b.as_real(), user);
  }
  if (op == Op::mod && a.is_text()) return format_percent(session, a.text(), b);
  if (a.is_undefined()) return session.undefined_error(a);
  if (b.is_undefined()) return session.undefined_error(b);
  if (op == Op::add && is_sequence(a) && a.kind == b.kind) return concatenate(session, a, b);
  if (op == Op::mul && is_sequence(a) && b.is_int()) return repeat(session, a, b.as_int());
  if (op == Op::mul && is_sequence(b) && a.is_int()) return repeat(session, b, a.as_int());
  return type_error(session, op, a, b);
}

Value sign(Session& session, Op op, const Value& a) {
  if (session.failed()) return {};
  if (a.is_undefined()) return session.undefined_error(a);
  if (!a.is_number()) return session.error("bad operand type for a sign: '" + type_name(a) + "'");
  if (a.is(Kind::real)) return Value::real(op == Op::neg ? -a.d : a.d, a.user);
  return op == Op::neg ? integers(session, Op::sub, 0, a.as_int(), a.user) : Value::integer(a.as_int(), a.user);
}

bool same(Session& session, const Value& a, const Value& b) {
  return session.step(std::min(weight_of(a), weight_of(b))) && !session.deep() && equal(a, b);
}

bool holds(Session& session, Op op, const Value& a, const Value& b) {
  if (session.failed()) return false;
  if (op == Op::eq) return same(session, a, b);
  if (op == Op::ne) return !same(session, a, b) && !session.failed();
  if (op == Op::in) return contains(session, b, a);
  if (op == Op::not_in) return !contains(session, b, a) && !session.failed();
  if (a.is_undefined() || b.is_undefined()) {
    session.undefined_error(a.is_undefined() ? a : b);
    return false;
  }
  if (!session.step(std::min(weight_of(a), weight_of(b))) || session.deep()) return false;
  int order = 0;
  if (!compare(a, b, &order)) {
    type_error(session, op, a, b);
    return false;
  }
  if (order == 2) return false;
  switch (op) {
    case Op::lt:
      return order < 0;
    case Op::le:
      return order <= 0;
    case Op::gt:
      return order > 0;
    default:
      return order >= 0;
  }
}

bool contains(Session& session, const Value& container, const Value& item) {
  if (session.failed() || container.is_undefined()) return false;
  if (container.is_text()) {
    if (!item.is_text()) {
      session.error("'in <string>' requires a string on the left, not " + type_name(item));
      return false;
    }
    return session.bytes(container.text().size()) && container.text().view().find(item.text().view()) != std::string_view::npos;
  }
  if (container.is(Kind::dict)) {
    std::string unused;
    if (!canonical_key(item, &unused)) session.error("unhashable type: '" + type_name(item) + "'");
    return !session.failed() && container.dict().find(item) != nullptr;
  }
  std::vector<Value> items;
  if (!iterate(session, container, &items)) return false;
  return std::any_of(items.begin(), items.end(), [&](const Value& other) { return same(session, other, item); });
}

}  // namespace gainz::jinja
