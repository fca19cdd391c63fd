#include "bench/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace gainz::host {
namespace {

constexpr double kWidth = 460, kHeight = 300, kLeft = 62, kRight = 16, kTop = 48, kBottom = 46;

struct Point {
  double x = 0, median = 0, least = 0, most = 0;
};
struct Series {
  std::string name;
  const char* color;
  std::vector<Point> points;
};

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : valid_utf8(text)) {
    if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

// 1, 2 or 5 times a power of ten, so that about four lines cross the panel.
double tick_of(double most) {
  const double raw = most / 4, power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= raw) return factor * power;
  return 10 * power;
}

class Panel {
 public:
  Panel(double left, std::string title, std::string axis, std::vector<Series> series)
      : left_(left), title_(std::move(title)), axis_(std::move(axis)), series_(std::move(series)) {
    for (const Series& one : series_) {
      for (const Point& point : one.points) {
        xs_.push_back(point.x);
        most_ = std::max(most_, point.most);
      }
    }
    std::sort(xs_.begin(), xs_.end());
    xs_.erase(std::unique(xs_.begin(), xs_.end()), xs_.end());
    most_ = std::max(most_, 1e-9);
  }

  std::string svg() const {
    std::string out = fmt::format("<text x=\"{:.1f}\" y=\"22\" class=\"title\">{}</text>\n", left_ + kLeft, escaped(title_));
    const double tick = tick_of(most_), top = std::ceil(most_ / tick) * tick;
    for (double value = 0; value <= top * 1.0001; value += tick) {
      const double y = y_of(value, top);
      out += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"grid\"/>\n", left_ + kLeft, y,
                         left_ + kWidth - kRight, y);
      out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"tick\" text-anchor=\"end\">{:.0f}</text>\n",
                         left_ + kLeft - 6, y + 4, value);
    }
    for (const double x : xs_)
      out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"tick\" text-anchor=\"middle\">{:.0f}</text>\n", x_of(x),
                         kHeight - kBottom + 16, x);
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"tick\" text-anchor=\"middle\">{}</text>\n",
                       left_ + (kLeft + kWidth - kRight) / 2, kHeight - 10, escaped(axis_));
    double legend = left_ + kLeft;
    for (const Series& one : series_) {
      out += fmt::format(
          "<rect x=\"{:.1f}\" y=\"31\" width=\"12\" height=\"4\" fill=\"{}\"/><text x=\"{:.1f}\" y=\"37\" "
          "class=\"tick\">{}</text>\n",
          legend, one.color, legend + 17, escaped(one.name));
      legend += 34 + 6.5 * static_cast<double>(one.name.size());
      std::string line;
      for (const Point& p : one.points) {
        const double x = x_of(p.x), y = y_of(p.median, top);
        line += fmt::format("{:.1f},{:.1f} ", x, y);
        out += fmt::format(
            "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"{3}\" stroke-width=\"1\"/>\n", x,
            y_of(p.least, top), y_of(p.most, top), one.color);
        out +=
            fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.2\" fill=\"{}\"><title>{:.1f} tokens/s</title></circle>\n",
                        x, y, one.color, p.median);
      }
      out += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", line, one.color);
    }
    return out;
  }

 private:
  // Even steps: 1, 2, 4, 8 streams are as far apart as they are in interest.
  double x_of(double x) const {
    const auto index = static_cast<double>(std::lower_bound(xs_.begin(), xs_.end(), x) - xs_.begin());
    const double room = kWidth - kLeft - kRight - 40;
    return left_ + kLeft + 20 + (xs_.size() > 1 ? room * index / static_cast<double>(xs_.size() - 1) : room / 2);
  }
  static double y_of(double value, double top) { return kTop + (kHeight - kTop - kBottom) * (1 - value / top); }

  double left_;
  std::string title_, axis_;
  std::vector<Series> series_;
  std::vector<double> xs_;
  double most_ = 0;
};

// The rows of a phase at one depth over the streams, or at one number of streams over the depth.
std::vector<Series> series_over(const std::vector<Row>& rows, bool over_streams) {
  constexpr const char* kColors[] = {"#2563eb", "#ea580c"};
  std::vector<Series> out;
  for (size_t i = 0; i < 2; ++i) {
    const std::string_view phase = i == 0 ? "decode" : "prefill";
    Series one{std::string(phase), kColors[i], {}};
    const Row* first = nullptr;
    for (const Row& row : rows) {
      if (row.phase != phase) continue;
      if (first == nullptr) first = &row;
      if (over_streams ? row.depth != first->depth : row.streams != first->streams) continue;
      one.points.push_back({static_cast<double>(over_streams ? row.streams : row.depth), row.median, row.least, row.most});
    }
    if (one.points.size() > 1) out.push_back(std::move(one));
  }
  return out;
}

}  // namespace

std::string report_svg(const Report& report) {
  std::string body;
  double left = 0;
  for (const bool over_streams : {true, false}) {
    // Each phase has a scale of its own: prompts are many times as fast.
    for (Series& one : series_over(report.rows, over_streams)) {
      const std::string title = fmt::format("tokens/s, {}", one.name);
      body += Panel(left, title, over_streams ? "streams" : "tokens of context before", {std::move(one)}).svg();
      left += kWidth;
    }
  }
  const double width = std::max(left, kWidth);
  if (left == 0) body = "<text x=\"20\" y=\"60\" class=\"title\">no two points to draw a line through</text>\n";
  const std::string caption = fmt::format("{} · {} · {} · {} threads", report.model.substr(report.model.rfind('/') + 1),
                                          report.device, report.isa, report.num_threads);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "font-family=\"system-ui,sans-serif\">\n"
      "<style>.title{{font-size:14px;font-weight:600;fill:#111}}.tick{{font-size:11px;fill:#555}}.grid{{stroke:#ddd;stroke-"
      "width:1}}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{2}<text x=\"{3:.0f}\" y=\"{4:.0f}\" "
      "class=\"tick\">{5}</text>\n</svg>\n",
      width, kHeight + 24, body, kLeft, kHeight + 14, escaped(caption));
}

}  // namespace gainz::host
