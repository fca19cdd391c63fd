#include "server/http/chunk_reader.h"

#include <gtest/gtest.h>

#include <string>

namespace gainz::test {
namespace {

using host::ChunkReader;
using host::HttpLimits;
using Step = ChunkReader::Step;

struct Outcome {
  Step step = Step::need_more;
  int status = 0;
  std::string body;
  size_t num_taken = 0;
  bool operator==(const Outcome&) const = default;
};

Outcome read(const std::string& bytes, size_t piece_bytes, const HttpLimits& limits = {}) {
  ChunkReader reader(limits);
  Outcome out;
  for (size_t at = 0; at < bytes.size() && out.step == Step::need_more; at += piece_bytes) {
    size_t taken = 0;
    out.step = reader.read(std::string_view(bytes).substr(at, piece_bytes), taken, out.body);
    out.num_taken += taken;
  }
  out.status = reader.error().message.empty() ? 0 : reader.error().status;
  return out;
}

TEST(ChunkReader, pieces_do_not_matter) {
  const std::string good = "3\r\nabc\r\n00A ; x=\"a\\\";b\" ;y\r\n0123456789\r\n0;z\r\nX-Trailer: \xC3\xA4\r\nY:\r\n\r\n";
  for (size_t piece = 1; piece < 200; ++piece) {
    EXPECT_EQ(read(good + "GET /", piece), (Outcome{Step::done, 0, "abc0123456789", good.size()})) << piece;
    EXPECT_EQ(read("2\r\nabX", piece), (Outcome{Step::failed, 400, "ab", 5})) << piece;
  }
}

TEST(ChunkReader, what_is_not_whole_waits) {
  const std::string good = "3;a=\"b\"\r\nabc\r\n0\r\nX: y\r\n\r\n";
  for (size_t length = 0; length < good.size(); ++length)
    EXPECT_EQ(read(good.substr(0, length), good.size()).step, Step::need_more) << length;
}

TEST(ChunkReader, limits) {
  HttpLimits limits;
  limits.header_bytes = 50;
  limits.body_bytes = 10;
  EXPECT_EQ(read("A\r\n0123456789\r\n0\r\n\r\n", 100, limits).step, Step::done);
  EXPECT_EQ(read("B\r\n", 100, limits).status, 413);
  EXPECT_EQ(read("6\r\n012345\r\n5\r\n", 100, limits).status, 413);
  EXPECT_EQ(read("FFFFFFFFFFFFFFFF\r\n", 100, limits).status, 413);
  EXPECT_EQ(read("10000000000000000\r\n", 100, limits).status, 400);
  // The line of a chunk and the trailers have the header's limit, with the end of the chunk before.
  EXPECT_EQ(read("1;" + std::string(46, 'x') + "\r\na\r\n0\r\n\r\n", 100, limits).step, Step::done);
  EXPECT_EQ(read("1;" + std::string(47, 'x') + "\r\na\r\n0\r\n\r\n", 100, limits).status, 431);
  EXPECT_EQ(read(std::string(51, '0'), 100, limits).status, 431);
  EXPECT_EQ(read("0\r\nA: " + std::string(43, 'x') + "\r\n\r\n", 100, limits).step, Step::done);
  EXPECT_EQ(read("0\r\nA: " + std::string(44, 'x') + "\r\n\r\n", 100, limits).status, 431);
  // Each chunk begins anew.
  std::string many;
  for (int i = 0; i < 10; ++i) many += "1;" + std::string(40, 'x') + "\r\na\r\n";
  EXPECT_EQ(read(many + "0\r\n\r\n", 7, limits).step, Step::done);
}

TEST(ChunkReader, trailers_cannot_speak_of_the_body) {
  for (const std::string name : {"Content-Length", "TRANSFER-ENCODING"})
    EXPECT_EQ(read("0\r\n" + name + ": 3\r\n\r\n", 100).status, 400) << name;
  EXPECT_EQ(read("0\r\nContent-Length-X: 3\r\nX-Content-Length: 3\r\n\r\n", 100).step, Step::done);
}

}  // namespace
}  // namespace gainz::test
