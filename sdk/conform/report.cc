#include "conform/report.h"

#include <algorithm>
#include <cstdio>

namespace gainz::conform {
namespace {

const char* name_of(Standing standing) {
  switch (standing) {
    case Standing::passed:
      return "pass";
    case Standing::failed:
      return "FAIL";
    case Standing::unsupported:
      return "unsupported";
    case Standing::expected_failure:
      return "expected failure";
    case Standing::unexpected_pass:
      return "UNEXPECTED PASS";
  }
  return "";
}

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", seconds);
  return text;
}

std::string json_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\', out += c;
    } else if (byte < 0x20 || byte >= 0x7F) {  // a plugin's text may be anything; this is readable everywhere
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", byte);
      out += escape;
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string xml_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '"')
      out += "&quot;";
    else if (byte < 0x20 || byte >= 0x7F)
      out += '?';
    else
      out += c;
  }
  return out;
}

}  // namespace

Line stand(Result result, const std::vector<Expectation>& expectations) {
  Line line;
  const Expectation* expected = find_expectation(expectations, result.test->name);
  line.reason = result.reason;
  switch (result.verdict) {
    case Verdict::pass:
      line.standing = expected ? Standing::unexpected_pass : Standing::passed;
      if (expected)
        line.reason = "it is listed as " + std::string(expected->is_for_ever ? "unsupported" : "expected to fail") + ": " +
                      expected->reason;
      break;
    case Verdict::unsupported:
      line.standing = Standing::unsupported;
      break;
    case Verdict::fail:
      line.standing = !expected ? Standing::failed : expected->is_for_ever ? Standing::unsupported : Standing::expected_failure;
      if (expected) line.reason = expected->reason + " (" + result.reason + ")";
      break;
  }
  line.result = std::move(result);
  return line;
}

size_t Report::count(Standing standing) const {
  return static_cast<size_t>(
      std::count_if(lines.begin(), lines.end(), [&](const Line& line) { return line.standing == standing; }));
}

std::string table_line(const Line& line) {
  char text[256];
  std::snprintf(text, sizeof text, "%-16s %-34s %7.2f s", name_of(line.standing), line.result.test->name.c_str(),
                line.result.seconds);
  std::string out = text;
  if (!line.reason.empty()) out += "  " + line.reason;
  for (const std::string& note : line.result.notes) out += "\n" + std::string(28, ' ') + note;
  return out + "\n";
}

std::string summary(const Report& report) {
  char text[256];
  std::snprintf(text, sizeof text, "%zu passed, %zu failed, %zu unsupported, %zu expected failures, %zu unexpected passes\n",
                report.count(Standing::passed), report.count(Standing::failed), report.count(Standing::unsupported),
                report.count(Standing::expected_failure), report.count(Standing::unexpected_pass));
  return text;
}

std::string json(const Report& report) {
  std::string out = "{\n  \"plugin\": " + json_text(report.plugin_name) +
                    ",\n  \"version\": " + json_text(report.plugin_version) +
                    ",\n  \"device\": " + json_text(report.device_name) + ",\n  \"identity\": " + json_text(report.identity) +
                    ",\n  \"abi\": \"" + std::to_string(GAINZ_ABI_MAJOR) + "." + std::to_string(GAINZ_ABI_MINOR) +
                    "\",\n  \"seed\": " + std::to_string(report.subject.seed) +
                    ",\n  \"good\": " + (report.is_good() ? "true" : "false") + ",\n  \"tests\": [";
  for (size_t i = 0; i < report.lines.size(); ++i) {
    const Line& line = report.lines[i];
    out += std::string(i == 0 ? "" : ",") + "\n    {\"name\": " + json_text(line.result.test->name) +
           ", \"result\": " + json_text(name_of(line.standing)) + ", \"seconds\": " + seconds_text(line.result.seconds) +
           ", \"reason\": " + json_text(line.reason) + ", \"notes\": [";
    for (size_t n = 0; n < line.result.notes.size(); ++n) out += (n == 0 ? "" : ", ") + json_text(line.result.notes[n]);
    out += "]}";
  }
  return out + "\n  ]\n}\n";
}

std::string junit(const Report& report) {
  const size_t bad = report.count(Standing::failed) + report.count(Standing::unexpected_pass);
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"gainz-conform " +
                    xml_text(report.plugin_name) + "\" tests=\"" + std::to_string(report.lines.size()) + "\" failures=\"" +
                    std::to_string(bad) + "\" skipped=\"" +
                    std::to_string(report.count(Standing::unsupported) + report.count(Standing::expected_failure)) + "\">\n";
  for (const Line& line : report.lines) {
    out += "  <testcase name=\"" + xml_text(line.result.test->name) + "\" time=\"" + seconds_text(line.result.seconds) + "\">";
    if (line.standing == Standing::failed || line.standing == Standing::unexpected_pass)
      out += "<failure message=\"" + xml_text(line.reason) + "\"/>";
    else if (line.standing != Standing::passed)
      out += "<skipped message=\"" + xml_text(line.reason) + "\"/>";
    out += "</testcase>\n";
  }
  return out + "</testsuite>\n";
}

}  // namespace gainz::conform
