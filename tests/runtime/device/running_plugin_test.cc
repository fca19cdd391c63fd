// A plugin that goes wrong while models are loaded and requests run: the request says so, the host lives, the next one works.
#include <gtest/gtest.h>

#include <cstdlib>

#include "runtime/api/api_fixture.h"

namespace gainz::test {
namespace {

constexpr int kOutOfDeviceMemory = 4, kOutOfHostMemory = 5, kLost = 8, kInternal = 10;

class Running : public testing::TestWithParam<uint32_t> {
 protected:
  Running() : runtime([](gainz_runtime_config& c) { c.thread_mode = GetParam(); }) {
    EXPECT_EQ(gainz_plugin_load(runtime, GAINZ_BAD_PLUGINS "/running.so", runtime.error, sizeof runtime.error), GAINZ_OK)
        << runtime.error;
  }
  ~Running() override { unsetenv("GAINZ_TEST_FAULT"); }
  gainz_code load(const std::string& fault) {
    setenv("GAINZ_TEST_FAULT", fault.c_str(), 1);
    model = 0;
    return runtime.try_load(tiny_file().path, &model, [](gainz_model_config& c) { c.backend = "running"; });
  }
  static std::string fault(const char* function, int number, int status, bool and_later = false) {
    return std::string(function) + ":" + std::to_string(number) + (and_later ? "+:" : ":") + std::to_string(status);
  }
  std::vector<Ask> six() const {
    std::vector<Ask> asks;
    for (uint64_t i = 0; i < 6; ++i) {
      asks.push_back(Ask::prompt(some_ids(40 + i, i), 8));
      asks.back().config.sampling.ignore_eos = 1;
    }
    return asks;
  }
  TestRuntime runtime;
  gainz_model_id model = 0;
};

TEST_P(Running, pb46_a_lost_device_ends_every_request_and_stays_lost) {
  for (const char* function : {"run", "wait"}) {
    for (const int number : {1, 2, 5, 9, 20}) {
      ASSERT_EQ(load(fault(function, number, kLost)), GAINZ_OK) << runtime.error;
      std::vector<Answer> answers = runtime.ask_all(model, six());
      size_t num_lost = 0;
      for (const Answer& answer : answers) {
        EXPECT_EQ(answer.num_done, 1u);
        if (answer.code == GAINZ_OK) continue;
        EXPECT_EQ(answer.code, GAINZ_DEVICE_LOST);
        EXPECT_EQ(answer.reason, GAINZ_FINISH_ERROR);
        EXPECT_FALSE(answer.error.empty());
        ++num_lost;
      }
      EXPECT_GT(num_lost, 0u) << function << number;
      const Answer later = runtime.ask(model, Ask::prompt({5, 6}, 2));
      EXPECT_EQ(later.code, GAINZ_DEVICE_LOST) << "it stays lost";
      EXPECT_NE(later.error.find("load the model again"), std::string::npos) << later.error;
      EXPECT_EQ(gainz_model_unload(runtime, model, nullptr, 0), GAINZ_OK);
      ASSERT_EQ(load(""), GAINZ_OK) << "and works again once the model is loaded again";
      EXPECT_EQ(runtime.ask(model, Ask::prompt({5, 6}, 2)).code, GAINZ_OK);
      EXPECT_EQ(gainz_model_unload(runtime, model, nullptr, 0), GAINZ_OK);
    }
  }
}

TEST_P(Running, pb46_lost_while_a_model_is_loaded) {
  for (const char* function : {"model_create", "kv_create", "program_create"}) {
    EXPECT_EQ(load(fault(function, 1, kLost)), GAINZ_DEVICE_LOST);
    EXPECT_NE(std::string(runtime.error).find(function), std::string::npos) << runtime.error;
  }
  EXPECT_EQ(load(""), GAINZ_OK) << runtime.error;
}

TEST_P(Running, pb47_out_of_device_memory_refuses_the_load_and_a_retry_works) {
  for (const char* function : {"model_create", "kv_create", "program_create"}) {
    EXPECT_EQ(load(fault(function, 1, kOutOfDeviceMemory)), GAINZ_OUT_OF_DEVICE_MEMORY);
    EXPECT_NE(std::string(runtime.error).find("running"), std::string::npos)
        << "no silent move to another backend: " << runtime.error;
    ASSERT_EQ(load(""), GAINZ_OK) << runtime.error;
    EXPECT_EQ(runtime.ask(model, Ask::prompt({5, 6}, 2)).code, GAINZ_OK);
    EXPECT_EQ(gainz_model_unload(runtime, model, nullptr, 0), GAINZ_OK);
  }
}

TEST_P(Running, pb47_a_step_without_memory_fails_its_requests_alone) {
  for (const int status : {kOutOfDeviceMemory, kOutOfHostMemory, kInternal, 77, -1}) {
    ASSERT_EQ(load(""), GAINZ_OK);
    const Answer expected = runtime.ask(model, six()[0]);
    EXPECT_EQ(gainz_model_unload(runtime, model, nullptr, 0), GAINZ_OK);
    ASSERT_EQ(load(fault("run", 3, status)), GAINZ_OK) << runtime.error;
    const Answer failed = runtime.ask(model, six()[0]);
    EXPECT_EQ(failed.code, status > 0 && status <= kInternal ? status : GAINZ_INTERNAL) << failed.error;
    EXPECT_NE(failed.error.find("the test says so"), std::string::npos) << failed.error;
    for (int i = 0; i < 2; ++i)
      EXPECT_EQ(runtime.ask(model, six()[0]).ids, expected.ids) << "nothing of the broken step was kept";
    EXPECT_EQ(runtime.stats(model).num_failed, 1u);
    EXPECT_EQ(gainz_model_unload(runtime, model, nullptr, 0), GAINZ_OK);
  }
}

TEST_P(Running, pb44_what_it_throws_is_an_error_of_the_request) {
  for (const char* function : {"model_create", "kv_create", "program_create"}) {
    EXPECT_EQ(load(std::string(function) + ":1:throw"), GAINZ_INTERNAL);
    EXPECT_NE(std::string(runtime.error).find(std::string("thrown in ") + function), std::string::npos) << runtime.error;
    EXPECT_EQ(load(std::string(function) + ":1:null"), GAINZ_INTERNAL) << "OK without a handle";
    EXPECT_NE(std::string(runtime.error).find(function), std::string::npos) << runtime.error;
  }
  for (const char* function : {"run", "wait"}) {
    ASSERT_EQ(load(std::string(function) + ":4:throw"), GAINZ_OK) << runtime.error;
    const Answer failed = runtime.ask(model, six()[0]);
    EXPECT_EQ(failed.code, GAINZ_INTERNAL);
    EXPECT_NE(failed.error.find("thrown in"), std::string::npos) << failed.error;
    EXPECT_EQ(runtime.ask(model, six()[0]).code, GAINZ_OK);
    EXPECT_EQ(gainz_model_unload(runtime, model, nullptr, 0), GAINZ_OK);
  }
  for (const char* function : {"close", "model_destroy"}) {  // teardown
    ASSERT_EQ(load(std::string(function) + ":1:throw"), GAINZ_OK) << runtime.error;
    EXPECT_EQ(runtime.ask(model, Ask::prompt({5}, 1)).code, GAINZ_OK);
    EXPECT_EQ(gainz_model_unload(runtime, model, nullptr, 0), GAINZ_OK);
  }
}

TEST_P(Running, a_run_that_gives_no_ticket_is_a_fault_of_the_backend) {
  ASSERT_EQ(load("run:2:null"), GAINZ_OK) << runtime.error;
  const Answer failed = runtime.ask(model, six()[0]);
  EXPECT_EQ(failed.code, GAINZ_INTERNAL);
  EXPECT_NE(failed.error.find("ticket"), std::string::npos) << failed.error;
  EXPECT_EQ(runtime.ask(model, six()[0]).code, GAINZ_OK);
}

INSTANTIATE_TEST_SUITE_P(modes, Running, testing::Values(GAINZ_THREADS_TICK, GAINZ_THREADS_OWN),
                         [](const auto& test) { return test.param == GAINZ_THREADS_TICK ? "tick" : "own"; });

}  // namespace
}  // namespace gainz::test
