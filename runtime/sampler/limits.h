// The limits of sampling parameters and stop strings, each by its name. Requests are hostile until these were checked.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace gainz {

inline constexpr int32_t kMaxVocabTokens = 1 << 24;  // rows longer than this are refused
inline constexpr int32_t kMaxNumLogprobs = 1024;     // alternatives asked for beside the chosen token
inline constexpr int32_t kMaxNumStopTokenIds = 1024;
inline constexpr int32_t kMaxNumStopStrings = 64;
inline constexpr int32_t kMaxStopStringBytes = 4096;  // of one stop string
inline constexpr float kMaxLogitBias =
    1.0e6f;                                   // either sign; far beyond any model's logits, so "never" and "always" can be said
inline constexpr float kMaxPenalty = 100.0f;  // presence and frequency, either sign
inline constexpr float kMaxRepetitionPenalty = 1000.0f;  // and at least its inverse

// Name and value of each limit above.
std::span<const std::pair<std::string_view, double>> sampler_limits();

}  // namespace gainz
