// Methods of dicts, lists, tuples, loops and cyclers, and the way to those of str.
#include "template/methods.h"

#include <algorithm>
#include <iterator>

#include "template/builtins.h"
#include "template/objects.h"
#include "template/operators.h"

namespace gainz::jinja {

namespace {

Value view_of(Session& session, const DictRef& dict, bool keys, bool values) {
  std::vector<Value> items;
  if (!session.step(dict.entries.size()) || !session.room(dict.entries.size() * sizeof(Value))) return {};
  for (const auto& [key, value] : dict.entries) {
    items.push_back(keys && values ? session.list({key, value}, Kind::tuple) : (keys ? key : value));
    if (session.failed()) return {};
  }
  return session.list(std::move(items), Kind::view, keys && values ? "dict_items" : (keys ? "dict_keys" : "dict_values"));
}

template <bool keys, bool values>
Value dict_view(Session& session, const Value& self, Args& args) {
  if (!Bound(session, "a dict's method", args, {}).ok()) return {};
  return view_of(session, self.dict(), keys, values);
}

Value dict_get(Session& session, const Value& self, Args& args) {
  if (!args.named.empty()) return session.error("dict.get() takes no keyword arguments");
  Bound a(session, "get", args, {"key", "default"}, 1);
  if (!a.ok()) return {};
  std::string unused;
  if (!canonical_key(a[0], &unused)) return session.error("unhashable type: '" + type_name(a[0]) + "'");
  const Value* found = self.dict().find(a[0]);
  return found ? *found : (a.has(1) ? a[1] : Value::none());
}

Value dict_copy(Session&, const Value& self, Args&) { return self; }

Value list_index(Session& session, const Value& self, Args& args) {
  Bound a(session, "index", args, {"value", "start", "stop"}, 1);
  if (!a.ok()) return {};
  const auto size = static_cast<int64_t>(self.items().size());
  const auto clamp = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size); };
  const int64_t stop = clamp(a.integer(2, size));
  for (int64_t k = clamp(a.integer(1, 0)); k < stop; ++k) {
    if (same(session, self.items()[k], a[0])) return Value::integer(k);
    if (session.failed()) return {};
  }
  return session.error("the value is not in the list");
}

Value list_count(Session& session, const Value& self, Args& args) {
  Bound a(session, "count", args, {"value"}, 1);
  if (!a.ok()) return {};
  int64_t n = 0;
  for (const Value& item : self.items()) n += same(session, item, a[0]) ? 1 : 0;
  return Value::integer(n);
}

Value loop_cycle(Session& session, const Value& self, Args& args) {
  if (args.positional.empty() || !args.named.empty()) return session.error("no items for cycling given");
  return args.positional[self.object<LoopObject>()->index0 % args.positional.size()];
}

Value loop_changed(Session& session, const Value& self, Args& args) {
  auto* loop = self.object<LoopObject>();
  bool is_same = loop->has_changed && loop->changed.size() == args.positional.size();
  for (size_t k = 0; is_same && k < args.positional.size(); ++k) is_same = same(session, loop->changed[k], args.positional[k]);
  if (is_same) return Value::boolean(false);
  loop->changed = std::move(args.positional);
  loop->has_changed = true;
  return Value::boolean(true);
}

Value cycler_next(Session& session, const Value& self, Args& args) {
  if (!Bound(session, "next", args, {}).ok()) return {};
  auto* cycler = self.object<CyclerObject>();
  const Value item = cycler->items[cycler->position];
  cycler->position = (cycler->position + 1) % cycler->items.size();
  return item;
}

Value cycler_reset(Session&, const Value& self, Args&) {
  self.object<CyclerObject>()->position = 0;
  return Value::none();
}

constexpr Entry<Method> kDictMethods[] = {{"copy", dict_copy},
                                          {"get", dict_get},
                                          {"items", dict_view<true, true>},
                                          {"keys", dict_view<true, false>},
                                          {"values", dict_view<false, true>}};
constexpr Entry<Method> kListMethods[] = {{"count", list_count}, {"index", list_index}};
constexpr Entry<Method> kLoopMethods[] = {{"changed", loop_changed}, {"cycle", loop_cycle}};
constexpr Entry<Method> kCyclerMethods[] = {{"next", cycler_next}, {"reset", cycler_reset}};

Method find_in(std::span<const Entry<Method>> table, std::string_view name) {
  for (const auto& entry : table) {
    if (entry.name == name) return entry.function;
  }
  return nullptr;
}

Method find_method(const Value& self, std::string_view name) {
  if (self.is_text()) {
    const Method found = find_text_method(name);
    return found ? found : find_text_predicate(name);
  }
  if (self.is(Kind::dict)) return find_in(kDictMethods, name);
  if (self.is(Kind::list) && name == "copy") return dict_copy;
  if (self.is(Kind::list) || self.is(Kind::tuple)) return find_in(kListMethods, name);
  if (self.object<LoopObject>()) return find_in(kLoopMethods, name);
  if (self.object<CyclerObject>()) return find_in(kCyclerMethods, name);
  return nullptr;
}

}  // namespace

bool has_method(const Value& self, std::string_view name) { return find_method(self, name) != nullptr; }

Value call_method(Session& session, const Value& self, std::string_view name, Args& args) {
  if (session.failed() || session.deep()) return {};
  return find_method(self, name)(session, self, args);
}

}  // namespace gainz::jinja
