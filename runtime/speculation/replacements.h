// Replacements: which token an answer last put where its source has another: a name that is changed all through a copy.
// Constant memory. Owner: a draft. Threads: the engine's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace gainz {

class Replacements {
 public:
  // The answer put `actual` where the source has `source`; equal: it kept it.
  void observe(int32_t source, int32_t actual) {
    Entry& entry = entries_[bucket(source)];
    if (source != actual)
      entry = {source, actual};
    else if (entry.source == source)
      entry.source = -1;
  }
  int32_t of(int32_t source) const {
    const Entry& entry = entries_[bucket(source)];
    return entry.source == source ? entry.actual : source;
  }

 private:
  struct Entry {
    int32_t source = -1, actual = -1;
  };
  static size_t bucket(int32_t id) { return uint32_t(id) * 0x9E3779B9u >> 24; }  // Knuth, volume 3, section 6.4
  std::array<Entry, 256> entries_{};
};

}  // namespace gainz
