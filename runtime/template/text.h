// Text: valid UTF-8 bytes that remember which of them came from the user. A value type, owned by one thread at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gainz::jinja {

using Span = std::pair<size_t, size_t>;  // [begin, end) bytes

class Text {
 public:
  Text() = default;
  // Wholly trusted, or wholly the user's.
  explicit Text(std::string bytes, bool user = false);

  const std::string& bytes() const { return bytes_; }
  std::string_view view() const { return bytes_; }
  size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  const std::vector<Span>& user() const { return user_; }  // sorted, disjoint, not touching
  bool any_user() const { return !user_.empty(); }

  void append(const Text& text) { append(text, 0, text.size()); }
  void append(const Text& text, size_t begin, size_t end);
  void append(std::string_view bytes, bool user);
  Text slice(size_t begin, size_t end) const;
  // Whether any byte of [begin, end) is the user's.
  bool user_in(size_t begin, size_t end) const;
  void mark_user();
  void reserve(size_t bytes) { bytes_.reserve(bytes); }
  void take(std::string* out_bytes, std::vector<Span>* out_user);

 private:
  void add_span(size_t begin, size_t end);
  std::vector<Span>::const_iterator first_span(size_t begin) const;  // the first that ends after begin

  std::string bytes_;
  std::vector<Span> user_;
};

}  // namespace gainz::jinja
