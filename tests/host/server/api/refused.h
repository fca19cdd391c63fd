// What a reader of requests refuses, for tests: the ApiError that it throws.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "server/api_error.h"

namespace gainz::test {

// Fails the test if nothing is thrown; `what` is for its message.
inline host::ApiError error_of(const std::function<void()>& read, const std::string& what) {
  try {
    read();
  } catch (const host::ApiError& error) {
    return error;
  }
  ADD_FAILURE() << what << " was not refused";
  return {};
}

// 400, names the field in its parameter and says so in its sentence.
inline void expect_refused(const std::function<void()>& read, const std::string& parameter, const std::string& what) {
  const host::ApiError error = error_of(read, what);
  EXPECT_EQ(error.status, 400) << what;
  EXPECT_EQ(error.type, "invalid_request_error") << what;
  EXPECT_EQ(error.parameter, parameter) << what << ": " << error.message;
  EXPECT_NE(error.message.find(parameter), std::string::npos) << what << ": " << error.message;
  EXPECT_LT(error.message.size(), 400U) << what;
}

}  // namespace gainz::test
