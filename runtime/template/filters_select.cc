// Filters that apply a test or a filter to each item: select, reject, selectattr, rejectattr, map.
#include "template/builtins.h"
#include "template/format.h"
#include "template/keys.h"
#include "template/operators.h"

namespace gainz::jinja {

namespace {

// args without its first `n` positional ones.
Args rest_of(const Args& args, size_t n) {
  Args rest = args;
  rest.positional.erase(rest.positional.begin(), rest.positional.begin() + static_cast<std::ptrdiff_t>(n));
  return rest;
}

template <bool wanted, bool by_attribute>
Value choose(Session& session, const Value& self, const Args& args) {
  constexpr size_t kTestAt = by_attribute ? 1 : 0;
  if (by_attribute && args.positional.empty()) return session.error("Missing parameter for attribute name");
  std::vector<Value> items, kept;
  if (!iterate(session, self, &items)) return {};
  const KeyPath path(session, by_attribute ? args.positional[0] : Value::none());
  const bool has_test = args.positional.size() > kTestAt;
  if (session.failed()) return {};
  if (has_test && !args.positional[kTestAt].is_text()) return session.error("the name of a test must be a string");
  if (!has_test && !args.named.empty()) return session.error("a test is needed before its arguments");
  const Args test_args = has_test ? rest_of(args, kTestAt + 1) : Args();
  for (Value& item : items) {
    const Value value = path.of(item);
    if (!session.step()) return {};
    const bool holds = has_test ? apply_test(session, args.positional[kTestAt].text().view(), value, test_args) : truth(value);
    if (session.failed()) return {};
    if (holds == wanted) kept.push_back(std::move(item));
  }
  return session.list(std::move(kept), Kind::generator);
}

Value map_attribute(Session& session, std::vector<Value> items, const Args& args) {
  Bound a(session, "map", args, {"attribute", "default"});
  if (!a.ok()) return {};
  const KeyPath path(session, a[0]);
  const Value* otherwise = a.has(1) && !a[1].is(Kind::none) ? &a[1] : nullptr;
  for (Value& item : items) {
    item = path.of(item, otherwise);
    if (!session.step()) return {};
  }
  return session.list(std::move(items), Kind::generator);
}

Value map(Session& session, const Value& self, const Args& args) {
  std::vector<Value> items;
  if (!iterate(session, self, &items)) return {};
  if (args.positional.empty()) {
    for (const auto& named : args.named) {
      if (named.first == "attribute") return map_attribute(session, std::move(items), args);
    }
    return session.error("map requires a filter argument");
  }
  if (!args.positional[0].is_text()) return session.error("the name of a filter must be a string");
  const std::string name = args.positional[0].text().bytes();
  if (!find_filter(name)) return session.error("no filter named '" + name + "'");
  const Args filter_args = rest_of(args, 1);
  for (Value& item : items) {
    item = apply_filter(session, name, item, filter_args);
    if (!session.step()) return {};
  }
  return session.list(std::move(items), Kind::generator);
}

constexpr Entry<Filter> kFilters[] = {
    {"map", map},
    {"reject", choose<false, false>},
    {"rejectattr", choose<false, true>},
    {"select", choose<true, false>},
    {"selectattr", choose<true, true>},
};

}  // namespace

std::span<const Entry<Filter>> select_filters() { return kFilters; }

}  // namespace gainz::jinja
