// A progress bar on standard error for work that takes more than a second; nothing at all where standard error is no terminal.
// One thread at a time.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace gainz::host {

// "[#####.....]  50 %  reading weights": pure, for the tests. fraction is cut to 0..1; text is cut to the width left.
std::string progress_line(std::string_view text, double fraction, size_t width);

class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();  // clears the line
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(std::string_view text, double fraction);  // at most ten times a second
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_, last_{};
  bool enabled_;
  bool drawn_ = false;
};

}  // namespace gainz::host
