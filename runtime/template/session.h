// Session: what one render may spend and whether it has failed. Every operation of the language takes it, makes its values
// through it and, after a failure, returns whatever it has: the first error is kept and callers look at failed(). One thread,
// one render.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "template/value.h"

namespace gainz::jinja {

struct Object;

class Session {
 public:
  Session();
  virtual ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool failed() const { return !status_.ok(); }
  const Status& status() const { return status_; }
  // The first failure stays. error() names the line; raise() is the template's own sentence; over() crosses a limit.
  Value error(const std::string& what);
  Value raise(std::string sentence);
  Value over(const char* limit, uint64_t value);
  // What an undefined value says when it is used.
  Value undefined_error(const Value& value);

  // False, and failed, when there is no more to spend.
  bool step(uint64_t n = 1);
  bool bytes(size_t n) { return step(1 + n / 256); }
  bool room(uint64_t n);  // whether n more bytes of values fit
  bool take(size_t n);    // counts them; give() or a Charge returns them
  void give(size_t n) { budget_.used_bytes -= n; }
  bool deep();  // true, and failed, when the thread's stack is nearly spent

  Value text(Text text);
  Value text(std::string_view trusted) { return this->text(Text(std::string(trusted))); }
  Value list(std::vector<Value> items, Kind kind = Kind::list, const char* label = nullptr);
  Value undefined(std::string why);
  Value function(std::string name);
  Value method(const Value& self, std::string_view name);

  // Objects may hold each other in circles, so the session owns them all until it ends; release() ends one early, if nobody
  // else holds it and it is the newest.
  Value adopt(std::shared_ptr<Object> object);
  void release(const std::shared_ptr<Object>& object);

  virtual Value call(const Value& callee, Args& args) = 0;

  int line = 1;  // of the node at work
  int64_t now_unix_s = 0;
  Budget* budget() { return &budget_; }

 private:
  Status status_;
  Budget budget_;
  uint64_t steps_ = 0;
  std::vector<std::shared_ptr<Object>> objects_;
  uintptr_t stack_base_;
};

// Builds a dict in order; a key set again keeps its place.
class DictBuilder {
 public:
  explicit DictBuilder(Session& session);
  bool set(const Value& key, Value value);  // false: failed
  bool contains(const Value& key) const { return dict_ && dict_->find(key); }
  bool set(std::string_view key, Value value) { return set(session_.text(key), std::move(value)); }
  Value finish();

 private:
  Session& session_;
  std::shared_ptr<DictRef> dict_;
  size_t entry_bytes_ = 0;
};

// Builds a text within the session's budget; after a failure it takes nothing more.
class TextBuilder {
 public:
  explicit TextBuilder(Session& session) : session_(session) {}
  ~TextBuilder() { session_.give(taken_); }
  TextBuilder(const TextBuilder&) = delete;
  TextBuilder& operator=(const TextBuilder&) = delete;
  bool add(const Text& text) { return add(text, 0, text.size()); }
  bool add(const Text& text, size_t begin, size_t end);
  bool add(std::string_view bytes, bool user = false);
  bool repeat(const Text& text, uint64_t times);
  bool pad(char c, uint64_t times);
  size_t size() const { return text_.size(); }
  Text& text() { return text_; }
  Value finish();

 private:
  bool grow(size_t n);
  Session& session_;
  Text text_;
  size_t taken_ = 0;
};

}  // namespace gainz::jinja
