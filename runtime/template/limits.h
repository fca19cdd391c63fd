// The limits of the chat-template engine, each by name. A template, its variables and what it makes of them are hostile;
// crossing a limit is Code::limit_exceeded, never a dead process. Constants only; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

// Frames are several times as large under a sanitizer, so the same depth needs more stack there.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define GAINZ_TEMPLATE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define GAINZ_TEMPLATE_SANITIZED 1
#endif
#endif

namespace gainz::jinja {

#ifdef GAINZ_TEMPLATE_SANITIZED
inline constexpr size_t kStackFactor = 5;
#else
inline constexpr size_t kStackFactor = 1;
#endif

inline constexpr size_t kMaxTemplateBytes = size_t{1} << 20;  // source of one template
inline constexpr size_t kMaxJsonBytes = size_t{64} << 20;     // messages, tools or variables
inline constexpr int kMaxNesting = 100;                       // statements and brackets inside each other, in the source
inline constexpr int kMaxExpressionHeight = 200;              // levels of one expression's tree
inline constexpr int kMaxEvaluationDepth = 400;               // expressions, statements and calls inside each other, at work
inline constexpr size_t kMaxStackBytes = kStackFactor * (size_t{128} << 10);  // of the thread's stack, whatever the depth
inline constexpr int kMaxValueDepth = 100;                                    // lists and dicts inside each other
inline constexpr uint64_t kMaxSteps = 4'000'000;             // nodes evaluated, items visited, blocks of bytes handled
inline constexpr size_t kBytesPerStep = 256;                 // bytes handled that count as one step
inline constexpr size_t kMaxOutputBytes = size_t{64} << 20;  // rendered text
inline constexpr size_t kMaxValueBytes = size_t{128} << 20;  // all values alive at one time
inline constexpr int64_t kMaxRangeItems = 100'000;           // items of one range(), Jinja's own sandbox limit

struct Limit {
  const char* name;
  uint64_t value;
};

// All of the above, in that order; static storage.
std::span<const Limit> limits();

}  // namespace gainz::jinja
