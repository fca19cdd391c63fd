// How a plugin is called: no exception of its own gets past here, and its sentence is read as one line of text whatever it left
// in the buffer. Owner: none, all on the stack. Threads: any. Nothing is allocated where a call answers OK.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "device/plugin_host.h"

namespace gainz {

// Valid UTF-8 without control characters, cut at max_bytes and at the first zero; other bytes become '?'.
std::string one_line(std::string_view text, size_t max_bytes);
std::string one_line(const char* text, size_t max_bytes);  // NULL: ""

// The buffer for one call's sentence.
class PluginError {
 public:
  PluginError() : error_{sizeof(gainz_error), kCapacity, text_} { text_[0] = 0; }
  PluginError(const PluginError&) = delete;
  PluginError& operator=(const PluginError&) = delete;
  gainz_error* get() { return &error_; }
  std::string text() const { return one_line(std::string_view(text_, kCapacity), kCapacity); }

 private:
  static constexpr uint32_t kCapacity = 512;
  static constexpr uint32_t kSlack = 512;  // what a plugin that forgets the capacity may overrun before it spoils our stack
  char text_[kCapacity + kSlack];
  gainz_error error_;
};

// call(gainz_error*) -> gainz_status; what() -> std::string names backend and function.
template <class Call, class What>
Status call_plugin(Call call, What what) {
  PluginError error;
  gainz_status code = GAINZ_STATUS_OK;
  try {
    code = call(error.get());
  } catch (const std::bad_alloc&) {
    return {Code::out_of_host_memory, what() + ": it threw std::bad_alloc"};
  } catch (const std::exception& e) {
    return {Code::internal, what() + ": it threw an exception: " + one_line(e.what(), 512)};
  } catch (...) {
    return {Code::internal, what() + ": it threw an exception that is no std::exception"};
  }
  if (code == GAINZ_STATUS_OK) return {};
  return plugin_status(code, error.text().c_str(), what());
}

// A function of the table that cannot fail, for destructors: what it throws is dropped, as nobody could act on it.
template <class Call>
void call_plugin_quietly(Call call) noexcept {
  try {
    call();
  } catch (...) {
  }
}

}  // namespace gainz
