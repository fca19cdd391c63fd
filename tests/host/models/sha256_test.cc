// Expected values: the examples of FIPS 180-2, appendix B, and NIST's long test of a million letters.
#include "models/sha256.h"

#include <gtest/gtest.h>

#include "host/temp_folder.h"

namespace gainz::host {
namespace {

std::string hash(std::string_view text, size_t step) {
  Sha256 sha;
  for (size_t i = 0; i < text.size(); i += step) sha.add(text.data() + i, std::min(step, text.size() - i));
  return sha.hex();
}

TEST(HostSha256, PublishedValues) {
  EXPECT_EQ(hash("", 1), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash("abc", 3), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 100),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hash(std::string(1000000, 'a'), 1000000), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(HostSha256, PiecesMakeNoDifference) {
  const std::string text(777, 'x');
  for (const size_t step : {1, 3, 55, 56, 63, 64, 65, 128, 500}) EXPECT_EQ(hash(text, step), hash(text, 777)) << step;
  for (const size_t size : {55, 56, 57, 63, 64, 65, 119, 120}) {  // around the padding's borders
    EXPECT_EQ(hash(std::string(size, 'y'), 1), hash(std::string(size, 'y'), size)) << size;
  }
}

TEST(HostSha256, Files) {
  const test::TempFolder folder;
  EXPECT_EQ(*sha256_of_file(folder.write("a", "abc"), {}), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_FALSE(sha256_of_file(folder.file("none"), {}).ok());
  EXPECT_FALSE(sha256_of_file(folder.path(), {}).ok());
  EXPECT_FALSE(sha256_of_file(folder.file("a"), [](double) { return false; }).ok());
}

}  // namespace
}  // namespace gainz::host
