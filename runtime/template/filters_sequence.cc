// Filters over sequences that keep their order: batch, slice, first, last, join, length, list, reverse, items, default, attr.
#include <algorithm>

#include "template/builtins.h"
#include "template/format.h"
#include "template/keys.h"
#include "template/limits.h"
#include "template/operators.h"
#include "template/text_ops.h"

namespace gainz::jinja {

namespace {

Value generator(Session& session, std::vector<Value> items) { return session.list(std::move(items), Kind::generator); }

Value fallback(Session& session, const Value& self, const Args& args) {
  Bound a(session, "default", args, {"default_value", "boolean"});
  if (!a.ok()) return {};
  if (!self.is_undefined() && !(a.flag(1, false) && !truth(self))) return self;
  return a.has(0) ? a[0] : session.text("");
}

Value attribute(Session& session, const Value& self, const Args& args) {
  Bound a(session, "attr", args, {"name"}, 1);
  if (!a.ok()) return {};
  const Text name = a.text(0, "");
  if (!a.ok()) return {};
  if (self.is_undefined()) return session.undefined_error(self);
  return get_own_attribute(session, self, name.view());
}

Value count(Session& session, const Value& self, const Args& args) {
  if (!Bound(session, "length", args, {}).ok()) return {};
  if (self.is_text() && !session.bytes(self.text().size())) return {};
  const int64_t n = length(session, self);
  return session.failed() ? Value() : Value::integer(n);
}

Value first(Session& session, const Value& self, const Args&) {
  if (self.is(Kind::generator)) {
    ListRef& list = self.list();
    if (list.position < list.items.size()) return list.items[list.position++];
    return session.undefined("No first item, sequence was empty.");
  }
  std::vector<Value> items;
  if (!iterate(session, self, &items)) return {};
  return items.empty() ? session.undefined("No first item, sequence was empty.") : items.front();
}

Value last(Session& session, const Value& self, const Args&) {
  if (self.is(Kind::generator)) return session.error("'generator' object is not reversible");
  std::vector<Value> items;
  if (!iterate(session, self, &items)) return {};
  return items.empty() ? session.undefined("No last item, sequence was empty.") : items.back();
}

Value join(Session& session, const Value& self, const Args& args) {
  Bound a(session, "join", args, {"d", "attribute"});
  std::vector<Value> items;
  if (!a.ok() || !iterate(session, self, &items)) return {};
  const Value separator = a.has(0) ? to_str(session, a[0]) : session.text("");
  if (a.has(1) && !a[1].is(Kind::none)) {
    const KeyPath path(session, a[1]);
    for (Value& item : items) item = path.of(item);
  }
  return session.failed() ? Value() : join_texts(session, separator.text(), items);
}

Value list(Session& session, const Value& self, const Args& args) {
  std::vector<Value> items;
  if (!Bound(session, "list", args, {}).ok() || !iterate(session, self, &items)) return {};
  return session.list(std::move(items));
}

Value reverse(Session& session, const Value& self, const Args&) {
  std::vector<Value> items;
  if (!iterate(session, self, &items)) return {};
  std::reverse(items.begin(), items.end());
  return self.is_text() ? join_texts(session, Text(), items) : generator(session, std::move(items));
}

Value items(Session& session, const Value& self, const Args&) {
  if (self.is_undefined()) return generator(session, {});
  if (!self.is(Kind::dict)) return session.error("Can only get item pairs from a mapping.");
  std::vector<Value> pairs;
  for (const auto& [key, value] : self.dict().entries) {
    pairs.push_back(session.list({key, value}, Kind::tuple));
    if (session.failed()) return {};
  }
  return generator(session, std::move(pairs));
}

Value batch(Session& session, const Value& self, const Args& args) {
  Bound a(session, "batch", args, {"linecount", "fill_with"}, 1);
  const int64_t size = a.ok() ? a.integer(0, 1) : 0;
  std::vector<Value> items;
  if (!a.ok() || !iterate(session, self, &items)) return {};
  std::vector<Value> rows, row;
  for (Value& item : items) {
    if (static_cast<int64_t>(row.size()) == size) {
      rows.push_back(session.list(std::move(row)));
      row.clear();
      if (session.failed()) return {};
    }
    row.push_back(std::move(item));
  }
  if (!row.empty()) {
    const int64_t missing =
        a.has(1) && !a[1].is(Kind::none) ? std::max<int64_t>(size - static_cast<int64_t>(row.size()), 0) : 0;
    if (!session.step(missing) || !session.room(missing * sizeof(Value))) return {};
    row.insert(row.end(), missing, missing > 0 ? a[1] : Value());
    rows.push_back(session.list(std::move(row)));
  }
  return generator(session, std::move(rows));
}

Value slice(Session& session, const Value& self, const Args& args) {
  Bound a(session, "slice", args, {"slices", "fill_with"}, 1);
  const int64_t slices = a.ok() ? a.integer(0, 1) : 0;
  std::vector<Value> items;
  if (!a.ok() || !iterate(session, self, &items)) return {};
  if (slices == 0) return session.error("integer division or modulo by zero");
  if (slices > static_cast<int64_t>(kMaxSteps) ||
      !session.room(static_cast<uint64_t>(std::max<int64_t>(slices, 0)) * sizeof(ListRef))) {
    return session.over("steps", kMaxSteps);
  }
  std::vector<Value> columns;
  const int64_t size = slices > 0 ? static_cast<int64_t>(items.size()) / slices : 0;
  const int64_t num_longer = slices > 0 ? static_cast<int64_t>(items.size()) % slices : 0;
  auto next = items.begin();
  for (int64_t k = 0; k < slices; ++k) {
    if (!session.step()) return {};
    const int64_t n = size + (k < num_longer ? 1 : 0);
    std::vector<Value> column(next, next + n);
    next += n;
    if (k >= num_longer && a.has(1) && !a[1].is(Kind::none)) column.push_back(a[1]);
    columns.push_back(session.list(std::move(column)));
    if (session.failed()) return {};
  }
  return generator(session, std::move(columns));
}

constexpr Entry<Filter> kFilters[] = {
    {"attr", attribute}, {"batch", batch},     {"count", count}, {"d", fallback}, {"default", fallback},
    {"first", first},    {"items", items},     {"join", join},   {"last", last},  {"length", count},
    {"list", list},      {"reverse", reverse}, {"slice", slice},
};

}  // namespace

std::span<const Entry<Filter>> sequence_filters() { return kFilters; }

}  // namespace gainz::jinja
