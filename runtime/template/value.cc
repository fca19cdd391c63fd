#include "template/value.h"

#include <algorithm>
#include <cmath>

#include "template/limits.h"

namespace gainz::jinja {

namespace {

constexpr size_t kIndexFrom = 8;  // entries from which a dict keeps an index

bool same_scalar_key(const Value& a, const Value& b) {
  if (a.is_text() && b.is_text()) return a.text().bytes() == b.text().bytes();
  return a.is_text() == b.is_text() && equal(a, b);
}

int sign(int order) { return order < 0 ? -1 : (order > 0 ? 1 : 0); }

int compare_numbers(const Value& a, const Value& b) {
  if (a.is_int() && b.is_int()) return a.as_int() < b.as_int() ? -1 : (a.as_int() > b.as_int() ? 1 : 0);
  // long double holds every int64 and every double of x86-64 exactly.
  const long double x = a.is_int() ? static_cast<long double>(a.as_int()) : static_cast<long double>(a.d);
  const long double y = b.is_int() ? static_cast<long double>(b.as_int()) : static_cast<long double>(b.d);
  if (std::isnan(x) || std::isnan(y)) return 2;
  return x < y ? -1 : (x > y ? 1 : 0);
}

bool equal_dicts(const DictRef& a, const DictRef& b) {
  if (a.entries.size() != b.entries.size()) return false;
  return std::all_of(a.entries.begin(), a.entries.end(), [&](const auto& entry) {
    const Value* other = b.find(entry.first);
    return other && equal(entry.second, *other);
  });
}

bool equal_ranges(const RangeRef& a, const RangeRef& b) {
  const int64_t n = a.size();
  return n == b.size() && (n == 0 || (a.start == b.start && (n == 1 || a.step == b.step)));
}

}  // namespace

int64_t RangeRef::size() const {
  if (step > 0) return start < stop ? static_cast<int64_t>((static_cast<__int128>(stop) - start + step - 1) / step) : 0;
  return start > stop ? static_cast<int64_t>((static_cast<__int128>(start) - stop - step - 1) / -static_cast<__int128>(step))
                      : 0;
}

const Value* DictRef::find(const Value& key) const {
  if (key.is_text() && index.empty()) return find(key.text().view());
  if (index.empty()) {
    std::string unused;
    if (!canonical_key(key, &unused)) return nullptr;
    for (const auto& entry : entries) {
      if (same_scalar_key(entry.first, key)) return &entry.second;
    }
    return nullptr;
  }
  std::string bytes;
  if (!canonical_key(key, &bytes)) return nullptr;
  const auto found = index.find(bytes);
  return found == index.end() ? nullptr : &entries[found->second].second;
}

const Value* DictRef::find(std::string_view key) const {
  if (index.empty()) {
    for (const auto& entry : entries) {
      if (entry.first.is_text() && entry.first.text().view() == key) return &entry.second;
    }
    return nullptr;
  }
  const auto found = index.find("s" + std::string(key));
  return found == index.end() ? nullptr : &entries[found->second].second;
}

int height_of(const Value& value) {
  if (value.is_list_like()) return value.list().height;
  if (value.is(Kind::dict)) return value.dict().height;
  if (value.is(Kind::function)) return 1 + height_of(value.function().self);
  return 0;
}

uint64_t weight_of(const Value& value) {
  if (value.is_text()) return 1 + value.text().size() / kBytesPerStep;
  if (value.is_list_like()) return value.list().weight;
  if (value.is(Kind::dict)) return value.dict().weight;
  return 1;
}

std::string type_name(const Value& value) {
  switch (value.kind) {
    case Kind::undefined:
      return "Undefined";
    case Kind::none:
      return "NoneType";
    case Kind::boolean:
      return "bool";
    case Kind::integer:
      return "int";
    case Kind::real:
      return "float";
    case Kind::text:
      return "str";
    case Kind::list:
      return "list";
    case Kind::tuple:
      return "tuple";
    case Kind::view:
      return value.list().label;
    case Kind::generator:
      return "generator";
    case Kind::dict:
      return "dict";
    case Kind::range:
      return "range";
    case Kind::object:
      return "object";
    case Kind::function:
      return "function";
  }
  return "object";
}

bool truth(const Value& value) {
  switch (value.kind) {
    case Kind::undefined:
    case Kind::none:
      return false;
    case Kind::boolean:
      return value.b;
    case Kind::integer:
      return value.i != 0;
    case Kind::real:
      return value.d != 0;
    case Kind::text:
      return !value.text().empty();
    case Kind::list:
    case Kind::tuple:
    case Kind::view:
      return !value.items().empty();
    case Kind::dict:
      return !value.dict().entries.empty();
    case Kind::range:
      return value.range().size() != 0;
    case Kind::generator:
    case Kind::object:
    case Kind::function:
      return true;
  }
  return false;
}

bool canonical_key(const Value& value, std::string* out) {
  switch (value.kind) {
    case Kind::text:
      *out += 's';
      *out += value.text().bytes();
      return true;
    case Kind::none:
      *out += '0';
      return true;
    case Kind::undefined:
      *out += 'u';
      return true;
    case Kind::boolean:
    case Kind::integer:
      *out += 'i' + std::to_string(value.as_int());
      return true;
    case Kind::real:
      if (std::nearbyint(value.d) == value.d && std::fabs(value.d) < 9e18) {
        *out += 'i' + std::to_string(static_cast<int64_t>(value.d));
      } else {
        *out += 'f' + std::string(reinterpret_cast<const char*>(&value.d), sizeof value.d);
      }
      return true;
    case Kind::tuple:
      *out += '(';
      for (const Value& item : value.items()) {
        std::string inner;
        if (!canonical_key(item, &inner)) return false;
        *out += std::to_string(inner.size()) + ':' + inner;
      }
      return true;
    case Kind::range:
    case Kind::object:
    case Kind::function:
    case Kind::generator: {
      const Ref* address = value.ref.get();
      *out += 'o' + std::string(reinterpret_cast<const char*>(&address), sizeof address);
      return true;
    }
    case Kind::list:
    case Kind::view:
    case Kind::dict:
      return false;
  }
  return false;
}

bool equal(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return compare_numbers(a, b) == 0;
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Kind::undefined:
    case Kind::none:
      return true;
    case Kind::text:
      return a.text().bytes() == b.text().bytes();
    case Kind::list:
    case Kind::tuple:
      return std::equal(a.items().begin(), a.items().end(), b.items().begin(), b.items().end(), equal);
    case Kind::dict:
      return a.ref == b.ref || equal_dicts(a.dict(), b.dict());
    case Kind::range:
      return equal_ranges(a.range(), b.range());
    default:
      return a.ref == b.ref;
  }
}

bool compare(const Value& a, const Value& b, int* out) {
  if (a.is_number() && b.is_number()) {
    *out = compare_numbers(a, b);
    return true;
  }
  if (a.kind != b.kind) return false;
  if (a.is_text()) {
    *out = sign(a.text().bytes().compare(b.text().bytes()));  // UTF-8 sorts as its code points do
    return true;
  }
  if (!a.is(Kind::list) && !a.is(Kind::tuple)) return false;
  const auto& x = a.items();
  const auto& y = b.items();
  for (size_t k = 0; k < std::min(x.size(), y.size()); ++k) {
    if (!equal(x[k], y[k])) return compare(x[k], y[k], out);
  }
  *out = x.size() < y.size() ? -1 : (x.size() > y.size() ? 1 : 0);
  return true;
}

}  // namespace gainz::jinja
