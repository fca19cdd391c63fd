// The named functions of the language: filters, tests, globals. Tables are constant; each entry takes the session and its
// arguments and fails the session where Jinja would raise.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "template/session.h"

namespace gainz::jinja {

using Filter = Value (*)(Session&, const Value& self, const Args& args);
using Test = bool (*)(Session&, const Value& self, const Args& args);
using Global = Value (*)(Session&, Args& args);

template <class F>
struct Entry {
  std::string_view name;
  F function;
};

// Null: no such name.
Filter find_filter(std::string_view name);
Test find_test(std::string_view name);
Global find_global(std::string_view name);

Value apply_filter(Session& session, std::string_view name, const Value& self, const Args& args);
bool apply_test(Session& session, std::string_view name, const Value& self, const Args& args);

// The tables by subject.
std::span<const Entry<Filter>> text_filters();
std::span<const Entry<Filter>> wrap_filters();
std::span<const Entry<Filter>> number_filters();
std::span<const Entry<Filter>> sequence_filters();
std::span<const Entry<Filter>> order_filters();
std::span<const Entry<Filter>> select_filters();

// Arguments by position and name, as Python binds them to `names`, of which the first num_required must be there.
class Bound {
 public:
  Bound(Session& session, const char* function, const Args& args, std::initializer_list<const char*> names,
        size_t num_required = 0);
  bool ok() const { return ok_; }
  bool has(size_t k) const { return given_[k]; }
  const Value& operator[](size_t k) const { return values_[k]; }
  // With the type that the function needs; `otherwise` when absent. Wrong types fail the session.
  int64_t integer(size_t k, int64_t otherwise);
  bool flag(size_t k, bool otherwise) const { return has(k) ? truth(values_[k]) : otherwise; }
  Text text(size_t k, std::string_view otherwise);

 private:
  Session& session_;
  const char* function_;
  std::vector<Value> values_;
  std::vector<bool> given_;
  bool ok_ = true;
};

}  // namespace gainz::jinja
