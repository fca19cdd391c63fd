// Engine::Active: a request that the engine works on: its Sequence and all that is kept beside it.
// Owner: the Engine. Threads: the engine's.
#pragma once

#include <array>

#include "engine/clock.h"
#include "engine/engine.h"

namespace gainz {

struct Engine::Active : Sequence {
  Active(Request&& r, Sampler&& s, StopMatcher&& m, std::shared_ptr<const Tokenizer> tokenizer)
      : request(std::move(r)), sampler(std::move(s)), stops(std::move(m)), decoder(std::move(tokenizer)) {}

  Request request;
  Sampler sampler;
  StopMatcher stops;
  StreamDecoder decoder;
  std::string piece;  // text of the token in hand
  uint32_t num_prompt = 0, num_generated = 0;
  std::vector<double> pooled;  // [embedding_length] sum of hidden rows, for mean pooling
  uint64_t started_us = 0, first_token_us = 0, last_token_us = 0;
  // Of this step, drawn beside those of other sequences: the token, and behind each drafted one that stands the next.
  std::vector<SampledToken> drawn;
  uint32_t num_drawn = 0, num_read = 0;
  std::unique_ptr<Speculation> speculating;  // null: none
  bool announced = false, ended = false, preempted_for_test = false;
};

}  // namespace gainz
