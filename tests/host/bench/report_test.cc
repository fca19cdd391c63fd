#include "bench/report.h"

#include <gmock/gmock.h>

#include <boost/json.hpp>

namespace gainz::host {
namespace {

using testing::HasSubstr;

constexpr MachineLimits kLimits() { return {10, 1000, ""}; }

TEST(HostReport, Median) {
  EXPECT_EQ(median_of({}), 0);
  EXPECT_EQ(median_of({3, 1, 2}), 2);
  EXPECT_EQ(median_of({4, 1, 2, 3}), 2.5);
}

TEST(HostReport, DecodeReadsTheWeightsOncePerStep) {
  const ModelCost cost{100'000'000, 200'000'000, 10'000, 50'000'000, 512};
  Measurement one{"decode", 4, 100, 50, {40, 20, 30}, {0.01, 0.03, 0.02}};
  const Row row = row_of(one, cost, kLimits());
  EXPECT_EQ(row.median, 30);
  EXPECT_EQ(row.least, 20);
  EXPECT_EQ(row.most, 40);
  EXPECT_DOUBLE_EQ(row.ttft_ms, 20);
  EXPECT_DOUBLE_EQ(row.gb_per_second, 30 * (100'000'000 / 4 + 10'000 * 100) / 1e9);  // KV: depth 50 and half of 100
  EXPECT_DOUBLE_EQ(row.gops, 30 * 0.2);
  EXPECT_DOUBLE_EQ(row.share_of_limit, row.gb_per_second / 10);
}

TEST(HostReport, PrefillComputesTheHeadOncePerPrompt) {
  const ModelCost cost{100'000'000, 200'000'000, 10'000, 50'000'000, 512};
  const Row row = row_of({"prefill", 1, 1000, 0, {2000}, {0.5}}, cost, kLimits());
  EXPECT_DOUBLE_EQ(row.gops, 2000 * (150'000'000 + 50'000'000 / 1000.0) / 1e9);
  EXPECT_DOUBLE_EQ(row.gb_per_second, 2000 * (100'000'000 * 2 / 1000.0) / 1e9);  // two chunks of at most 512
  EXPECT_DOUBLE_EQ(row.share_of_limit, row.gops / 1000);
}

Report small_report(double median) {
  Report report;
  report.limits = kLimits();
  report.kv_type = "f16";
  report.rows = {row_of({"prefill", 1, 512, 0, {median}, {0.1}}, {}, report.limits),
                 row_of({"decode", 4, 128, 0, {50}, {0.1}}, {}, report.limits)};
  return report;
}

TEST(HostReport, JsonHasTheAgreedShape) {
  const boost::json::value value = boost::json::parse(report_json(small_report(100)));
  const boost::json::object& root = value.as_object();
  EXPECT_EQ(root.at("machine").at("limits").at("read_gb_per_second").to_number<double>(), 10);
  EXPECT_EQ(root.at("machine").at("limits").at("peak_gops").to_number<double>(), 1000);
  const boost::json::object& row = root.at("results").as_array().at(0).as_object();
  EXPECT_EQ(row.at("phase").as_string(), "prefill");
  EXPECT_EQ(row.at("tokens_per_second").at("median").to_number<double>(), 100);
  for (const char* name : {"streams", "tokens", "depth", "share_of_limit", "ttft_ms", "gb_per_second", "gops"})
    EXPECT_TRUE(row.contains(name)) << name;
  for (const char* name : {"threads", "kv_type", "isa", "load_seconds", "peak_memory_bytes"})
    EXPECT_TRUE(root.contains(name)) << name;
}

TEST(HostBaseline, WithinAndBeyondTheBand) {
  const std::string baseline = report_json(small_report(100));
  bool worse = true;
  auto lines = compare_with_baseline(small_report(91), baseline, 0.10, &worse);
  ASSERT_TRUE(lines.ok());
  EXPECT_FALSE(worse);
  EXPECT_THAT(*lines, HasSubstr("prefill streams 1 depth 0: 91.0 tokens/s, baseline 100.0 (-9.0 %)"));
  ASSERT_TRUE(compare_with_baseline(small_report(89), baseline, 0.10, &worse).ok());
  EXPECT_TRUE(worse);
  ASSERT_TRUE(compare_with_baseline(small_report(500), baseline, 0.10, &worse).ok());
  EXPECT_FALSE(worse);
}

TEST(HostBaseline, WhatIsNoBaseline) {
  bool worse;
  for (const char* text : {"", "{", "[]", "{}", "{\"results\":1}"}) {
    EXPECT_THAT(compare_with_baseline(small_report(1), text, 0.1, &worse).failure().sentence, HasSubstr("not the JSON"))
        << text;
  }
  for (const char* text :
       {"{\"results\":[]}", "{\"results\":[1,{\"phase\":1},{\"phase\":\"prefill\"}]}",
        "{\"results\":[{\"phase\":\"prefill\",\"streams\":1,\"tokens\":512,\"depth\":0,\"tokens_per_second\":3}]}"}) {
    EXPECT_THAT(compare_with_baseline(small_report(1), text, 0.1, &worse).failure().sentence, HasSubstr("no case in common"))
        << text;
  }
}

}  // namespace
}  // namespace gainz::host
