#include "gguf/tensor_type.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "support/tiny_model.h"

namespace gainz::test {

namespace {

TEST(TensorType, numbers_and_names_are_unique_and_found) {
  std::set<std::string_view> names;
  uint32_t previous = 0;
  for (const TensorType& type : tensor_types()) {
    EXPECT_TRUE(type.number > previous || type.number == 0) << type.name;
    previous = type.number;
    EXPECT_TRUE(names.insert(type.name).second) << type.name;
    EXPECT_EQ(find_tensor_type(type.number), &type);
    EXPECT_EQ(find_tensor_type(type.name), &type);
    EXPECT_GT(type.block_elements, 0u);
    EXPECT_GT(type.block_bytes, 0u);
    EXPECT_EQ(removed_tensor_type(type.number), "");
  }
  EXPECT_EQ(find_tensor_type(999u), nullptr);
  EXPECT_EQ(find_tensor_type("Q9_9"), nullptr);
}

TEST(TensorType, every_number_below_43_is_known_or_removed) {
  for (uint32_t number = 0; number < 43; ++number) {
    EXPECT_NE(find_tensor_type(number) != nullptr, !removed_tensor_type(number).empty()) << number;
  }
}

TEST(TensorType, usable_types) {
  std::vector<std::string_view> usable;
  for (const TensorType& type : tensor_types()) {
    if (type.usable) usable.push_back(type.name);
  }
  EXPECT_THAT(usable, testing::UnorderedElementsAre("F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K",
                                                    "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS", "MXFP4"));
}

// The block sizes of the reader and of the writers agree.
TEST(TensorType, block_sizes_are_those_of_the_encoders) {
  for (const TensorType& type : tensor_types()) {
    const std::vector<float> values(size_t{type.block_elements} * 3, 0.5f);
    if (!type.usable) continue;
    EXPECT_EQ(encode_blocks(type.name, values).size(), size_t{type.block_bytes} * 3) << type.name;
  }
}

}  // namespace

}  // namespace gainz::test
