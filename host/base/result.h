// Result: a value, or a Failure that ends a command. A Failure is one sentence for standard error and the exit status that goes
// with it. Value types; safe to move between threads.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace gainz::host {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;

struct Failure {
  std::string sentence;
  int exit_code = kExitFailure;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Failure failure) : state_(std::move(failure)) {}
  bool ok() const { return state_.index() == 0; }
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::move(std::get<0>(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Failure& failure() const { return std::get<1>(state_); }

 private:
  std::variant<T, Failure> state_;
};

struct Done {};
using Outcome = Result<Done>;

}  // namespace gainz::host
