// Values of the template language: Python's None, bool, int (64 bits), float, str, list, tuple, dict, range and a few of
// Jinja's own. Values belong to one render on one thread; only a template's literals are shared, and those are never changed.
// Everything is immutable but generators (a position), namespaces, loops, cyclers and joiners. Lists and dicts are never deeper
// than kMaxValueDepth, so recursion over them, destruction too, is bounded.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "template/text.h"

namespace gainz::jinja {

enum class Kind : uint8_t {
  undefined,  // ref: why, as text (or null)
  none,
  boolean,
  integer,
  real,
  text,
  list,
  tuple,
  view,       // dict_keys, dict_values, dict_items
  generator,  // what a lazy filter gives; can be walked once
  dict,
  range,
  object,    // namespace, macro, loop, cycler, joiner
  function,  // a global, or a method with its self
};

struct Ref {
  virtual ~Ref() = default;
};

// Bytes that count against the render's kMaxValueBytes while they live.
struct Budget {
  size_t used_bytes = 0;
};

struct Charge {
  Charge() = default;
  Charge(Budget* owner, size_t n) : budget(owner), num_bytes(n) {}
  Charge(const Charge&) = delete;
  Charge& operator=(const Charge&) = delete;
  ~Charge() {
    if (budget) budget->used_bytes -= num_bytes;
  }
  Budget* budget = nullptr;
  size_t num_bytes = 0;
};

struct TextRef;
struct ListRef;
struct DictRef;
struct RangeRef;
struct FunctionRef;

struct Value {
  Kind kind = Kind::undefined;
  bool user = false;  // of scalars: the number came from the user, and so does its text
  union {
    int64_t i = 0;
    bool b;
    double d;
  };
  std::shared_ptr<Ref> ref;

  static Value none(bool user = false) { return scalar(Kind::none, user); }
  static Value boolean(bool value, bool user = false) {
    Value v = scalar(Kind::boolean, user);
    v.i = 0;
    v.b = value;
    return v;
  }
  static Value integer(int64_t value, bool user = false) {
    Value v = scalar(Kind::integer, user);
    v.i = value;
    return v;
  }
  static Value real(double value, bool user = false) {
    Value v = scalar(Kind::real, user);
    v.d = value;
    return v;
  }

  bool is(Kind k) const { return kind == k; }
  bool is_undefined() const { return kind == Kind::undefined; }
  bool is_text() const { return kind == Kind::text; }
  bool is_list_like() const {
    return kind == Kind::list || kind == Kind::tuple || kind == Kind::view || kind == Kind::generator;
  }
  bool is_number() const { return kind == Kind::integer || kind == Kind::real || kind == Kind::boolean; }
  bool is_int() const { return kind == Kind::integer || kind == Kind::boolean; }  // as Python: bool is an int
  int64_t as_int() const { return kind == Kind::boolean ? (b ? 1 : 0) : i; }      // REQUIRES: is_int()
  double as_real() const { return kind == Kind::real ? d : static_cast<double>(as_int()); }

  const Text& text() const;                 // REQUIRES: is_text()
  const std::vector<Value>& items() const;  // REQUIRES: is_list_like()
  ListRef& list() const;
  const DictRef& dict() const;
  const RangeRef& range() const;
  const FunctionRef& function() const;
  template <class T>
  T* object() const {
    return kind == Kind::object ? dynamic_cast<T*>(ref.get()) : nullptr;
  }

 private:
  static Value scalar(Kind kind, bool user) {
    Value v;
    v.kind = kind;
    v.user = user;
    return v;
  }
};

struct TextRef final : Ref {
  TextRef(Text t, Budget* owner, size_t n) : text(std::move(t)), charge(owner, n) {}
  Text text;
  Charge charge;
};

struct ListRef final : Ref {
  ListRef(std::vector<Value> v, Budget* owner, size_t n) : items(std::move(v)), charge(owner, n) {}
  std::vector<Value> items;
  int height = 1;
  uint64_t weight = 1;
  const char* label = nullptr;  // of a view: "dict_items" ...
  size_t position = 0;          // of a generator: the items before it are spent
  Charge charge;
};

struct DictRef final : Ref {
  DictRef(Budget* owner, size_t n) : charge(owner, n) {}
  const Value* find(const Value& key) const;  // null: absent or not hashable
  const Value* find(std::string_view key) const;
  std::vector<std::pair<Value, Value>> entries;     // in order of insertion
  std::unordered_map<std::string, uint32_t> index;  // canonical key -> entry, only when there are many
  int height = 1;
  uint64_t weight = 1;
  Charge charge;
};

struct RangeRef final : Ref {
  RangeRef(int64_t a, int64_t b, int64_t c) : start(a), stop(b), step(c) {}
  int64_t start, stop, step;
  int64_t size() const;
  int64_t at(int64_t index) const {  // wraps past the ends of int64
    return static_cast<int64_t>(static_cast<uint64_t>(start) + static_cast<uint64_t>(index) * static_cast<uint64_t>(step));
  }
};

struct FunctionRef final : Ref {
  std::string name;
  bool is_method = false;
  Value self;  // of a method
};

inline const Text& Value::text() const { return static_cast<TextRef*>(ref.get())->text; }
inline ListRef& Value::list() const { return *static_cast<ListRef*>(ref.get()); }
inline const std::vector<Value>& Value::items() const { return list().items; }
inline const DictRef& Value::dict() const { return *static_cast<DictRef*>(ref.get()); }
inline const RangeRef& Value::range() const { return *static_cast<RangeRef*>(ref.get()); }
inline const FunctionRef& Value::function() const { return *static_cast<FunctionRef*>(ref.get()); }

// Levels of lists and dicts in the value: 0 for a scalar.
int height_of(const Value& value);
// What a walk over all of the value costs, in steps; saturates (values shared many times over).
uint64_t weight_of(const Value& value);
// Python's name of the type, for messages.
std::string type_name(const Value& value);
// Python's truth.
bool truth(const Value& value);
// Equal keys have equal canonical bytes. False: not hashable.
bool canonical_key(const Value& value, std::string* out);
bool equal(const Value& a, const Value& b);
// Whether a and b can be ordered; the answer is in *out: <0, 0, >0 (2 for NaN: nothing holds).
bool compare(const Value& a, const Value& b, int* out);

struct Args {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

}  // namespace gainz::jinja
