#include "server/api/body.h"

#include <gtest/gtest.h>

#include "host/server/api/refused.h"

namespace gainz::host {
namespace {

TEST(ServerApiBody, ContentTypes) {
  for (const char* type : {"", "application/json", "Application/JSON; charset=UTF-8", "application/json;charset=\"utf-8\"",
                           "text/json", "application/vnd.api+json", "text/plain;charset=UTF-8",
                           "application/x-www-form-urlencoded", "application/json; version=2; charset=utf8"})
    EXPECT_NO_THROW(check_content_type(type)) << type;
  for (const char* type :
       {"multipart/form-data; boundary=x", "application/xml", "text/html", "application/octet-stream", "json",
        "application/json; charset=latin1", "application/json; charset=utf-16", "application/x-ndjson"}) {
    const ApiError error = test::error_of([type] { check_content_type(type); }, type);
    EXPECT_EQ(error.status, 415) << type;
    EXPECT_EQ(error.code, "unsupported_media_type") << type;
    EXPECT_NE(error.message.find(type), std::string::npos) << error.message;
  }
}

}  // namespace
}  // namespace gainz::host
