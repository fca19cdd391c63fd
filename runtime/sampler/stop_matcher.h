// StopMatcher: finds stop strings in text that arrives in pieces, across their borders. For one sequence.
// Before: the detokenizer gave the token's text. After: what is emitted goes to the client.
//
// The stop that ends first in the text wins, the longest of those that end there; neither it nor anything after it is emitted.
// So the result does not depend on how the text was cut, and generation ends with the first byte that completes a stop. Held
// back is the longest suffix that is a proper prefix of a stop, nothing more. Bytes, not characters: with whole characters in
// and stops of whole characters, whole characters come out.
//
// One pass, linear in the text (Aho and Corasick 1975). Owner: the sequence. Threads: one at a time. Memory: taken at
// construction; push with out_emit allocates only what that string needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace gainz {

struct StopPush {
  std::string emit;
  bool matched = false;
};

class StopMatcher {
 public:
  // Errors: invalid for an empty stop; limit_exceeded for too many or too long ones (limits.h). Names "stop", value and limit.
  static Status validate(std::span<const std::string> stops);
  static Result<StopMatcher> create(std::vector<std::string> stops);

  // REQUIRES: validate(stops) is ok. No stops: everything is emitted at once.
  explicit StopMatcher(std::vector<std::string> stops);

  // What may be shown now. Once matched, it stays so and nothing more is emitted.
  StopPush push(std::string_view text);
  bool push(std::string_view text, std::string& out_emit);  // appends to out_emit; returns matched
  // End of the text: what was held back (empty if matched). Afterwards as new.
  std::string finish();

  bool matched() const { return matched_stop_ >= 0; }
  int32_t matched_stop() const { return matched_stop_; }  // its index among stops, or -1

 private:
  // A node is a prefix of a stop; 0 is the empty one.
  struct Node {
    int32_t first_child = 0, next_sibling = 0;  // 0: none
    int32_t fail = 0;                           // the longest proper suffix that is a node
    int32_t depth = 0;                          // bytes of the prefix
    int32_t stop = -1;                          // a stop that begins with it
    int32_t match = -1;                         // the longest stop that is a suffix of it
    char byte = 0;
  };
  int32_t find_child(int32_t node, char byte) const;
  void add(std::string_view stop, int32_t index);
  void link();
  std::string_view prefix(int32_t node) const;

  std::vector<std::string> stops_;
  std::vector<Node> nodes_;
  int32_t state_ = 0;  // its prefix is what is held back
  int32_t matched_stop_ = -1;
};

}  // namespace gainz
