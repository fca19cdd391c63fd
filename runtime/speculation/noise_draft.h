// NoiseDraft: random tokens, hardly ever accepted: what speculation costs at worst. For measurements and tests.
#pragma once

#include "speculation/draft.h"

namespace gainz {

class NoiseDraft : public Draft {
 public:
  explicit NoiseDraft(uint32_t vocab_size) : vocab_size_(vocab_size) {}
  Guess guess(std::span<const int32_t> tokens, std::span<int32_t> out) override {
    for (size_t i = 0; i < out.size(); ++i)  // multiplicative hashing of the position; any spread will do
      out[i] = int32_t((tokens.size() + i) * 0x9E3779B97F4A7C15u >> 32) % int32_t(vocab_size_);
    for (int32_t& id : out) id = id < 0 ? -id : id;
    return {uint32_t(out.size()), kNumTrusts - 1};
  }

 private:
  uint32_t vocab_size_;
};

}  // namespace gainz
