// a.name, a[key], a[start:stop:step], walking and len().
#include <algorithm>
#include <limits>

#include "template/methods.h"
#include "template/objects.h"
#include "template/operators.h"
#include "template/unicode.h"

namespace gainz::jinja {

namespace {

Value missing(Session& session, const Value& object, const std::string& what) {
  if (session.failed()) return {};
  if (object.is(Kind::none)) return session.undefined("'None' has no attribute '" + what + "'");
  return session.undefined("'" + type_name(object) + " object' has no attribute '" + what + "'");
}

Value neighbour(Session& session, const LoopObject& loop, bool is_next) {
  if (is_next) {
    return loop.index0 + 1 < loop.items.size() ? loop.items[loop.index0 + 1] : session.undefined("there is no next item");
  }
  return loop.index0 > 0 ? loop.items[loop.index0 - 1] : session.undefined("there is no previous item");
}

bool loop_attribute(Session& session, const LoopObject& loop, std::string_view name, Value* out) {
  const auto index0 = static_cast<int64_t>(loop.index0);
  const auto length = static_cast<int64_t>(loop.items.size());
  if (name == "index")
    *out = Value::integer(index0 + 1);
  else if (name == "index0")
    *out = Value::integer(index0);
  else if (name == "revindex")
    *out = Value::integer(length - index0);
  else if (name == "revindex0")
    *out = Value::integer(length - index0 - 1);
  else if (name == "first")
    *out = Value::boolean(index0 == 0);
  else if (name == "last")
    *out = Value::boolean(index0 + 1 >= length);
  else if (name == "length")
    *out = Value::integer(length);
  else if (name == "depth")
    *out = Value::integer(loop.depth0 + 1);
  else if (name == "depth0")
    *out = Value::integer(loop.depth0);
  else if (name == "previtem")
    *out = neighbour(session, loop, false);
  else if (name == "nextitem")
    *out = neighbour(session, loop, true);
  else
    return false;
  return true;
}

bool macro_attribute(Session& session, const MacroObject& object, std::string_view name, Value* out) {
  const MacroStmt& macro = *object.macro;
  if (name == "name")
    *out = session.text(macro.name);
  else if (name == "catch_kwargs")
    *out = Value::boolean(macro.uses_kwargs);
  else if (name == "catch_varargs")
    *out = Value::boolean(macro.uses_varargs);
  else if (name == "caller")
    *out = Value::boolean(macro.uses_caller);
  else
    return false;
  return true;
}

bool object_attribute(Session& session, const Value& object, std::string_view name, Value* out) {
  if (const auto* space = object.object<NamespaceObject>()) {
    for (const auto& attribute : space->attributes) {
      if (attribute.first == name) {
        *out = attribute.second;
        return true;
      }
    }
    return false;
  }
  if (const auto* loop = object.object<LoopObject>()) return loop_attribute(session, *loop, name, out);
  if (const auto* macro = object.object<MacroObject>()) return macro_attribute(session, *macro, name, out);
  if (const auto* cycler = object.object<CyclerObject>(); cycler && name == "current") {
    *out = cycler->items[cycler->position];
    return true;
  }
  return false;
}

// Python's getattr: methods, and the attributes of objects.
bool find_attribute(Session& session, const Value& object, std::string_view name, Value* out) {
  if (object.is(Kind::object) && object_attribute(session, object, name, out)) return true;
  if (object.is(Kind::tuple) && object.list().label && (name == "grouper" || name == "list")) {  // of groupby
    *out = object.items()[name == "grouper" ? 0 : 1];
    return true;
  }
  if (!has_method(object, name)) return false;
  *out = session.method(object, name);
  return true;
}

// Python's obj[key] where it does not raise.
bool find_item(Session& session, const Value& object, const Value& key, Value* out) {
  if (object.is(Kind::dict)) {
    const Value* found = object.dict().find(key);
    if (found) *out = *found;
    return found != nullptr;
  }
  if (!key.is_int()) return false;
  int64_t index = key.as_int();
  if (object.is(Kind::list) || object.is(Kind::tuple)) {
    const auto size = static_cast<int64_t>(object.items().size());
    if (index < 0) index += size;
    if (index < 0 || index >= size) return false;
    *out = object.items()[index];
    return true;
  }
  if (object.is(Kind::range)) {
    const int64_t size = object.range().size();
    if (index < 0) index += size;
    if (index < 0 || index >= size) return false;
    *out = Value::integer(object.range().at(index));
    return true;
  }
  if (!object.is_text() || !session.bytes(object.text().size())) return false;
  const Text& text = object.text();
  if (index < 0) index += static_cast<int64_t>(num_chars(text.view()));
  if (index < 0) return false;
  const size_t begin = byte_of_char(text.view(), static_cast<size_t>(index));
  if (begin >= text.size()) return false;
  size_t end = 0;
  decode_at(text.view(), begin, &end);
  *out = session.text(text.slice(begin, end));
  return true;
}

struct SliceBounds {
  int64_t start, stop, step, count;
};

// PySlice_AdjustIndices (docs.python.org, "slice.indices").
bool adjust(Session& session, const Value& start, const Value& stop, const Value& step, int64_t size, SliceBounds* out) {
  for (const Value* part : {&start, &stop, &step}) {
    if (!part->is(Kind::none) && !part->is_int()) {
      session.error("slice indices must be integers or None");
      return false;
    }
  }
  out->step = step.is(Kind::none) ? 1 : std::max(step.as_int(), -std::numeric_limits<int64_t>::max());
  if (out->step == 0) {
    session.error("slice step cannot be zero");
    return false;
  }
  const bool down = out->step < 0;
  const auto clamp = [&](const Value& bound, int64_t otherwise) {
    if (bound.is(Kind::none)) return otherwise;
    int64_t at = bound.as_int();
    if (at < 0) at += size;
    return std::clamp<int64_t>(at, down ? -1 : 0, down ? size - 1 : size);
  };
  out->start = clamp(start, down ? size - 1 : 0);
  out->stop = clamp(stop, down ? -1 : size);
  const int64_t distance = down ? out->start - out->stop : out->stop - out->start;
  const int64_t stride = down ? -out->step : out->step;
  out->count = distance > 0 ? (distance - 1) / stride + 1 : 0;
  return true;
}

Value slice_text(Session& session, const Text& text, const SliceBounds& bounds) {
  if (bounds.count == 0) return session.text("");
  TextBuilder out(session);
  if (bounds.step == 1) {
    const size_t begin = byte_of_char(text.view(), static_cast<size_t>(bounds.start));
    const size_t length = byte_of_char(text.view().substr(begin), static_cast<size_t>(bounds.count));
    out.add(text, begin, begin + length);
    return out.finish();
  }
  std::vector<size_t> begins;
  if (!session.step(text.size()) || !session.room(text.size() * sizeof(size_t))) return {};
  for (size_t at = 0; at < text.size(); decode_at(text.view(), at, &at)) begins.push_back(at);
  begins.push_back(text.size());
  for (int64_t k = 0, at = bounds.start; k < bounds.count; ++k, at += k < bounds.count ? bounds.step : 0) {
    if (!out.add(text, begins[at], begins[at + 1])) return {};
  }
  return out.finish();
}

}  // namespace

Value get_attribute(Session& session, const Value& object, std::string_view name) {
  if (session.failed()) return {};
  if (object.is_undefined()) return session.undefined_error(object);
  Value result;
  if (find_attribute(session, object, name, &result)) return result;
  if (object.is(Kind::dict)) {
    if (const Value* found = object.dict().find(name)) return *found;
  }
  return missing(session, object, std::string(name));
}

Value get_own_attribute(Session& session, const Value& object, std::string_view name) {
  Value result;
  if (session.failed() || find_attribute(session, object, name, &result)) return result;
  return missing(session, object, std::string(name));
}

Value get_item(Session& session, const Value& object, const Value& key) {
  if (session.failed()) return {};
  if (object.is_undefined()) return session.undefined_error(object);
  Value result;
  if (find_item(session, object, key, &result)) return result;
  if (key.is_text() && find_attribute(session, object, key.text().view(), &result)) return result;
  return missing(session, object, key.is_text() ? key.text().bytes() : (key.is_int() ? std::to_string(key.as_int()) : "?"));
}

Value get_slice(Session& session, const Value& object, const Value& start, const Value& stop, const Value& step) {
  if (session.failed()) return {};
  if (object.is_undefined()) return session.undefined_error(object);
  const bool is_list = object.is(Kind::list) || object.is(Kind::tuple);
  if (!is_list && !object.is_text() && !object.is(Kind::range)) {
    return session.error("'" + type_name(object) + "' object cannot be sliced");
  }
  if (object.is_text() && !session.bytes(2 * object.text().size())) return {};
  SliceBounds bounds{};
  if (!adjust(session, start, stop, step, length(session, object), &bounds)) return {};
  if (object.is_text()) return slice_text(session, object.text(), bounds);
  if (object.is(Kind::range)) {
    const RangeRef& range = object.range();
    Value result = object;
    const int64_t first = range.at(bounds.start);
    if (bounds.count <= 1) {  // a step of any size, which might not fit
      result.ref = std::make_shared<RangeRef>(0, bounds.count, 1);
      if (bounds.count == 1) result = session.list({Value::integer(first)});
    } else {
      result.ref = std::make_shared<RangeRef>(first, range.at(bounds.stop), range.step * bounds.step);
    }
    return result;
  }
  if (!session.step(bounds.count) || !session.room(bounds.count * sizeof(Value))) return {};
  std::vector<Value> items;
  for (int64_t k = 0; k < bounds.count; ++k) items.push_back(object.items()[bounds.start + k * bounds.step]);
  return session.list(std::move(items), object.kind);
}

bool is_iterable(const Value& value) {
  return value.is_list_like() || value.is_text() || value.is(Kind::dict) || value.is(Kind::range) || value.is_undefined() ||
         value.object<LoopObject>() != nullptr;
}

bool iterate(Session& session, const Value& value, std::vector<Value>* out) {
  if (session.failed()) return false;
  if (value.is_undefined()) return true;
  if (!is_iterable(value) || value.is(Kind::object)) {
    session.error("'" + type_name(value) + "' object is not iterable");
    return false;
  }
  if (value.is_list_like()) {
    ListRef& list = value.list();
    const size_t begin = value.is(Kind::generator) ? std::exchange(list.position, list.items.size()) : 0;
    if (!session.step(list.items.size() - begin) || !session.room(list.items.size() * sizeof(Value))) return false;
    out->insert(out->end(), list.items.begin() + static_cast<std::ptrdiff_t>(begin), list.items.end());
    return true;
  }
  const int64_t size = value.is_text() ? static_cast<int64_t>(value.text().size()) : length(session, value);
  if (!session.step(size) || !session.room(size * sizeof(Value))) return false;
  if (value.is(Kind::dict)) {
    for (const auto& entry : value.dict().entries) out->push_back(entry.first);
  } else if (value.is(Kind::range)) {
    for (int64_t k = 0; k < size; ++k) out->push_back(Value::integer(value.range().at(k)));
  } else {
    const Text& text = value.text();
    for (size_t at = 0, end = 0; at < text.size() && !session.failed(); at = end) {
      decode_at(text.view(), at, &end);
      out->push_back(session.text(text.slice(at, end)));
    }
  }
  return !session.failed();
}

bool has_length(const Value& value) { return is_iterable(value) && !value.is(Kind::generator); }

int64_t length(Session& session, const Value& value) {
  if (value.is_undefined()) return 0;
  if (value.is_text()) return static_cast<int64_t>(num_chars(value.text().view()));
  if (value.is_list_like() && !value.is(Kind::generator)) return static_cast<int64_t>(value.items().size());
  if (value.is(Kind::dict)) return static_cast<int64_t>(value.dict().entries.size());
  if (value.is(Kind::range)) return value.range().size();
  if (const auto* loop = value.object<LoopObject>()) return static_cast<int64_t>(loop->items.size());
  session.error("object of type '" + type_name(value) + "' has no len()");
  return -1;
}

}  // namespace gainz::jinja
