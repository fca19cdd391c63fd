// What may stand after `is`.
#include <algorithm>

#include "template/builtins.h"
#include "template/format.h"
#include "template/methods.h"
#include "template/objects.h"
#include "template/operators.h"

namespace gainz::jinja {

namespace {

template <Kind... kinds>
bool is_kind(Session& session, const Value& self, const Args& args) {
  return Bound(session, "test", args, {}).ok() && (self.is(kinds) || ...);
}

template <Op op>
bool compares(Session& session, const Value& self, const Args& args) {
  Bound a(session, "test", args, {"b"}, 1);
  return a.ok() && holds(session, op, self, a[0]);
}

bool not_undefined(Session& session, const Value& self, const Args& args) {
  return Bound(session, "defined", args, {}).ok() && !self.is_undefined();
}

template <bool wanted>
bool is_bool(Session& session, const Value& self, const Args& args) {
  return Bound(session, "test", args, {}).ok() && self.is(Kind::boolean) && self.b == wanted;
}

bool modulo_is(Session& session, const Value& self, const Value& number, int64_t rest) {
  const Value result = binary(session, Op::mod, self, number);
  return !session.failed() && equal(result, Value::integer(rest));
}

bool odd(Session& session, const Value& self, const Args&) { return modulo_is(session, self, Value::integer(2), 1); }
bool even(Session& session, const Value& self, const Args&) { return modulo_is(session, self, Value::integer(2), 0); }

bool divisible_by(Session& session, const Value& self, const Args& args) {
  Bound a(session, "divisibleby", args, {"num"}, 1);
  return a.ok() && modulo_is(session, self, a[0], 0);
}

bool callable(Session&, const Value& self, const Args&) {
  return self.is(Kind::function) || self.is_undefined() || self.object<MacroObject>() || self.object<LoopObject>() ||
         self.object<JoinerObject>();
}

bool iterable(Session&, const Value& self, const Args&) { return is_iterable(self); }

bool sequence(Session&, const Value& self, const Args&) {
  return self.is_text() || self.is(Kind::list) || self.is(Kind::tuple) || self.is(Kind::dict) || self.is(Kind::range) ||
         self.is_undefined();
}

bool same_as(Session& session, const Value& self, const Args& args) {
  Bound a(session, "sameas", args, {"other"}, 1);
  if (!a.ok() || self.kind != a[0].kind) return false;
  if (self.ref) return self.ref == a[0].ref || (self.is_text() && self.text().bytes() == a[0].text().bytes());
  return self.is(Kind::none) || self.is_undefined() || equal(self, a[0]);
}

bool is_in(Session& session, const Value& self, const Args& args) {
  Bound a(session, "in", args, {"seq"}, 1);
  return a.ok() && contains(session, a[0], self);
}

template <const char* method>
bool text_case(Session& session, const Value& self, const Args&) {
  const Value text = to_str(session, self);
  Args none;
  return !session.failed() && truth(call_method(session, text, method, none));
}
constexpr char kIsLower[] = "islower";
constexpr char kIsUpper[] = "isupper";

bool names_filter(Session&, const Value& self, const Args&) { return self.is_text() && find_filter(self.text().view()); }
bool names_test(Session&, const Value& self, const Args&) { return self.is_text() && find_test(self.text().view()); }
bool escaped(Session&, const Value&, const Args&) { return false; }

constexpr Entry<Test> kTests[] = {
    {"!=", compares<Op::ne>},
    {"<", compares<Op::lt>},
    {"<=", compares<Op::le>},
    {"==", compares<Op::eq>},
    {">", compares<Op::gt>},
    {">=", compares<Op::ge>},
    {"boolean", is_kind<Kind::boolean>},
    {"callable", callable},
    {"defined", not_undefined},
    {"divisibleby", divisible_by},
    {"eq", compares<Op::eq>},
    {"equalto", compares<Op::eq>},
    {"escaped", escaped},
    {"even", even},
    {"false", is_bool<false>},
    {"filter", names_filter},
    {"float", is_kind<Kind::real>},
    {"ge", compares<Op::ge>},
    {"greaterthan", compares<Op::gt>},
    {"gt", compares<Op::gt>},
    {"in", is_in},
    {"integer", is_kind<Kind::integer>},
    {"iterable", iterable},
    {"le", compares<Op::le>},
    {"lessthan", compares<Op::lt>},
    {"lower", text_case<kIsLower>},
    {"lt", compares<Op::lt>},
    {"mapping", is_kind<Kind::dict>},
    {"ne", compares<Op::ne>},
    {"none", is_kind<Kind::none>},
    {"number", is_kind<Kind::integer, Kind::real, Kind::boolean>},
    {"odd", odd},
    {"sameas", same_as},
    {"sequence", sequence},
    {"string", is_kind<Kind::text>},
    {"test", names_test},
    {"true", is_bool<true>},
    {"undefined", is_kind<Kind::undefined>},
    {"upper", text_case<kIsUpper>},
};

}  // namespace

Test find_test(std::string_view name) {
  const auto* found = std::find_if(std::begin(kTests), std::end(kTests), [&](const auto& entry) { return entry.name == name; });
  return found == std::end(kTests) ? nullptr : found->function;
}

}  // namespace gainz::jinja
