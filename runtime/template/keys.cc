#include "template/keys.h"

#include <algorithm>
#include <numeric>

#include "template/number_text.h"
#include "template/operators.h"
#include "template/text_ops.h"

namespace gainz::jinja {

KeyPath::KeyPath(Session& session, const Value& attribute) : session_(session) {
  if (attribute.is(Kind::none)) return;
  if (attribute.is_int()) {
    parts_.push_back(attribute);
    return;
  }
  if (!attribute.is_text()) {
    session.error("an attribute must be a string or an integer, not " + type_name(attribute));
    return;
  }
  const std::string_view path = attribute.text().view();
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    int64_t index = 0;
    const bool is_index = !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
    if (is_index && parse_integer(part, 10, &index) == Parsed::good) {
      parts_.push_back(Value::integer(index));
    } else {
      parts_.push_back(session.text(Text(std::string(part))));
    }
    begin = end + 1;
  }
}

Value KeyPath::of(const Value& item) const { return of(item, nullptr); }

Value KeyPath::of(const Value& item, const Value* otherwise) const {
  Value value = item;
  for (const Value& part : parts_) {
    value = get_item(session_, value, part);
    if (value.is_undefined() && otherwise) value = *otherwise;
    if (session_.failed()) return {};
  }
  return value;
}

Value sort_key(Session& session, const KeyPath& path, const Value& item, bool case_sensitive) {
  const Value key = path.of(item);
  if (session.failed() || case_sensitive || !key.is_text()) return key;
  return change_case(session, key.text(), Case::lower);
}

bool sort_keys(Session& session, const std::vector<Value>& keys, bool reverse, bool as_lists, std::vector<size_t>* order) {
  order->resize(keys.size());
  std::iota(order->begin(), order->end(), size_t{0});
  std::stable_sort(order->begin(), order->end(), [&](size_t a, size_t b) {
    const Value& left = keys[reverse ? b : a];
    const Value& right = keys[reverse ? a : b];
    if (session.failed() || (as_lists && same(session, left, right))) return false;
    return holds(session, Op::lt, left, right);
  });
  return !session.failed();
}

}  // namespace gainz::jinja
