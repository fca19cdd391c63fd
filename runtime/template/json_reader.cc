#include <charconv>

#include "template/json.h"
#include "template/limits.h"
#include "template/unicode.h"

namespace gainz::jinja {

namespace {

class Reader {
 public:
  Reader(Session& session, std::string_view json, const char* what) : session_(session), json_(json), what_(what) {}
  Value document();

 private:
  Value fail(const std::string& problem) {
    return session_.raise(std::string(what_) + " is not valid JSON: " + problem + " at byte " + std::to_string(at_));
  }
  void skip_space();
  bool skip(char c);
  Value value(int depth);
  Value array(int depth);
  Value object(int depth);
  Value word();
  Value number();
  bool string(std::string* out);
  bool escape(std::string* out);
  bool hex4(char32_t* out);

  Session& session_;
  std::string_view json_;
  const char* what_;
  size_t at_ = 0;
};

void Reader::skip_space() {
  while (at_ < json_.size() && (json_[at_] == ' ' || json_[at_] == '\n' || json_[at_] == '\t' || json_[at_] == '\r')) ++at_;
}

bool Reader::skip(char c) {
  skip_space();
  if (at_ >= json_.size() || json_[at_] != c) return false;
  ++at_;
  return true;
}

Value Reader::document() {
  if (json_.size() > kMaxJsonBytes) return session_.over((std::string("bytes of ") + what_).c_str(), kMaxJsonBytes);
  if (!valid_utf8(json_)) return session_.raise(std::string(what_) + " is not valid UTF-8");
  Value result = value(1);
  skip_space();
  if (!session_.failed() && at_ != json_.size()) return fail("more text after the value");
  return result;
}

Value Reader::value(int depth) {
  if (depth > kMaxValueDepth + 1) return session_.over("lists and dicts inside each other", kMaxValueDepth);
  if (session_.deep()) return {};
  skip_space();
  if (at_ >= json_.size()) return fail("a value is missing");
  switch (json_[at_]) {
    case '[':
      return array(depth);
    case '{':
      return object(depth);
    case '"': {
      std::string bytes;
      if (!string(&bytes)) return {};
      return session_.text(Text(std::move(bytes), true));
    }
    case 't':
    case 'f':
    case 'n':
      return word();
    default:
      return number();
  }
}

Value Reader::array(int depth) {
  ++at_;
  std::vector<Value> items;
  if (skip(']')) return session_.list({});
  do {
    if (!session_.room((items.size() + 1) * sizeof(Value))) return {};
    items.push_back(value(depth + 1));
    if (session_.failed()) return {};
  } while (skip(','));
  if (!skip(']')) return fail("expected ',' or ']'");
  return session_.list(std::move(items));
}

Value Reader::object(int depth) {
  ++at_;
  DictBuilder dict(session_);
  if (skip('}')) return dict.finish();
  do {
    skip_space();
    std::string bytes;
    if (at_ >= json_.size() || json_[at_] != '"') return fail("expected a key");
    if (!string(&bytes)) return {};
    const Value key = session_.text(Text(std::move(bytes), true));
    if (!skip(':')) return fail("expected ':'");
    Value item = value(depth + 1);
    if (session_.failed()) return {};
    if (dict.contains(key)) return fail("the key \"" + key.text().bytes() + "\" stands twice, the second time");
    if (!dict.set(key, std::move(item))) return {};
  } while (skip(','));
  if (!skip('}')) return fail("expected ',' or '}'");
  return dict.finish();
}

Value Reader::word() {
  const auto take = [&](std::string_view text) {
    if (json_.compare(at_, text.size(), text) != 0) return false;
    at_ += text.size();
    return true;
  };
  if (take("true")) return Value::boolean(true, true);
  if (take("false")) return Value::boolean(false, true);
  if (take("null")) return Value::none(true);
  return fail("unexpected text");
}

Value Reader::number() {
  const size_t begin = at_;
  const auto digits = [&] {
    const size_t first = at_;
    while (at_ < json_.size() && json_[at_] >= '0' && json_[at_] <= '9') ++at_;
    return at_ - first;
  };
  if (at_ < json_.size() && json_[at_] == '-') ++at_;
  const bool zero = at_ < json_.size() && json_[at_] == '0';
  const size_t whole = digits();
  if (whole == 0 || (zero && whole > 1)) return fail("unexpected text");
  bool is_real = false;
  if (at_ < json_.size() && json_[at_] == '.') {
    is_real = true;
    ++at_;
    if (digits() == 0) return fail("digits are missing");
  }
  if (at_ < json_.size() && (json_[at_] | 0x20) == 'e') {
    is_real = true;
    ++at_;
    if (at_ < json_.size() && (json_[at_] == '+' || json_[at_] == '-')) ++at_;
    if (digits() == 0) return fail("digits are missing");
  }
  const char* first = json_.data() + begin;
  const char* last = json_.data() + at_;
  if (!is_real) {
    int64_t integer = 0;
    if (std::from_chars(first, last, integer).ec == std::errc()) return Value::integer(integer, true);
    return fail("a number does not fit 64 bits");
  }
  double real = 0;
  if (std::from_chars(first, last, real).ec != std::errc()) return fail("a number does not fit a double");
  return Value::real(real, true);
}

bool Reader::string(std::string* out) {
  ++at_;
  while (at_ < json_.size()) {
    const char c = json_[at_];
    if (c == '"') {
      ++at_;
      return true;
    }
    if (static_cast<unsigned char>(c) < 0x20) {
      fail("a control character in a string");
      return false;
    }
    if (c == '\\') {
      if (!escape(out)) return false;
    } else {
      const size_t end = std::min(json_.find_first_of("\"\\", at_), json_.size());
      size_t stop = at_;
      while (stop < end && static_cast<unsigned char>(json_[stop]) >= 0x20) ++stop;
      out->append(json_, at_, stop - at_);
      at_ = stop;
    }
  }
  fail("a string is not closed");
  return false;
}

bool Reader::escape(std::string* out) {
  if (at_ + 1 >= json_.size()) {
    fail("a string is not closed");
    return false;
  }
  const char c = json_[at_ + 1];
  at_ += 2;
  static constexpr std::string_view kNames = "\"\\/bfnrt";
  static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  if (const size_t found = kNames.find(c); found != std::string_view::npos) {
    *out += kMeanings[found];
    return true;
  }
  char32_t code = 0, low = 0;
  bool good = c == 'u' && hex4(&code);
  if (good && code >= 0xD800 && code <= 0xDFFF) {
    good = code < 0xDC00 && json_.compare(at_, 2, "\\u") == 0;
    at_ += good ? 2 : 0;
    good = good && hex4(&low) && low >= 0xDC00 && low <= 0xDFFF;
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  }
  if (!good) {
    fail("a bad escape");
    return false;
  }
  encode(code, out);
  return true;
}

bool Reader::hex4(char32_t* out) {
  if (at_ + 4 > json_.size()) return false;
  uint32_t code = 0;
  const auto end = std::from_chars(json_.data() + at_, json_.data() + at_ + 4, code, 16);
  if (end.ec != std::errc() || end.ptr != json_.data() + at_ + 4) return false;
  at_ += 4;
  *out = code;
  return true;
}

}  // namespace

Value read_json(Session& session, std::string_view json, const char* what) { return Reader(session, json, what).document(); }

}  // namespace gainz::jinja
