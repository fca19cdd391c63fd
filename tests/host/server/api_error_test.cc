#include "server/api_error.h"

#include <gtest/gtest.h>

#include "server/error_text.h"

namespace gainz::host {
namespace {

TEST(ServerApiError, OfTheRuntime) {
  const std::pair<gainz_code, int> kStatus[] = {{GAINZ_INVALID, 400},
                                                {GAINZ_UNSUPPORTED, 400},
                                                {GAINZ_NOT_FOUND, 404},
                                                {GAINZ_LIMIT_EXCEEDED, 400},
                                                {GAINZ_BUSY, 429},
                                                {GAINZ_OUT_OF_HOST_MEMORY, 503},
                                                {GAINZ_OUT_OF_DEVICE_MEMORY, 503},
                                                {GAINZ_DEVICE_LOST, 503},
                                                {GAINZ_CANCELLED, 503}};
  for (const auto& [code, status] : kStatus) {
    EXPECT_EQ(of_runtime(code, "why").status, status) << code;
    EXPECT_EQ(of_runtime(code, "why", "tiny").status, code == GAINZ_NOT_FOUND ? 503 : status) << code;
  }
}

TEST(ServerApiError, ClientsTellAFullContext) {
  const ApiError error = of_runtime(GAINZ_LIMIT_EXCEEDED, "the prompt has 9 tokens, the context 8 for prompt and answer");
  EXPECT_EQ(error.code, "context_length_exceeded");
  EXPECT_NE(error.message.find("maximum context length"), std::string::npos);
}

// The runtime's number of a model means nothing to a client.
TEST(ServerApiError, AModelThatWasUnloadedIsNamed) {
  const ApiError error = of_runtime(GAINZ_NOT_FOUND, "model 253403070465: no such model", "tiny");
  EXPECT_EQ(error.message, "The model `tiny` was unloaded");
  EXPECT_EQ(error.code, "model_not_available");
  EXPECT_TRUE(error.retry_after);
}

TEST(ServerApiError, InTheWordsOfTheRoute) {
  const ApiError error = bad_request("n", "n is \"2\"\n", "invalid_value");
  EXPECT_EQ(error_body(ErrorForm::openai, error),
            R"({"error":{"message":"n is \"2\"\n","type":"invalid_request_error","param":"n","code":"invalid_value"}})");
  EXPECT_EQ(error_body(ErrorForm::ollama, error), R"({"error":"n is \"2\"\n"})");
  EXPECT_EQ(error_event(ErrorForm::openai, error), "data: " + error_body(ErrorForm::openai, error) + "\n\n");
  EXPECT_EQ(error_event(ErrorForm::ollama, error), error_body(ErrorForm::ollama, error) + "\n");
  EXPECT_EQ(error_body(ErrorForm::openai, ApiError{}),
            R"({"error":{"message":"","type":"server_error","param":null,"code":null}})");
}

}  // namespace
}  // namespace gainz::host
