// Status and Result: how every failure travels inside the runtime. A Status is a code and one sentence that names the thing,
// the value and the limit. Value types, no owner; safe to move between threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace gainz {

// The numbers are those of gainz.h and of the plugin ABI (both checked by static_assert where they meet).
enum class Code : int32_t {
  ok = 0,
  invalid = 1,               // a caller's mistake or a hostile input
  unsupported = 2,           // well-formed, but not something this build or device does
  not_found = 3,             // a file, an id, a name
  out_of_device_memory = 4,  // evict and retry
  out_of_host_memory = 5,
  busy = 6,  // try again later
  cancelled = 7,
  device_lost = 8,     // reopen the device or move the model
  limit_exceeded = 9,  // a stated limit was crossed
  internal = 10,       // our mistake
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}
  bool ok() const { return code_ == Code::ok; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  Code code_ = Code::ok;
  std::string message_;
};

// Either a value or a Status that is not ok.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T result) : value_(std::move(result)) {}
  Result(Status status) : status_(std::move(status)) {}
  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

#define GAINZ_TRY(expression)                                                                  \
  do {                                                                                         \
    if (auto gainz_try_status = (expression); !gainz_try_status.ok()) return gainz_try_status; \
  } while (0)

// GAINZ_ASSIGN(auto x, f()): x becomes the value, or the status is returned.
#define GAINZ_ASSIGN(declaration, expression) GAINZ_ASSIGN_IMPL(GAINZ_CONCAT(gainz_result_, __LINE__), declaration, expression)
#define GAINZ_ASSIGN_IMPL(result, declaration, expression) \
  auto result = (expression);                              \
  if (!result.ok()) return result.status();                \
  declaration = std::move(result).value()
#define GAINZ_CONCAT(a, b) GAINZ_CONCAT_IMPL(a, b)
#define GAINZ_CONCAT_IMPL(a, b) a##b

}  // namespace gainz
