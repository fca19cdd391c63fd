// What a model file may ask for at most. Real models stay far below; a file beyond a limit is refused with the key, the value
// and the limit. Constants; any thread.
#pragma once

#include <cstdint>

namespace gainz {

inline constexpr uint64_t kMaxModelLayers = 1024;
inline constexpr uint64_t kMaxModelHeads = 4096;
inline constexpr uint64_t kMaxModelHeadDim = 4096;
inline constexpr uint64_t kMaxModelEmbedding = uint64_t{1} << 20;
inline constexpr uint64_t kMaxModelFeedForward = uint64_t{1} << 22;
inline constexpr uint64_t kMaxModelContext = uint64_t{1} << 30;  // positions are int32
inline constexpr uint64_t kMaxModelVocab = uint64_t{1} << 24;
inline constexpr uint64_t kMaxModelExperts = 4096;
inline constexpr uint64_t kMaxModelPageGroups = 16;
inline constexpr double kMaxRopeBase = 1e12;
inline constexpr double kMaxRopeFactor = 1e6;
inline constexpr double kMaxNormEpsilon = 1.0;

// What a backend may answer.
inline constexpr uint32_t kMaxProgramSlices = 4096;
inline constexpr uint64_t kSliceWaitNs = 1'000'000'000;  // one wait for a slice ...
inline constexpr uint32_t kMaxSliceWaits = 600;          // ... and how often it may answer "busy"

}  // namespace gainz
