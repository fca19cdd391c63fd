#include "device/plugin_call.h"

#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>

namespace gainz {
namespace {

std::string what() { return "backend x, run"; }

TEST(one_line, is_clean_and_cut_at_a_whole_character) {
  EXPECT_EQ(one_line("plain", 100), "plain");
  EXPECT_EQ(one_line("two\nlines\t\x7F", 100), "two lines  ");
  EXPECT_EQ(one_line(std::string_view("before\0after", 12), 100), "before");
  EXPECT_EQ(one_line("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", 100), "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  EXPECT_EQ(one_line("\xC3\xA9\xE2\x82\xAC", 4), "\xC3\xA9");
  EXPECT_EQ(one_line("\xFF\xC3 \xC0\x80\xED\xA0\x80\xF4\x90\x80\x80\xE0\x80\x80", 100), "?? ????????????");
  EXPECT_EQ(one_line(static_cast<const char*>(nullptr), 100), "");
  EXPECT_EQ(one_line("abc", 0), "");
}

TEST(call_plugin, turns_what_a_plugin_throws_into_a_status) {
  EXPECT_TRUE(call_plugin([](gainz_error*) { return GAINZ_STATUS_OK; }, what).ok());
  const Status thrown = call_plugin([](gainz_error*) -> gainz_status { throw std::runtime_error("a\nb"); }, what);
  EXPECT_EQ(thrown.code(), Code::internal);
  EXPECT_EQ(thrown.message(), "backend x, run: it threw an exception: a b");
  EXPECT_EQ(call_plugin([](gainz_error*) -> gainz_status { throw 3; }, what).code(), Code::internal);
  EXPECT_EQ(call_plugin([](gainz_error*) -> gainz_status { throw std::bad_alloc(); }, what).code(), Code::out_of_host_memory);
  call_plugin_quietly([] { throw 3; });
}

TEST(call_plugin, reads_a_sentence_whatever_the_buffer_holds) {
  const auto text_of = [](auto write) {
    return call_plugin([&](gainz_error* e) { return write(e), GAINZ_STATUS_INTERNAL; }, what).message();
  };
  EXPECT_EQ(text_of([](gainz_error*) {}), "backend x, run: no reason given");
  EXPECT_EQ(text_of([](gainz_error* e) { std::strcpy(e->text, "so it is"); }), "backend x, run: so it is");
  EXPECT_EQ(text_of([](gainz_error* e) { std::memset(e->text, 'u', e->text_capacity); }),
            "backend x, run: " + std::string(512, 'u'));
  EXPECT_EQ(text_of([](gainz_error* e) { std::memset(e->text, 'l', e->text_capacity + 400); }),
            "backend x, run: " + std::string(512, 'l'));
  EXPECT_EQ(text_of([](gainz_error* e) { e->text = nullptr, e->text_capacity = 0; }), "backend x, run: no reason given");
}

TEST(call_plugin, knows_every_status) {
  for (gainz_status code = GAINZ_STATUS_INVALID; code <= GAINZ_STATUS_INTERNAL; ++code)
    EXPECT_EQ(call_plugin([&](gainz_error*) { return code; }, what).code(), Code(code));
  for (const gainz_status code : {-1, 11, INT32_MAX, INT32_MIN}) {
    const Status status = call_plugin([&](gainz_error*) { return code; }, what);
    EXPECT_EQ(status.code(), Code::internal);
    EXPECT_NE(status.message().find(std::to_string(code)), std::string::npos);
  }
}

}  // namespace
}  // namespace gainz
