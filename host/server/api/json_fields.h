// JsonFields: one JSON object of a request, read field by field. Whatever nobody asked for is refused by name at the end, so
// that no field is ignored. Every refusal is an ApiError 400 that names the field ("messages[2].content"), what it is and what
// it must be. Owner: the handler; points into the parsed body. One thread.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace gainz::host {

// The body as an object. Refused: what is no JSON or no object, invalid UTF-8, nesting beyond max_depth, a name that comes
// twice in an object, a number beyond a double.
boost::json::object parse_body(std::string_view body, size_t max_depth);

class JsonFields {
 public:
  // path: where the object is, "" for the body.
  explicit JsonFields(const boost::json::object& object, std::string path = "") : object_(object), path_(std::move(path)) {}

  // Each marks the field as read; null counts as absent.
  const boost::json::value* any(std::string_view name);
  bool has(std::string_view name) { return any(name) != nullptr; }
  std::optional<std::string> text(std::string_view name);  // may hold NUL
  std::string required_text(std::string_view name);
  std::optional<std::string> choice(std::string_view name, std::initializer_list<std::string_view> choices);
  std::optional<int64_t> integer(std::string_view name, int64_t least, int64_t most);  // 5.0 is 5
  std::optional<double> number(std::string_view name, double least, double most);
  std::optional<bool> boolean(std::string_view name);
  const boost::json::array* array(std::string_view name, size_t most);
  const boost::json::object* object(std::string_view name);

  // Fields that the contract gives no effect: any value.
  void accept(std::initializer_list<std::string_view> names);
  // Fields that are not served: null and empty lists are as good as absent, anything else is refused with `why`.
  void refuse(std::initializer_list<std::string_view> names, std::string_view why);
  // Refuses what was not read and is not null: clients send the nulls of what they were given back, of any version.
  void finish() const;

  std::string name_of(std::string_view field) const;  // with the path

 private:
  [[noreturn]] void wrong(std::string_view name, const boost::json::value& value, std::string_view must) const;

  const boost::json::object& object_;
  std::string path_;
  std::set<std::string_view> read_;
};

// For messages, so that what a client sent cannot make them long or unreadable: a value (a list or an object as no more than
// that), a text in quotes, the name of a field.
std::string shown_json(const boost::json::value& value);
std::string shown_text(std::string_view text);
std::string shown_name(std::string_view name);
// A float as the double with the fewest digits that gives it back, so that it is written short.
double shortest(float value);
// A text as a JSON string, with its quotes; invalid UTF-8 becomes U+FFFD.
std::string json_quoted(std::string_view text);

}  // namespace gainz::host
