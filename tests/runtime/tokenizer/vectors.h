// Vectors: texts with the ids that an independent tokenizer gives, as the test data keeps them.
//
// A line is: the text's bytes in hex, a tab, the ids with markers left as text, a tab, the ids with markers parsed
// ("=": the same).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace gainz::test {

struct Vector {
  std::string text;
  std::vector<int32_t> plain, special;
};

std::string data_path(const std::string& name);  // in tests/data/tokenizer
std::vector<Vector> read_vectors(const std::string& name);

// Of a file with or without tensors; nullptr and a failed test where it cannot be opened.
std::shared_ptr<const Tokenizer> open_tokenizer(const std::string& path);

// The path of a real model, or empty if it is not on this machine.
std::string real_model(const std::string& file);

// Compares all and names each text that differs. Returns how many were right.
size_t check_vectors(const Tokenizer& tokenizer, const std::vector<Vector>& vectors);

}  // namespace gainz::test
