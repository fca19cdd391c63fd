#include "template/builtins.h"

#include <array>

#include "template/format.h"
#include "template/operators.h"

namespace gainz::jinja {

namespace {

template <class F>
F find_in(std::span<const Entry<F>> table, std::string_view name) {
  for (const Entry<F>& entry : table) {
    if (entry.name == name) return entry.function;
  }
  return nullptr;
}

}  // namespace

Filter find_filter(std::string_view name) {
  for (const auto& table :
       {text_filters(), wrap_filters(), number_filters(), sequence_filters(), order_filters(), select_filters()}) {
    if (const Filter found = find_in(table, name)) return found;
  }
  return nullptr;
}

Value apply_filter(Session& session, std::string_view name, const Value& self, const Args& args) {
  if (session.failed() || session.deep()) return {};
  const Filter filter = find_filter(name);
  if (!filter) return session.error("no filter named '" + std::string(name) + "'");
  return filter(session, self, args);
}

bool apply_test(Session& session, std::string_view name, const Value& self, const Args& args) {
  if (session.failed() || session.deep()) return false;
  const Test test = find_test(name);
  if (test) return test(session, self, args);
  session.error("no test named '" + std::string(name) + "'");
  return false;
}

Bound::Bound(Session& session, const char* function, const Args& args, std::initializer_list<const char*> names,
             size_t num_required)
    : session_(session), function_(function), values_(names.size()), given_(names.size(), false) {
  const auto fail = [&](const std::string& what) {
    session.error(std::string(function) + ": " + what);
    ok_ = false;
  };
  if (args.positional.size() > names.size()) fail("too many arguments");
  for (size_t k = 0; ok_ && k < args.positional.size(); ++k) {
    values_[k] = args.positional[k];
    given_[k] = true;
  }
  for (const auto& [name, value] : args.named) {
    size_t k = 0;
    while (k < names.size() && name != names.begin()[k]) ++k;
    if (k == names.size() || given_[k]) {
      fail(k == names.size() ? "no argument is named '" + name + "'" : "'" + name + "' is given twice");
      return;
    }
    values_[k] = value;
    given_[k] = true;
  }
  for (size_t k = 0; ok_ && k < num_required; ++k) {
    if (!given_[k]) fail(std::string("'") + names.begin()[k] + "' is missing");
  }
  ok_ = ok_ && !session.failed();
}

int64_t Bound::integer(size_t k, int64_t otherwise) {
  if (!has(k)) return otherwise;
  if (values_[k].is_int()) return values_[k].as_int();
  session_.error(std::string(function_) + ": an integer is needed, not " + type_name(values_[k]));
  ok_ = false;
  return otherwise;
}

Text Bound::text(size_t k, std::string_view otherwise) {
  if (!has(k)) return Text(std::string(otherwise));
  if (values_[k].is_text()) return values_[k].text();
  session_.error(std::string(function_) + ": a string is needed, not " + type_name(values_[k]));
  ok_ = false;
  return {};
}

}  // namespace gainz::jinja
