#include "template/session.h"

#include <algorithm>
#include <limits>

#include "template/limits.h"
#include "template/objects.h"

namespace gainz::jinja {

namespace {

uintptr_t stack_here() { return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)); }

uint64_t add_saturating(uint64_t a, uint64_t b) { return a > std::numeric_limits<uint64_t>::max() - b ? ~uint64_t{0} : a + b; }

}  // namespace

Session::Session() : stack_base_(stack_here()) {}

Session::~Session() {
  for (const auto& object : objects_) object->clear();
}

Value Session::adopt(std::shared_ptr<Object> object) {
  constexpr size_t kObjectBytes = 256;  // about what one costs
  if (!take(kObjectBytes)) return {};
  object->charge.budget = &budget_;
  object->charge.num_bytes = kObjectBytes;
  objects_.push_back(object);
  Value value;
  value.kind = Kind::object;
  value.ref = std::move(object);
  return value;
}

void Session::release(const std::shared_ptr<Object>& object) {
  if (!objects_.empty() && objects_.back() == object && object.use_count() == 2) objects_.pop_back();
}

Value Session::error(const std::string& what) {
  if (!failed()) status_ = Status(Code::invalid, "chat template, line " + std::to_string(line) + ": " + what);
  return {};
}

Value Session::raise(std::string sentence) {
  if (!failed()) status_ = Status(Code::invalid, std::move(sentence));
  return {};
}

Value Session::over(const char* limit, uint64_t value) {
  if (!failed()) {
    status_ = Status(Code::limit_exceeded,
                     "chat template, line " + std::to_string(line) + ": more than " + std::to_string(value) + " " + limit);
  }
  return {};
}

Value Session::undefined_error(const Value& value) {
  return error(value.ref ? static_cast<TextRef*>(value.ref.get())->text.bytes() : std::string("a value is undefined"));
}

bool Session::step(uint64_t n) {
  if (failed()) return false;
  if (n > kMaxSteps - steps_) {
    over("steps", kMaxSteps);
    return false;
  }
  steps_ += n;
  return true;
}

bool Session::room(uint64_t n) {
  if (failed()) return false;
  if (budget_.used_bytes > kMaxValueBytes || n > kMaxValueBytes - budget_.used_bytes) {
    over("bytes of values", kMaxValueBytes);
    return false;
  }
  return true;
}

bool Session::take(size_t n) {
  if (!room(n)) return false;
  budget_.used_bytes += n;
  return true;
}

bool Session::deep() {
  const uintptr_t here = stack_here();
  const uintptr_t used = here > stack_base_ ? here - stack_base_ : stack_base_ - here;
  if (used <= kMaxStackBytes) return false;
  over("bytes of stack (it nests too deeply)", kMaxStackBytes);
  return true;
}

Value Session::text(Text text) {
  const size_t n = sizeof(TextRef) + text.size() + text.user().size() * sizeof(Span);
  if (!take(n)) return {};
  Value value;
  value.kind = Kind::text;
  value.ref = std::make_shared<TextRef>(std::move(text), &budget_, n);
  return value;
}

Value Session::list(std::vector<Value> items, Kind kind, const char* label) {
  const size_t n = sizeof(ListRef) + items.size() * sizeof(Value);
  if (!take(n)) return {};
  auto ref = std::make_shared<ListRef>(std::move(items), &budget_, n);
  for (const Value& item : ref->items) {
    ref->height = std::max(ref->height, 1 + height_of(item));
    ref->weight = add_saturating(ref->weight, weight_of(item));
  }
  ref->label = label;
  if (ref->height > kMaxValueDepth) return over("lists and dicts inside each other", kMaxValueDepth);
  Value value;
  value.kind = kind;
  value.ref = std::move(ref);
  return value;
}

Value Session::undefined(std::string why) {
  Value value = text(Text(std::move(why)));
  value.kind = Kind::undefined;
  return value;
}

Value Session::function(std::string name) {
  auto ref = std::make_shared<FunctionRef>();
  ref->name = std::move(name);
  Value value;
  value.kind = Kind::function;
  value.ref = std::move(ref);
  return value;
}

Value Session::method(const Value& self, std::string_view name) {
  Value value = function(std::string(name));
  auto& ref = *static_cast<FunctionRef*>(value.ref.get());
  ref.is_method = true;
  ref.self = self;
  if (height_of(value) > kMaxValueDepth) return over("lists and dicts inside each other", kMaxValueDepth);
  return value;
}

DictBuilder::DictBuilder(Session& session) : session_(session) {
  if (session.take(sizeof(DictRef))) dict_ = std::make_shared<DictRef>(session.budget(), sizeof(DictRef));
}

bool DictBuilder::set(const Value& key, Value value) {
  constexpr size_t kIndexFrom = 8;  // entries from which an index pays
  if (!dict_ || session_.failed()) return false;
  std::string bytes;
  if (!canonical_key(key, &bytes)) {
    session_.error("unhashable type: '" + type_name(key) + "'");
    return false;
  }
  if (!session_.bytes(bytes.size())) return false;
  if (const Value* old = dict_->find(key)) {
    *const_cast<Value*>(old) = std::move(value);
    return true;
  }
  const size_t n = 2 * sizeof(Value) + bytes.size() + 64;
  if (!session_.take(n)) return false;
  dict_->charge.num_bytes += n;
  dict_->entries.emplace_back(key, std::move(value));
  const size_t size = dict_->entries.size();
  if (size == kIndexFrom) {
    for (uint32_t k = 0; k < size; ++k) {
      std::string other;
      canonical_key(dict_->entries[k].first, &other);
      dict_->index.emplace(std::move(other), k);
    }
  } else if (size > kIndexFrom) {
    dict_->index.emplace(std::move(bytes), static_cast<uint32_t>(size - 1));
  }
  return true;
}

Value DictBuilder::finish() {
  if (!dict_ || session_.failed()) return {};
  for (const auto& [key, value] : dict_->entries) {
    dict_->height = std::max({dict_->height, 1 + height_of(key), 1 + height_of(value)});
    dict_->weight = add_saturating(dict_->weight, add_saturating(weight_of(key), weight_of(value)));
  }
  if (dict_->height > kMaxValueDepth) return session_.over("lists and dicts inside each other", kMaxValueDepth);
  Value result;
  result.kind = Kind::dict;
  result.ref = std::move(dict_);
  return result;
}

bool TextBuilder::grow(size_t n) {
  if (!session_.bytes(n) || !session_.take(n)) return false;
  taken_ += n;
  return true;
}

bool TextBuilder::add(const Text& text, size_t begin, size_t end) {
  if (begin >= end) return !session_.failed();
  if (!grow(end - begin)) return false;
  text_.append(text, begin, end);
  return true;
}

bool TextBuilder::add(std::string_view bytes, bool user) {
  if (bytes.empty()) return !session_.failed();
  if (!grow(bytes.size())) return false;
  text_.append(bytes, user);
  return true;
}

bool TextBuilder::repeat(const Text& text, uint64_t times) {
  if (text.empty() || times == 0) return !session_.failed();
  const uint64_t each = text.size() + text.user().size() * sizeof(Span);
  if (times > kMaxValueBytes || !session_.room(each * times)) {
    session_.over("bytes of values", kMaxValueBytes);
    return false;
  }
  if (!grow(each * times)) return false;
  const size_t begin = text_.size(), size = text.size() * times;
  text_.reserve(begin + size);
  text_.append(text);
  while (text_.size() - begin < size) {  // doubles what is there
    text_.append(text_, begin, begin + std::min(text_.size() - begin, size - (text_.size() - begin)));
  }
  return true;
}

bool TextBuilder::pad(char c, uint64_t times) {
  if (times == 0) return !session_.failed();
  if (times > kMaxValueBytes || !session_.room(times)) {
    session_.over("bytes of values", kMaxValueBytes);
    return false;
  }
  return add(std::string(times, c));
}

Value TextBuilder::finish() {
  session_.give(taken_);
  taken_ = 0;
  if (session_.failed()) return {};
  return session_.text(std::move(text_));
}

}  // namespace gainz::jinja
