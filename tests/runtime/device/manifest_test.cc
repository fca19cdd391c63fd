// Manifests: what may stand in one, and that a bad one is skipped with a reason and harms nobody.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "device/plugin_registry.h"

namespace gainz {
namespace {

class Manifests : public testing::Test {
 protected:
  Manifests() {
    char name[] = "/tmp/gainz_manifests_XXXXXX";
    folder = mkdtemp(name);
    services.hook_ctx = this;
    services.log_hook = [](void* ctx, uint32_t, const char* text) { static_cast<Manifests*>(ctx)->log.push_back(text); };
  }
  ~Manifests() override { std::filesystem::remove_all(folder); }
  void write(const std::string& name, const std::string& text) { std::ofstream(folder + "/" + name + ".plugin.toml") << text; }
  // The reason why the one manifest of this text is not used.
  std::string reason(const std::string& text) {
    write("one", text);
    PluginRegistry registry(host);
    registry.read_folders(folder);
    EXPECT_EQ(registry.entries().size(), 1u);
    return registry.entries().empty() ? "none" : registry.entries()[0].reason;
  }
  static bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

  std::string folder;
  Services services;
  PluginHost host{services};
  std::vector<std::string> log;
};

const std::string kGood = "name = \"good\"\nlibrary = \"good.so\"\nabi = \"0.1\"\n";

TEST_F(Manifests, a_good_one_loads_nothing_yet) {
  write("good",
        "# a comment\r\n\n  name=\"good\"  \n\tlibrary = \"good.so\"\nabi = \"0.1\"\nversion = \"3\"\ndescription = \"d\"\n"
        "report = \"r.txt\"");
  PluginRegistry registry(host);
  registry.read_folders(folder);
  ASSERT_EQ(registry.entries().size(), 1u);
  const PluginEntry& entry = registry.entries()[0];
  EXPECT_EQ(entry.reason, "");
  EXPECT_EQ(entry.name, "good");
  EXPECT_EQ(entry.version, "3");
  EXPECT_EQ(entry.path, folder + "/good.so");
  EXPECT_EQ(entry.library, nullptr);
  EXPECT_TRUE(log.empty());
  const auto found = registry.find("good");
  ASSERT_FALSE(found.ok());
  EXPECT_TRUE(has(found.status().message(), "good.so")) << found.status().message();
  EXPECT_EQ(log.size(), 1u);
  const auto again = registry.find("good");
  EXPECT_EQ(again.status().message(), found.status().message());
  EXPECT_EQ(log.size(), 1u) << "one line for one fault";
}

TEST_F(Manifests, faults_name_the_file_and_the_line) {
  EXPECT_EQ(reason(kGood), "");
  EXPECT_TRUE(has(reason(kGood + "colour = \"red\"\n"), "line 4: unknown key colour"));
  EXPECT_TRUE(has(reason(kGood + "name = \"again\"\n"), "line 4: key name twice"));
  EXPECT_TRUE(has(reason(kGood + "version = 1\n"), "line 4: expected key = \"value\""));
  EXPECT_TRUE(has(reason(kGood + "version\n"), "line 4"));
  EXPECT_TRUE(has(reason(kGood + "version = \"a\" \"b\"\n"), "line 4"));
  EXPECT_TRUE(has(reason(kGood + "version = \"\n"), "line 4"));
  EXPECT_TRUE(has(reason(kGood + "[table]\n"), "line 4"));
  EXPECT_TRUE(has(reason(kGood + std::string("version = \"\0\"\n", 14)), "line 4"));
  EXPECT_TRUE(has(reason("library = \"x.so\"\nabi = \"0.1\"\n"), "name is missing"));
  EXPECT_TRUE(has(reason("name = \"x\"\nabi = \"0.1\"\n"), "library is missing"));
  EXPECT_TRUE(has(reason("name = \"x\"\nlibrary = \"x.so\"\n"), "abi is missing"));
  EXPECT_TRUE(has(reason("name = \"\"\nlibrary = \"x.so\"\nabi = \"0.1\"\n"), "name is missing"));
  EXPECT_TRUE(has(reason("name = \"Not Good\"\nlibrary = \"x.so\"\nabi = \"0.1\"\n"), "Not Good"));
  EXPECT_TRUE(has(reason("name = \"x\"\nlibrary = \"../x.so\"\nabi = \"0.1\"\n"), "beside the manifest"));
  EXPECT_TRUE(has(reason("name = \"x\"\nlibrary = \"/x.so\"\nabi = \"0.1\"\n"), "beside the manifest"));
  const std::string versions = reason("name = \"x\"\nlibrary = \"x.so\"\nabi = \"0.9\"\n");
  EXPECT_TRUE(has(versions, "0.9") && has(versions, "0.1")) << versions;
  EXPECT_TRUE(has(reason(""), "not a readable file"));
  EXPECT_TRUE(has(reason(kGood + "# " + std::string(16 * 1024, 'x')), "16384"));
  EXPECT_EQ(reason(kGood + "# " + std::string(16 * 1024 - kGood.size() - 2, 'x')), "") << "as large as is allowed";
}

TEST_F(Manifests, what_is_no_file_is_skipped) {
  ASSERT_EQ(mkfifo((folder + "/pipe.plugin.toml").c_str(), 0600), 0);
  std::filesystem::create_directory(folder + "/folder.plugin.toml");
  std::filesystem::create_symlink("/nowhere", folder + "/link.plugin.toml");
  std::filesystem::create_symlink("/dev/zero", folder + "/zero.plugin.toml");
  write("good", kGood);
  PluginRegistry registry(host);
  registry.read_folders(folder);
  ASSERT_EQ(registry.entries().size(), 5u);
  size_t num_good = 0;
  for (const auto& entry : registry.entries()) num_good += entry.reason.empty();
  EXPECT_EQ(num_good, 1u);
  EXPECT_EQ(log.size(), 4u);
}

TEST_F(Manifests, of_two_with_one_name_the_first_is_used) {
  write("a", kGood);
  write("b", kGood);
  PluginRegistry registry(host);
  registry.read_folders(folder + ":" + folder);  // and the same folder twice
  ASSERT_EQ(registry.entries().size(), 4u);
  EXPECT_EQ(registry.entries()[0].reason, "");
  for (size_t i = 1; i < 4; ++i)
    EXPECT_TRUE(has(registry.entries()[i].reason, "the name good is taken by")) << registry.entries()[i].reason;
}

TEST_F(Manifests, a_refused_one_does_not_hold_the_name) {
  write("a", "name = \"good\"\nlibrary = \"old.so\"\nabi = \"9.9\"\n");
  write("b", kGood);
  PluginRegistry registry(host);
  registry.read_folders(folder);
  ASSERT_EQ(registry.entries().size(), 2u);
  EXPECT_NE(registry.entries()[0].reason, "");
  EXPECT_EQ(registry.entries()[1].reason, "");
}

TEST_F(Manifests, sixty_four_are_the_most) {
  for (int i = 0; i < 70; ++i)
    write("m" + std::to_string(100 + i), "name = \"p" + std::to_string(i) + "\"\nlibrary = \"x.so\"\nabi = \"0.1\"\n");
  PluginRegistry registry(host);
  registry.read_folders(folder);
  EXPECT_EQ(registry.entries().size(), 64u);
  EXPECT_EQ(log.size(), 6u);
}

TEST_F(Manifests, the_current_folder_is_never_looked_at) {
  write("good", kGood);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  PluginRegistry registry(host);
  for (const char* path : {"", ":", ".", "./", "::.:", "./.", "/nowhere:"}) registry.read_folders(path);
  std::filesystem::current_path(before);
  EXPECT_TRUE(registry.entries().empty());
}

TEST_F(Manifests, an_unknown_backend_names_the_known_ones) {
  write("a", kGood);
  write("b", "name = \"better\"\nlibrary = \"b.so\"\nabi = \"0.1\"\n");
  PluginRegistry registry(host);
  registry.read_folders(folder);
  const auto found = registry.find("best");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.status().code(), Code::not_found);
  EXPECT_TRUE(has(found.status().message(), "best") && has(found.status().message(), "good, better"))
      << found.status().message();
}

}  // namespace
}  // namespace gainz
