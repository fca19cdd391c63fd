// What `attribute=` means to the filters that take it: a path of names and positions, "a.b.0", or several with commas for sort.
#pragma once

#include <vector>

#include "template/session.h"

namespace gainz::jinja {

class KeyPath {
 public:
  // `attribute`: none (the item itself), an integer or a text. Other types fail the session.
  KeyPath(Session& session, const Value& attribute);
  Value of(const Value& item) const;
  // With `otherwise` where the path leads nowhere.
  Value of(const Value& item, const Value* otherwise) const;

 private:
  Session& session_;
  std::vector<Value> parts_;
};

// The key by which an item is sorted or told apart: the path's value, texts in lower case unless case_sensitive.
Value sort_key(Session& session, const KeyPath& path, const Value& item, bool case_sensitive);
// Stable; order[k] is the index of the item that comes k-th. False: failed (keys that cannot be compared).
// `as_lists`: equal keys are never ordered by <, as the elements of a list are not.
bool sort_keys(Session& session, const std::vector<Value>& keys, bool reverse, bool as_lists, std::vector<size_t>* order);

}  // namespace gainz::jinja
