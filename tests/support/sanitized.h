// Whether this program was built with a sanitizer, whose own memory and time hide what some tests measure. A constant; any
// thread.
#pragma once

namespace gainz::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace gainz::test
