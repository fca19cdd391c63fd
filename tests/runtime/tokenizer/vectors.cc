#include "runtime/tokenizer/vectors.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace gainz::test {

namespace {

std::string from_hex(const std::string& hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) out += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return out;
}

std::vector<int32_t> read_ids(const std::string& text) {
  std::istringstream in(text);
  std::vector<int32_t> out;
  for (int32_t id; in >> id;) out.push_back(id);
  return out;
}

}  // namespace

std::string data_path(const std::string& name) { return std::string(GAINZ_TEST_DATA) + "/tokenizer/" + name; }

std::vector<Vector> read_vectors(const std::string& name) {
  std::ifstream in(data_path(name));
  std::vector<Vector> out;
  for (std::string line; std::getline(in, line);) {
    const size_t first = line.find('\t'), second = line.find('\t', first + 1);
    const std::vector<int32_t> plain = read_ids(line.substr(first + 1, second - first - 1));
    const std::string special = line.substr(second + 1);
    out.push_back({from_hex(line.substr(0, first)), plain, special == "=" ? plain : read_ids(special)});
  }
  return out;
}

std::shared_ptr<const Tokenizer> open_tokenizer(const std::string& path) {
  auto file = Gguf::open(path, {.use_mmap = true, .metadata_only = true});
  if (!file.ok()) {
    ADD_FAILURE() << file.status().message();
    return nullptr;
  }
  auto tokenizer = Tokenizer::create(*file);
  if (!tokenizer.ok()) {
    ADD_FAILURE() << path << ": " << tokenizer.status().message();
    return nullptr;
  }
  return *tokenizer;
}

std::string real_model(const std::string& file) {
  const char* folder = std::getenv("GAINZ_MODELS");
  const char* home = std::getenv("HOME");
  std::string path = folder != nullptr ? folder : std::string(home != nullptr ? home : "") + "/.cache/gainz/models";
  path += "/" + file;
  return std::filesystem::exists(path) ? path : "";
}

size_t check_vectors(const Tokenizer& tokenizer, const std::vector<Vector>& vectors) {
  size_t num_right = 0;
  for (const Vector& vector : vectors) {
    const auto plain = tokenizer.encode(vector.text, false, false);
    const auto special = tokenizer.encode(vector.text, true, false);
    const bool right = plain.ok() && special.ok() && *plain == vector.plain && *special == vector.special;
    EXPECT_TRUE(plain.ok()) << plain.status().message() << "; text: " << ::testing::PrintToString(vector.text);
    if (!plain.ok() || !special.ok()) continue;
    EXPECT_EQ(*plain, vector.plain) << ::testing::PrintToString(vector.text);
    EXPECT_EQ(*special, vector.special) << ::testing::PrintToString(vector.text);
    num_right += right ? 1 : 0;
  }
  return num_right;
}

}  // namespace gainz::test
