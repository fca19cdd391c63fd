#include "server/api/unique_json.h"

#include <fmt/format.h>

#include <boost/json/basic_parser_impl.hpp>
#include <cmath>
#include <set>
#include <vector>

namespace gainz::host {
namespace {

namespace json = boost::json;
using Error = boost::system::error_code;

// What json::basic_parser calls: builds the value as Boost's own parser does, and keeps the names of each open object.
struct Builder {
  static constexpr size_t max_object_size = kMaxNames;
  static constexpr size_t max_array_size = json::array::max_size();
  static constexpr size_t max_key_size = json::string::max_size();
  static constexpr size_t max_string_size = json::string::max_size();

  struct Open {
    bool is_object = false;
    size_t num_values = 0;  // of a list, so far
    std::string name;       // of an object, the newest
    std::set<std::string> names;
  };

  json::value_stack values;
  std::vector<Open> open;
  std::string part;  // of a name
  std::string where, problem;

  std::string path() const {
    std::string out;
    for (const Open& each : open) {
      if (each.is_object) {
        out += (out.empty() ? "" : ".") + each.name;
      } else {
        out += fmt::format("[{}]", each.num_values);
      }
    }
    return out;
  }
  bool end_value() {
    if (!open.empty() && !open.back().is_object) ++open.back().num_values;
    return true;
  }
  bool begin(bool is_object) {
    open.push_back({.is_object = is_object, .num_values = 0, .name = {}, .names = {}});
    return true;
  }

  bool refuse(const char* why, Error& error) {
    where = path();
    problem = why;
    error = json::error::syntax;  // any: `problem` says more
    return false;
  }

  bool on_document_begin(Error&) {
    values.reset();
    return true;
  }
  bool on_document_end(Error&) { return true; }
  bool on_object_begin(Error&) { return begin(true); }
  bool on_object_end(size_t count, Error&) {
    values.push_object(count);
    open.pop_back();
    return end_value();
  }
  bool on_array_begin(Error&) { return begin(false); }
  bool on_array_end(size_t count, Error&) {
    values.push_array(count);
    open.pop_back();
    return end_value();
  }
  bool on_key_part(std::string_view text, size_t, Error&) {
    part += text;
    values.push_chars(text);
    return true;
  }
  bool on_key(std::string_view text, size_t, Error& error) {
    part += text;
    values.push_key(text);
    Open& object = open.back();
    object.name = std::exchange(part, {});
    return object.names.insert(object.name).second || refuse("is in the body twice", error);
  }
  bool on_string_part(std::string_view text, size_t, Error&) {
    values.push_chars(text);
    return true;
  }
  bool on_string(std::string_view text, size_t, Error&) {
    values.push_string(text);
    return end_value();
  }
  bool on_number_part(std::string_view, Error&) { return true; }
  bool on_int64(int64_t value, std::string_view, Error&) {
    values.push_int64(value);
    return end_value();
  }
  bool on_uint64(uint64_t value, std::string_view, Error&) {
    values.push_uint64(value);
    return end_value();
  }
  bool on_double(double value, std::string_view, Error& error) {
    if (std::isinf(value)) return refuse("is a number beyond the range of a double", error);
    values.push_double(std::isnan(value) ? 0 : value);  // Boost takes 0e400 for 0 times infinity
    return end_value();
  }
  bool on_bool(bool value, Error&) {
    values.push_bool(value);
    return end_value();
  }
  bool on_null(Error&) {
    values.push_null();
    return end_value();
  }
  bool on_comment_part(std::string_view, Error&) { return true; }
  bool on_comment(std::string_view, Error&) { return true; }
};

}  // namespace

UniqueJson parse_unique_json(std::string_view text, size_t max_depth) {
  json::parse_options options;
  options.max_depth = max_depth;
  json::basic_parser<Builder> parser(options);
  UniqueJson out;
  out.offset = parser.write_some(false, text.data(), text.size(), out.error);
  if (!out.error && out.offset < text.size()) out.error = json::error::extra_data;
  out.where = parser.handler().where;
  out.problem = parser.handler().problem;
  if (!out.error) out.value = parser.handler().values.release();
  return out;
}

}  // namespace gainz::host
