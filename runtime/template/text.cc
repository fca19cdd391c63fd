#include "template/text.h"

#include <algorithm>

namespace gainz::jinja {

Text::Text(std::string bytes, bool user) : bytes_(std::move(bytes)) {
  if (user) mark_user();
}

void Text::add_span(size_t begin, size_t end) {
  if (begin >= end) return;
  if (!user_.empty() && user_.back().second >= begin) {
    user_.back().second = std::max(user_.back().second, end);
  } else {
    user_.emplace_back(begin, end);
  }
}

std::vector<Span>::const_iterator Text::first_span(size_t begin) const {
  return std::upper_bound(user_.begin(), user_.end(), begin, [](size_t at, const Span& span) { return at < span.second; });
}

void Text::append(const Text& text, size_t begin, size_t end) {
  end = std::min(end, text.size());
  if (begin >= end) return;
  if (&text == this) {
    const Text copy = text.slice(begin, end);
    append(copy);
    return;
  }
  const size_t at = bytes_.size();
  bytes_.append(text.bytes_, begin, end - begin);
  for (auto span = text.first_span(begin); span != text.user_.end() && span->first < end; ++span) {
    add_span(at + std::max(span->first, begin) - begin, at + std::min(span->second, end) - begin);
  }
}

void Text::append(std::string_view bytes, bool user) {
  const size_t at = bytes_.size();
  bytes_.append(bytes);
  if (user) add_span(at, bytes_.size());
}

Text Text::slice(size_t begin, size_t end) const {
  Text result;
  result.append(*this, begin, end);
  return result;
}

bool Text::user_in(size_t begin, size_t end) const {
  const auto span = first_span(begin);
  return span != user_.end() && span->first < end;
}

void Text::mark_user() {
  user_.clear();
  add_span(0, bytes_.size());
}

void Text::take(std::string* out_bytes, std::vector<Span>* out_user) {
  *out_bytes = std::move(bytes_);
  *out_user = std::move(user_);
}

}  // namespace gainz::jinja
