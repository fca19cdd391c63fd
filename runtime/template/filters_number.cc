// Filters that make numbers: abs, int, float, round, sum.
#include <charconv>
#include <cmath>

#include "template/builtins.h"
#include "template/format.h"
#include "template/keys.h"
#include "template/number_text.h"
#include "template/operators.h"

namespace gainz::jinja {

namespace {

Value absolute(Session& session, const Value& self, const Args&) {
  if (self.is_undefined()) return session.undefined_error(self);
  if (!self.is_number()) return session.error("bad operand type for abs(): '" + type_name(self) + "'");
  if (self.is(Kind::real)) return Value::real(std::fabs(self.d), self.user);
  return self.as_int() < 0 ? sign(session, Op::neg, self) : Value::integer(self.as_int(), self.user);
}

// int(float(x)); an integer beyond 64 bits fails.
Value truncate(Session& session, double value, bool user) {
  if (!(std::fabs(value) < 9.2233720368547748e18)) return session.error("an integer does not fit 64 bits");
  return Value::integer(static_cast<int64_t>(value), user);
}

Value to_integer(Session& session, const Value& self, const Args& args) {
  Bound a(session, "int", args, {"default", "base"});
  if (!a.ok()) return {};
  const Value otherwise = a.has(0) ? a[0] : Value::integer(0);
  if (self.is_undefined()) return session.undefined_error(self);
  if (self.is_int()) return Value::integer(self.as_int(), self.user);
  if (self.is(Kind::real)) {
    if (std::isnan(self.d)) return otherwise;
    if (std::isinf(self.d)) return session.error("cannot convert float infinity to integer");
    return truncate(session, self.d, self.user);
  }
  if (!self.is_text()) return otherwise;
  int64_t integer = 0;
  double real = 0;
  const int64_t base = a.integer(1, 10);
  if (session.failed()) return {};
  const bool user = self.text().any_user();
  switch (parse_integer(self.text().view(), base, &integer)) {
    case Parsed::good:
      return Value::integer(integer, user);
    case Parsed::too_large:
      return session.error("an integer does not fit 64 bits");
    case Parsed::bad:
      break;
  }
  if (!parse_real(self.text().view(), &real) || std::isnan(real) || std::isinf(real)) return otherwise;
  return truncate(session, real, user);
}

Value to_real(Session& session, const Value& self, const Args& args) {
  Bound a(session, "float", args, {"default"});
  if (!a.ok()) return {};
  if (self.is_undefined()) return session.undefined_error(self);
  if (self.is_number()) return Value::real(self.as_real(), self.user);
  double real = 0;
  if (self.is_text() && parse_real(self.text().view(), &real)) return Value::real(real, self.text().any_user());
  return a.has(0) ? a[0] : Value::real(0.0);
}

// Python's round(): the nearest, ties to even, judged on the exact binary value.
Value round_common(Session& session, const Value& self, int64_t precision) {
  if (self.is_int()) {
    if (precision >= 0) return Value::integer(self.as_int(), self.user);
    if (precision < -18) return Value::integer(0, self.user);
    int64_t unit = 1;
    for (int64_t k = 0; k > precision; --k) unit *= 10;
    const int64_t rest = ((self.as_int() % unit) + unit) % unit;
    const int64_t down = self.as_int() - rest;
    const bool up = rest * 2 > unit || (rest * 2 == unit && (down / unit) % 2 != 0);
    return up ? binary(session, Op::add, Value::integer(down, self.user), Value::integer(unit))
              : Value::integer(down, self.user);
  }
  if (!std::isfinite(self.d) || precision > 300) return self;
  if (precision < 0) {
    if (precision < -308) return Value::real(std::copysign(0.0, self.d), self.user);
    const double unit = std::pow(10.0, static_cast<double>(-precision));
    return Value::real(std::nearbyint(self.d / unit) * unit, self.user);
  }
  const std::string text = real_fixed(self.d, static_cast<int>(precision));
  double result = 0;
  std::from_chars(text.data(), text.data() + text.size(), result);
  return Value::real(result, self.user);
}

Value round(Session& session, const Value& self, const Args& args) {
  Bound a(session, "round", args, {"precision", "method"});
  const int64_t precision = a.integer(0, 0);
  const Text method = a.text(1, "common");
  if (!a.ok()) return {};
  if (self.is_undefined()) return session.undefined_error(self);
  if (!self.is_number()) return session.error("round: a number is needed, not " + type_name(self));
  if (method.view() == "common") return round_common(session, self, precision);
  if (method.view() != "ceil" && method.view() != "floor") return session.error("method must be common, ceil or floor");
  const double unit = std::pow(10.0, static_cast<double>(precision));
  const double scaled = self.as_real() * unit;
  if (!std::isfinite(scaled) || unit == 0) return session.error("round: the precision is out of range");
  const double whole = method.view() == "ceil" ? std::ceil(scaled) : std::floor(scaled);
  return Value::real(whole / unit, self.user);
}

Value sum(Session& session, const Value& self, const Args& args) {
  Bound a(session, "sum", args, {"attribute", "start"});
  std::vector<Value> items;
  if (!a.ok() || !iterate(session, self, &items)) return {};
  const KeyPath path(session, a.has(0) ? a[0] : Value::none());
  Value total = a.has(1) ? a[1] : Value::integer(0);
  if (total.is_text()) return session.error("sum() can't sum strings");
  for (const Value& item : items) {
    if (session.failed()) return {};
    total = binary(session, Op::add, total, path.of(item));
  }
  return total;
}

constexpr Entry<Filter> kFilters[] = {
    {"abs", absolute}, {"float", to_real}, {"int", to_integer}, {"round", round}, {"sum", sum},
};

}  // namespace

std::span<const Entry<Filter>> number_filters() { return kFilters; }

}  // namespace gainz::jinja
