// The results of a run as table, JSON and JUnit, and the verdict on the whole. Pure functions.
#ifndef GAINZ_SDK_CONFORM_REPORT_H
#define GAINZ_SDK_CONFORM_REPORT_H

#include "conform/expectations.h"
#include "conform/process.h"

namespace gainz::conform {

// What becomes of a result in the light of what was expected.
enum class Standing { passed, failed, unsupported, expected_failure, unexpected_pass };

struct Line {
  Result result;
  Standing standing = Standing::failed;
  std::string reason;  // the result's, and the author's
};
Line stand(Result result, const std::vector<Expectation>& expectations);

struct Report {
  Subject subject;
  std::string plugin_name, plugin_version, device_name, identity;  // "": it did not say
  std::vector<Line> lines;
  size_t count(Standing standing) const;
  bool is_good() const { return count(Standing::failed) == 0 && count(Standing::unexpected_pass) == 0; }
};
std::string table_line(const Line& line);
std::string summary(const Report& report);
std::string json(const Report& report);
std::string junit(const Report& report);

}  // namespace gainz::conform

#endif
