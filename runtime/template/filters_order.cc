// Filters that compare: sort, dictsort, groupby, unique, min, max.
#include <algorithm>

#include "template/builtins.h"
#include "template/keys.h"
#include "template/operators.h"

namespace gainz::jinja {

namespace {

// Several paths with commas: the key is the list of their values.
std::vector<KeyPath> key_paths(Session& session, const Value& attribute) {
  std::vector<KeyPath> paths;
  if (!attribute.is_text()) {
    paths.emplace_back(session, attribute);
    return paths;
  }
  const Text& text = attribute.text();
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.view().find(',', begin), text.size());
    paths.emplace_back(session, session.text(text.slice(begin, end)));
    begin = end + 1;
  }
  return paths;
}

Value in_order(Session& session, const std::vector<Value>& items, const std::vector<Value>& keys, bool reverse, bool as_lists) {
  std::vector<size_t> order;
  if (!sort_keys(session, keys, reverse, as_lists, &order)) return {};
  std::vector<Value> sorted;
  sorted.reserve(items.size());
  for (const size_t k : order) sorted.push_back(items[k]);
  return session.list(std::move(sorted));
}

Value sort(Session& session, const Value& self, const Args& args) {
  Bound a(session, "sort", args, {"reverse", "case_sensitive", "attribute"});
  std::vector<Value> items;
  if (!a.ok() || !iterate(session, self, &items)) return {};
  const std::vector<KeyPath> paths = key_paths(session, a.has(2) ? a[2] : Value::none());
  std::vector<Value> keys;
  for (const Value& item : items) {
    std::vector<Value> parts;
    for (const KeyPath& path : paths) parts.push_back(sort_key(session, path, item, a.flag(1, false)));
    if (session.failed()) return {};
    keys.push_back(paths.size() == 1 ? parts[0] : session.list(std::move(parts)));
  }
  return in_order(session, items, keys, a.flag(0, false), true);
}

Value dict_sort(Session& session, const Value& self, const Args& args) {
  Bound a(session, "dictsort", args, {"case_sensitive", "by", "reverse"});
  const Text by = a.text(1, "key");
  if (!a.ok()) return {};
  if (self.is_undefined()) return session.undefined_error(self);
  if (by.view() != "key" && by.view() != "value") return session.error("You can only sort by either \"key\" or \"value\"");
  if (!self.is(Kind::dict)) return session.error("'" + type_name(self) + "' object has no attribute 'items'");
  const KeyPath itself(session, Value::none());
  std::vector<Value> pairs, keys;
  for (const auto& [key, value] : self.dict().entries) {
    pairs.push_back(session.list({key, value}, Kind::tuple));
    keys.push_back(sort_key(session, itself, by.view() == "key" ? key : value, a.flag(0, false)));
    if (session.failed()) return {};
  }
  return in_order(session, pairs, keys, a.flag(2, false), false);
}

Value group_by(Session& session, const Value& self, const Args& args) {
  Bound a(session, "groupby", args, {"attribute", "default", "case_sensitive"}, 1);
  std::vector<Value> items;
  if (!a.ok() || !iterate(session, self, &items)) return {};
  const KeyPath path(session, a[0]);
  const KeyPath itself(session, Value::none());
  const Value* otherwise = a.has(1) && !a[1].is(Kind::none) ? &a[1] : nullptr;
  std::vector<Value> keys, groups;
  for (const Value& item : items) {
    keys.push_back(sort_key(session, itself, path.of(item, otherwise), a.flag(2, false)));
    if (session.failed()) return {};
  }
  std::vector<size_t> order;
  if (!sort_keys(session, keys, false, false, &order)) return {};
  for (size_t k = 0; k < order.size();) {
    const Value& key = keys[order[k]];
    const Value shown = path.of(items[order[k]], otherwise);
    std::vector<Value> members;
    for (; k < order.size() && same(session, keys[order[k]], key); ++k) members.push_back(items[order[k]]);
    const Value list = session.list(std::move(members));
    groups.push_back(session.list({shown, list}, Kind::tuple, "groupby"));
    if (session.failed()) return {};
  }
  return session.list(std::move(groups));
}

Value unique(Session& session, const Value& self, const Args& args) {
  Bound a(session, "unique", args, {"case_sensitive", "attribute"});
  std::vector<Value> items, kept;
  if (!a.ok() || !iterate(session, self, &items)) return {};
  const KeyPath path(session, a.has(1) ? a[1] : Value::none());
  DictBuilder seen(session);
  for (Value& item : items) {
    const Value key = sort_key(session, path, item, a.flag(0, false));
    if (session.failed()) return {};
    if (seen.contains(key)) continue;
    if (!seen.set(key, Value::none())) return {};
    kept.push_back(std::move(item));
  }
  return session.list(std::move(kept), Kind::generator);
}

template <Op op>
Value extreme(Session& session, const Value& self, const Args& args) {
  Bound a(session, op == Op::lt ? "min" : "max", args, {"case_sensitive", "attribute"});
  std::vector<Value> items;
  if (!a.ok() || !iterate(session, self, &items)) return {};
  if (items.empty()) return session.undefined("No aggregated item, sequence was empty.");
  const KeyPath path(session, a.has(1) ? a[1] : Value::none());
  size_t best = 0;
  Value best_key = sort_key(session, path, items[0], a.flag(0, false));
  for (size_t k = 1; k < items.size() && !session.failed(); ++k) {
    Value key = sort_key(session, path, items[k], a.flag(0, false));
    if (!holds(session, op, key, best_key)) continue;
    best = k;
    best_key = std::move(key);
  }
  return session.failed() ? Value() : items[best];
}

constexpr Entry<Filter> kFilters[] = {
    {"dictsort", dict_sort},  {"groupby", group_by}, {"max", extreme<Op::gt>},
    {"min", extreme<Op::lt>}, {"sort", sort},        {"unique", unique},
};

}  // namespace

std::span<const Entry<Filter>> order_filters() { return kFilters; }

}  // namespace gainz::jinja
