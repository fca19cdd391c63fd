#include "base/json_text.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <cmath>

namespace gainz::host {
namespace {

namespace json = boost::json;

class Writer {
 public:
  explicit Writer(bool pretty) : pretty_(pretty) {}

  void write(const json::value& value, int depth) {
    switch (value.kind()) {
      case json::kind::object:
        write_items(value.get_object(), depth, '{', '}');
        break;
      case json::kind::array:
        write_items(value.get_array(), depth, '[', ']');
        break;
      case json::kind::double_:
        text_ += std::isfinite(value.get_double()) ? fmt::format("{}", value.get_double()) : "null";
        break;
      default:
        text_ += json::serialize(value);
    }
  }
  std::string take() { return std::move(text_); }

 private:
  void write_item(const json::key_value_pair& item, int depth) {
    text_ += json::serialize(json::string(item.key()));
    text_ += pretty_ ? ": " : ":";
    write(item.value(), depth);
  }
  void write_item(const json::value& item, int depth) { write(item, depth); }

  template <class Items>
  void write_items(const Items& items, int depth, char open, char close) {
    text_ += open;
    bool first = true;
    for (const auto& item : items) {
      if (!first) text_ += ',';
      first = false;
      line(depth + 1);
      write_item(item, depth + 1);
    }
    if (!first) line(depth);
    text_ += close;
  }
  void line(int depth) {
    if (pretty_) text_.append("\n").append(static_cast<size_t>(depth) * 2, ' ');
  }

  bool pretty_;
  std::string text_;
};

}  // namespace

std::string json_text(const boost::json::value& value, bool pretty) {
  Writer writer(pretty);
  writer.write(value, 0);
  return writer.take();
}

}  // namespace gainz::host
