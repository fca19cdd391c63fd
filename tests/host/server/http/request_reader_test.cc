// The reader alone: however a request is cut into pieces, it says the same.
#include "server/http/request_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gainz::test {
namespace {

using host::HttpLimits;
using host::RequestReader;
using Step = RequestReader::Step;

struct Outcome {
  Step last = Step::need_more;
  int status = 0;
  std::string text;  // of the request
  size_t num_left = 0;
  bool operator==(const Outcome&) const = default;
};

// Feeds the pieces as a connection does: what was not taken comes again.
Outcome read_pieces(const std::vector<std::string>& pieces, const HttpLimits& limits = {}) {
  RequestReader reader(limits);
  Outcome out;
  std::string waiting;
  for (const std::string& piece : pieces) {
    waiting += piece;
    while (out.last != Step::done && out.last != Step::failed) {
      size_t taken = 0;
      out.last = reader.read(waiting, taken);
      waiting.erase(0, taken);
      if (out.last == Step::need_more) break;
    }
  }
  out.num_left = waiting.size();
  if (out.last == Step::failed) {
    out.status = reader.error().status;
    return out;
  }
  const host::HttpRequest& request = reader.request();
  out.text = request.method + " " + request.path + "?" + request.query;
  for (const auto& [name, value] : request.headers) out.text += "|" + name + "=" + value;
  out.text += "|" + request.body;
  return out;
}

const std::string kRequests[] = {
    "GET /a%20b//c?x=%20 HTTP/1.1\r\nHost: t\r\nX-Y:  z \r\n\r\nGET ",
    "\r\n\r\nPOST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\nhelloGET",
    "POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: Chunked\r\n\r\n3;a=b\r\nabc\r\n1\r\nd\r\n0\r\nT: x\r\n\r\nrest",
    "POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: t\r\n folded\r\n\r\n",
    "GET / HTTP/1.1\nHost: t\n\n",
};

TEST(RequestReader, pieces_do_not_matter) {
  for (const std::string& text : kRequests) {
    const Outcome whole = read_pieces({text});
    std::vector<std::string> single;
    for (const char c : text) single.emplace_back(1, c);
    EXPECT_EQ(read_pieces(single).text, whole.text);
    EXPECT_EQ(read_pieces(single).status, whole.status);
    EXPECT_EQ(read_pieces(single).num_left, whole.status ? read_pieces(single).num_left : whole.num_left);
    for (size_t cut = 1; cut < text.size(); ++cut) {
      const Outcome halves = read_pieces({text.substr(0, cut), text.substr(cut)});
      EXPECT_EQ(halves.last, whole.last) << cut << "\n" << text;
      EXPECT_EQ(halves.text, whole.text);
      EXPECT_EQ(halves.status, whole.status);
    }
  }
}

TEST(RequestReader, what_a_good_request_gives) {
  EXPECT_EQ(read_pieces({kRequests[0]}), (Outcome{Step::done, 0, "GET /a b/c?x=%20|host=t|x-y=z|", 4}));
  EXPECT_EQ(read_pieces({kRequests[1]}), (Outcome{Step::done, 0, "POST /echo?|host=t|content-length=5|hello", 3}));
  // Trailers are dropped: they came after all was decided.
  EXPECT_EQ(read_pieces({kRequests[2]}), (Outcome{Step::done, 0, "POST /echo?|host=t|transfer-encoding=Chunked|abcd", 4}));
}

TEST(RequestReader, never_asks_to_keep_more_than_the_header_limit) {
  HttpLimits limits;
  limits.header_bytes = 2000;
  limits.uri_bytes = 1000;
  const std::string chunked = "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string& head :
       {std::string(), std::string("GET /"), std::string("GET / HTTP/1.1\r\nA: "), chunked + "1;", chunked + "0\r\nA: "}) {
    RequestReader reader(limits);
    std::string waiting = head;
    Step step = Step::need_more;
    size_t most = 0;
    for (int i = 0; i < 5000 && step != Step::failed; ++i) {
      size_t taken = 0;
      step = reader.read(waiting, taken);
      waiting.erase(0, taken);
      most = std::max(most, waiting.size());
      waiting += 'a';
    }
    EXPECT_EQ(step, Step::failed) << head;
    EXPECT_LE(most, limits.header_bytes + 1) << head;
  }
}

TEST(RequestReader, connections_are_kept_as_the_header_says) {
  const auto keeps = [](const std::string& version, const std::string& fields) {
    RequestReader reader({});
    size_t taken = 0;
    EXPECT_EQ(reader.read("GET / HTTP/" + version + "\r\nHost: t\r\n" + fields + "\r\n", taken), Step::head);
    return reader.framing().keep_alive;
  };
  EXPECT_TRUE(keeps("1.1", ""));
  EXPECT_FALSE(keeps("1.1", "Connection: Close\r\n"));
  EXPECT_FALSE(keeps("1.1", "Connection: x, close\r\n"));
  EXPECT_TRUE(keeps("1.1", "Connection: closed\r\n"));
  EXPECT_FALSE(keeps("1.0", ""));
  EXPECT_TRUE(keeps("1.0", "Connection: keep-alive\r\n"));
}

}  // namespace
}  // namespace gainz::test
