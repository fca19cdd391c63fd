// Plugins that misbehave while they are loaded, listed or opened: each is skipped with one line of reason, and the next one
// works.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "device/plugin_registry.h"
#include "runtime/api/api_fixture.h"

namespace gainz::test {
namespace {

std::string bad(const std::string& mode) { return std::string(GAINZ_BAD_PLUGINS) + "/bad_" + mode + ".so"; }
std::string reference_path() { return plugin_folder() + "/gainz_reference.so"; }

void expect_reference_works(TestRuntime& runtime) {
  const gainz_model_id model = runtime.load();
  EXPECT_EQ(runtime.ask(model, Ask::prompt({5, 6}, 2)).ids.size(), 2u);
  EXPECT_EQ(gainz_model_unload(runtime, model, nullptr, 0), GAINZ_OK);
}

struct BadLoad {
  const char* mode;
  gainz_code code;
  const char* says;
};
class RefusedPlugin : public testing::TestWithParam<BadLoad> {};

TEST_P(RefusedPlugin, pb43_pb44_names_file_and_reason) {
  TestRuntime runtime;
  const uint32_t before = gainz_plugin_count(runtime);
  const size_t files = num_files_open();
  const std::string path = bad(GetParam().mode);
  EXPECT_EQ(gainz_plugin_load(runtime, path.c_str(), runtime.error, sizeof runtime.error), GetParam().code) << runtime.error;
  const std::string error = runtime.error;
  EXPECT_NE(error.find(path), std::string::npos) << error;
  EXPECT_NE(error.find(GetParam().says), std::string::npos) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos) << "one line";
  EXPECT_EQ(gainz_plugin_count(runtime), before);
  EXPECT_EQ(num_files_open(), files);
  expect_reference_works(runtime);
}
INSTANTIATE_TEST_SUITE_P(
    modes, RefusedPlugin,
    testing::Values(BadLoad{"no_symbol", GAINZ_INVALID, "gainz_plugin_query_v0"},
                    BadLoad{"undefined_symbol", GAINZ_INVALID, "gainz_test_function_of_a_driver_that_is_not_there"},
                    BadLoad{"major_above", GAINZ_UNSUPPORTED, "1.1, this is 0.1"},
                    BadLoad{"major_below", GAINZ_UNSUPPORTED, "4294967295.1, this is 0.1"},
                    BadLoad{"minor_above", GAINZ_UNSUPPORTED, "0.2, this is 0.1"},
                    BadLoad{"version_unset", GAINZ_UNSUPPORTED, "3452816845.3452816845"},
                    BadLoad{"size_absurd", GAINZ_UNSUPPORTED, "4294967280 bytes"},
                    BadLoad{"size_zero", GAINZ_UNSUPPORTED, "0 bytes"},
                    BadLoad{"query_throws", GAINZ_INTERNAL, "thrown in query"},
                    BadLoad{"query_refuses", GAINZ_UNSUPPORTED, "this machine has no such thing"},
                    BadLoad{"null_name", GAINZ_INVALID, "name"}, BadLoad{"odd_name", GAINZ_INVALID, "../Evil Name"},
                    BadLoad{"null_functions", GAINZ_INVALID, "device_list"},
                    BadLoad{"nothing_filled", GAINZ_UNSUPPORTED, "0.0, this is 0.1"}),
    [](const auto& test) { return std::string(test.param.mode); });

class BadList : public testing::TestWithParam<BadLoad> {};

TEST_P(BadList, pb44_has_no_devices_and_a_reason) {
  TestRuntime runtime;
  ASSERT_EQ(gainz_plugin_load(runtime, bad(GetParam().mode).c_str(), runtime.error, sizeof runtime.error), GAINZ_OK)
      << runtime.error;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(gainz_devices_refresh(runtime, nullptr, 0), GAINZ_OK);
    size_t num_bad = 0, num_reference = 0;
    for (uint32_t d = 0; d < gainz_device_count(runtime); ++d) {
      gainz_device_info info{sizeof(gainz_device_info)};
      ASSERT_EQ(gainz_device_get(runtime, d, &info), GAINZ_OK);
      num_bad += std::string(info.backend) == GetParam().mode;
      num_reference += std::string(info.backend) == "reference";
    }
    EXPECT_EQ(num_bad, 0u);
    EXPECT_EQ(num_reference, 1u);
  }
  gainz_plugin_info info{sizeof(gainz_plugin_info)};
  ASSERT_EQ(gainz_plugin_get(runtime, gainz_plugin_count(runtime) - 1, &info), GAINZ_OK);
  EXPECT_STREQ(info.name, GetParam().mode);
  EXPECT_NE(std::string(info.reason).find(GetParam().says), std::string::npos) << info.reason;
  EXPECT_EQ(std::string(info.reason).find('\n'), std::string::npos);
  EXPECT_LT(std::string(info.reason).size(), 700u);
  gainz_model_id model = 0;
  EXPECT_NE(runtime.try_load(tiny_file().path, &model, [](gainz_model_config& c) { c.backend = GetParam().mode; }), GAINZ_OK);
  EXPECT_NE(std::string(runtime.error).find(GetParam().mode), std::string::npos) << runtime.error;
  expect_reference_works(runtime);
}
INSTANTIATE_TEST_SUITE_P(
    modes, BadList,
    testing::Values(BadLoad{"list_throws", GAINZ_INTERNAL, "thrown while listing"},
                    BadLoad{"list_throws_a_number", GAINZ_INTERNAL, "exception"},
                    BadLoad{"list_fails", GAINZ_UNSUPPORTED, "no driver is installed"}, BadLoad{"no_devices", GAINZ_OK, ""},
                    BadLoad{"million_devices", GAINZ_LIMIT_EXCEEDED, "1000000"},
                    BadLoad{"null_names", GAINZ_INVALID, "incompletely"},
                    BadLoad{"negative_memory", GAINZ_INVALID, "18446744073709551615"},
                    BadLoad{"more_free_than_there_is", GAINZ_INVALID, "1001"}, BadLoad{"unknown_kind", GAINZ_INVALID, "77"},
                    BadLoad{"unfilled", GAINZ_INVALID, "incompletely"}, BadLoad{"unknown_status", GAINZ_INTERNAL, "-12345"},
                    BadLoad{"unended_text", GAINZ_INTERNAL, "eeee"}, BadLoad{"long_text", GAINZ_INTERNAL, "llll"},
                    BadLoad{"dirty_text", GAINZ_INTERNAL, "line  ?? \xC3\xA9"}),
    [](const auto& test) { return std::string(test.param.mode); });

class BadOpen : public testing::TestWithParam<BadLoad> {};

TEST_P(BadOpen, pb44_fails_the_load_of_a_model_with_a_reason) {
  TestRuntime runtime;
  ASSERT_EQ(gainz_plugin_load(runtime, bad(GetParam().mode).c_str(), runtime.error, sizeof runtime.error), GAINZ_OK)
      << runtime.error;
  gainz_model_id model = 0;
  EXPECT_EQ(runtime.try_load(tiny_file().path, &model, [](gainz_model_config& c) { c.backend = GetParam().mode; }),
            GetParam().code);
  EXPECT_NE(std::string(runtime.error).find(GetParam().says), std::string::npos) << runtime.error;
  EXPECT_NE(std::string(runtime.error).find(GetParam().mode), std::string::npos) << runtime.error;
  expect_reference_works(runtime);
}
INSTANTIATE_TEST_SUITE_P(modes, BadOpen,
                         testing::Values(BadLoad{"open_throws", GAINZ_INTERNAL, "thrown while opening"},
                                         BadLoad{"null_device", GAINZ_INVALID, "no device"},
                                         BadLoad{"null_entries", GAINZ_INVALID, "missing"},
                                         BadLoad{"api_size", GAINZ_INVALID, "another size"},
                                         BadLoad{"open_fails", GAINZ_UNSUPPORTED, "this plugin opens nothing"}),
                         [](const auto& test) { return std::string(test.param.mode); });

TEST(plugin_file, a_dirty_device_name_is_cleaned) {
  TestRuntime runtime;
  ASSERT_EQ(gainz_plugin_load(runtime, bad("dirty_name").c_str(), nullptr, 0), GAINZ_OK);
  ASSERT_EQ(gainz_device_count(runtime), 1u) << "its devices are listed at once";
  gainz_device_info info{sizeof(gainz_device_info)};
  ASSERT_EQ(gainz_device_get(runtime, 0, &info), GAINZ_OK);
  EXPECT_STREQ(info.name, "two lines?");
  EXPECT_STREQ(info.kind, "cpu");
}

TEST(plugin_file, what_is_no_plugin_is_refused) {
  char name[] = "/tmp/gainz_no_plugin_XXXXXX";
  const std::string folder = mkdtemp(name);
  const auto path = [&](const char* file) { return folder + "/" + file; };
  std::ofstream(path("text.so")) << "this is a text, not a library\n";
  std::ofstream(path("empty.so")).flush();
  std::ifstream in(reference_path(), std::ios::binary);
  const std::string elf((std::istreambuf_iterator<char>(in)), {});
  ASSERT_GT(elf.size(), 4096u);
  for (const size_t length : {size_t{4}, size_t{63}, size_t{64}, size_t{200}, size_t{4096}, elf.size() / 2, elf.size() - 1})
    std::ofstream(path(("cut" + std::to_string(length) + ".so").c_str()), std::ios::binary) << elf.substr(0, length);
  for (const size_t at :
       {size_t{0x28}, size_t{0x3A}, size_t{0x3C}, size_t{0x3E}}) {  // where the sections are, their size, number and names
    std::string damaged = elf;
    for (size_t i = 0; i < 2; ++i) damaged[at + i] = char(0xEE);
    std::ofstream(path(("damaged" + std::to_string(at) + ".so").c_str()), std::ios::binary) << damaged;
  }
  std::filesystem::create_directory(path("folder.so"));
  ASSERT_EQ(mkfifo(path("pipe.so").c_str(), 0600), 0);
  std::filesystem::create_symlink("/nowhere/at/all", path("dangling.so"));
  TestRuntime runtime;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const gainz_code code = gainz_plugin_load(runtime, entry.path().c_str(), runtime.error, sizeof runtime.error);
    EXPECT_TRUE(code == GAINZ_INVALID || code == GAINZ_NOT_FOUND) << entry.path() << code;
    EXPECT_NE(std::string(runtime.error).find(entry.path().string()), std::string::npos) << runtime.error;
  }
  EXPECT_EQ(gainz_plugin_load(runtime, (folder + "/missing.so").c_str(), runtime.error, sizeof runtime.error), GAINZ_NOT_FOUND);
  EXPECT_EQ(gainz_plugin_load(runtime, "", runtime.error, sizeof runtime.error), GAINZ_NOT_FOUND);
  EXPECT_EQ(gainz_plugin_load(runtime, std::string(100000, 'p').c_str(), runtime.error, sizeof runtime.error), GAINZ_NOT_FOUND)
      << runtime.error;
  expect_reference_works(runtime);
  std::filesystem::remove_all(folder);
}

TEST(plugin_file, pb43_one_name_is_active_once) {
  TestRuntime runtime([](gainz_runtime_config& c) { c.plugin_path = "/nowhere"; });
  ASSERT_EQ(gainz_plugin_load(runtime, bad("twin_a").c_str(), nullptr, 0), GAINZ_OK);
  EXPECT_EQ(gainz_plugin_load(runtime, bad("twin_a").c_str(), nullptr, 0), GAINZ_OK)
      << "the same file again is the same plugin";
  EXPECT_EQ(gainz_plugin_load(runtime, bad("twin_b").c_str(), runtime.error, sizeof runtime.error), GAINZ_INVALID);
  EXPECT_NE(std::string(runtime.error).find("bad_twin_a.so"), std::string::npos) << runtime.error;
  EXPECT_EQ(gainz_plugin_count(runtime), 1u);
  EXPECT_EQ(gainz_device_count(runtime), 1u) << "no device is listed twice";
}

TEST(plugin_file, pb43_a_name_other_than_the_manifests) {
  char name[] = "/tmp/gainz_names_XXXXXX";
  const std::string folder = mkdtemp(name);
  std::filesystem::copy_file(bad("open_fails"), folder + "/x.so");
  std::ofstream(folder + "/x.plugin.toml") << "name = \"other\"\nlibrary = \"x.so\"\nabi = \"0.1\"\n";
  TestRuntime runtime([&](gainz_runtime_config& c) { c.plugin_path = folder.c_str(); });
  EXPECT_EQ(gainz_devices_refresh(runtime, nullptr, 0), GAINZ_OK);
  gainz_plugin_info info{sizeof(gainz_plugin_info)};
  ASSERT_EQ(gainz_plugin_get(runtime, 0, &info), GAINZ_OK);
  EXPECT_EQ(info.loaded, 0u);
  EXPECT_NE(std::string(info.reason).find("open_fails"), std::string::npos) << info.reason;
  EXPECT_NE(std::string(info.reason).find("other"), std::string::npos) << info.reason;
  EXPECT_EQ(gainz_device_count(runtime), 0u);
  std::filesystem::remove_all(folder);
}

// PB41, PB48: a folder full of plugins that cannot be loaded here: each is listed with its reason, nothing moves silently.
TEST(plugin_file, pb41_pb48_missing_dependencies_are_told_and_a_named_backend_does_not_move) {
  char name[] = "/tmp/gainz_deps_XXXXXX";
  const std::string folder = mkdtemp(name);
  std::filesystem::copy_file(bad("undefined_symbol"), folder + "/gpu.so");
  std::ofstream(folder + "/gpu.plugin.toml") << "name = \"undefined_symbol\"\nlibrary = \"gpu.so\"\nabi = \"0.1\"\n";
  std::string log;
  {
    const std::string path = folder + ":" + plugin_folder();
    TestRuntime runtime([&](gainz_runtime_config& c) {
      c.plugin_path = path.c_str();
      c.hook_ctx = &log;
      c.log = [](void* ctx, uint32_t, const char* text) { *static_cast<std::string*>(ctx) += std::string(text) + "\n"; };
    });
    gainz_model_id model = 0;
    EXPECT_EQ(runtime.try_load(tiny_file().path, &model, [](gainz_model_config& c) { c.backend = "undefined_symbol"; }),
              GAINZ_UNSUPPORTED);
    EXPECT_NE(std::string(runtime.error).find("gainz_test_function_of_a_driver_that_is_not_there"), std::string::npos)
        << runtime.error;
    EXPECT_EQ(gainz_devices_refresh(runtime, nullptr, 0), GAINZ_OK);
    gainz_plugin_info info{sizeof(gainz_plugin_info)};
    ASSERT_EQ(gainz_plugin_get(runtime, 0, &info), GAINZ_OK);
    EXPECT_EQ(info.loaded, 0u);
    EXPECT_NE(std::string(info.reason).find("gainz_test_function_of_a_driver_that_is_not_there"), std::string::npos)
        << info.reason;
    EXPECT_NE(log.find("gainz_test_function_of_a_driver_that_is_not_there"), std::string::npos);
    expect_reference_works(runtime);
  }
  {
    TestRuntime none([&](gainz_runtime_config& c) { c.plugin_path = folder.c_str(); });
    gainz_model_id model = 0;
    EXPECT_EQ(none.try_load(tiny_file().path, &model, [](gainz_model_config& c) { c.backend = "auto"; }), GAINZ_UNSUPPORTED);
    EXPECT_NE(std::string(none.error).find("gainz_test_function_of_a_driver_that_is_not_there"), std::string::npos)
        << none.error;
  }
  std::filesystem::remove_all(folder);
}

size_t num_mappings() {
  std::ifstream in("/proc/self/maps");
  size_t count = 0;
  for (std::string line; std::getline(in, line);) count += line.find(".so") != std::string::npos;
  return count;
}

// docs/decisions.md: a plugin's code stays mapped, and loading it again brings nothing new.
TEST(plugin_file, stays_mapped_and_a_hundred_loads_grow_nothing) {
  {
    TestRuntime runtime;
    expect_reference_works(runtime);
  }
  void* still = dlopen(reference_path().c_str(), RTLD_NOW | RTLD_NOLOAD);
  EXPECT_NE(still, nullptr) << "after everything was closed the code is still there";
  if (still) dlclose(still);
  const size_t mappings = num_mappings(), files = num_files_open(), threads = num_threads_alive();
  for (int i = 0; i < 100; ++i) {
    TestRuntime runtime;
    ASSERT_EQ(gainz_plugin_load(runtime, reference_path().c_str(), runtime.error, sizeof runtime.error), GAINZ_OK)
        << runtime.error;
    gainz_model_id model = 0;
    if (i % 10 == 0) {
      ASSERT_EQ(runtime.try_load(tiny_file().path, &model, [](gainz_model_config&) {}), GAINZ_OK);
    }
    ASSERT_EQ(gainz_devices_refresh(runtime, nullptr, 0), GAINZ_OK);
    ASSERT_GE(gainz_device_count(runtime), 1u);
    if (i == 0) {
      EXPECT_LE(num_mappings(), mappings + 160) << "every plugin is mapped now";
    }
  }
  const size_t after = num_mappings();
  {
    TestRuntime runtime;
    EXPECT_EQ(gainz_devices_refresh(runtime, nullptr, 0), GAINZ_OK);
  }
  EXPECT_EQ(num_mappings(), after);
  EXPECT_EQ(num_files_open(), files);
  EXPECT_EQ(num_threads_alive(), threads);
}

}  // namespace
}  // namespace gainz::test
