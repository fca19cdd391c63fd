// Operators, access and iteration, as Python and Jinja's sandbox do them. Each fails the session where they would raise.
#pragma once

#include <string_view>
#include <vector>

#include "template/ast.h"
#include "template/session.h"

namespace gainz::jinja {

Value binary(Session& session, Op op, const Value& a, const Value& b);
Value sign(Session& session, Op op, const Value& a);                  // neg, pos
bool holds(Session& session, Op op, const Value& a, const Value& b);  // comparisons, in, not in
bool same(Session& session, const Value& a, const Value& b);          // ==, paid for
bool contains(Session& session, const Value& container, const Value& item);

Value get_attribute(Session& session, const Value& object, std::string_view name);      // a.name
Value get_own_attribute(Session& session, const Value& object, std::string_view name);  // never an item of a dict
Value get_item(Session& session, const Value& object, const Value& key);                // a[key]
Value get_slice(Session& session, const Value& object, const Value& start, const Value& stop, const Value& step);

// The items of what can be walked; undefined has none. A generator is spent. False: failed.
bool iterate(Session& session, const Value& value, std::vector<Value>* out);
bool is_iterable(const Value& value);
// len(); -1 and failed where there is none.
int64_t length(Session& session, const Value& value);
bool has_length(const Value& value);

}  // namespace gainz::jinja
