#include "terminal/progress_bar.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/text.h"
#include "terminal/terminal.h"

namespace gainz::host {
namespace {

constexpr auto kShowAfter = std::chrono::seconds(1);
constexpr auto kInterval = std::chrono::milliseconds(100);
constexpr size_t kBarWidth = 24;

size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

std::string progress_line(std::string_view text, double fraction, size_t width) {
  const double part = std::isfinite(fraction) ? std::clamp(fraction, 0.0, 1.0) : 0.0;
  const auto filled = static_cast<size_t>(part * kBarWidth);
  std::string line =
      fmt::format("[{}{}] {:3.0f} %  ", std::string(filled, '#'), std::string(kBarWidth - filled, '.'), std::floor(part * 100));
  if (line.size() >= width) return line.substr(0, width);
  std::string label = printable(text);
  size_t keep = std::min(label.size(), width - line.size());
  while (keep > 0 && keep < label.size() && (static_cast<unsigned char>(label[keep]) & 0xC0) == 0x80)
    --keep;  // whole characters
  return line + label.substr(0, keep);
}

ProgressBar::ProgressBar() : start_(Clock::now()), enabled_(stderr_is_terminal()) {}
ProgressBar::~ProgressBar() { clear(); }

void ProgressBar::show(std::string_view text, double fraction) {
  const auto now = Clock::now();
  if (!enabled_ || now - start_ < kShowAfter || now - last_ < kInterval) return;
  last_ = now;
  drawn_ = true;
  fmt::print(stderr, "\r{}\x1b[K", progress_line(text, fraction, terminal_width() - 1));
  std::fflush(stderr);
}

void ProgressBar::clear() {
  if (!drawn_) return;
  drawn_ = false;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
}

}  // namespace gainz::host
