#include "select.h"

#include <cmath>
#include <cstring>

namespace gainz::reference {

void gather_rows(const float* x, const uint32_t* rows, float* out, uint64_t num_rows, uint64_t cols) {
  for (uint64_t r = 0; r < num_rows; ++r) std::memcpy(out + r * cols, x + rows[r] * cols, cols * sizeof(float));
}

void logit_mask(const float* x, const uint32_t* mask, float* out, uint64_t cols) {
  for (uint64_t c = 0; c < cols; ++c) out[c] = (mask[c / 32] >> (c % 32)) & 1u ? x[c] : -INFINITY;
}

// Whether column a comes before column b.
static bool before(const float* x, int32_t a, int32_t b) {
  const bool a_nan = x[a] != x[a];
  const bool b_nan = x[b] != x[b];
  if (a_nan != b_nan) return b_nan;
  if (!a_nan && x[a] != x[b]) return x[a] > x[b];
  return a < b;
}

// Puts the heap's item at `place` where it belongs; the root is the worst of those kept.
static void sift_down(const float* x, int32_t* heap, uint64_t size, uint64_t place) {
  for (;;) {
    uint64_t worst = place;
    for (uint64_t child = 2 * place + 1; child <= 2 * place + 2 && child < size; ++child) {
      if (before(x, heap[worst], heap[child])) worst = child;
    }
    if (worst == place) return;
    const int32_t moved = heap[place];
    heap[place] = heap[worst];
    heap[worst] = moved;
    place = worst;
  }
}

void top_k(const float* x, uint64_t cols, uint64_t k, float* values, int32_t* ids) {
  for (uint64_t i = 0; i < k; ++i) ids[i] = static_cast<int32_t>(i);
  for (uint64_t place = k / 2; place-- > 0;) sift_down(x, ids, k, place);
  for (uint64_t c = k; k > 0 && c < cols; ++c) {
    if (!before(x, static_cast<int32_t>(c), ids[0])) continue;
    ids[0] = static_cast<int32_t>(c);
    sift_down(x, ids, k, 0);
  }
  for (uint64_t size = k; size > 1; --size) {  // the worst goes to the end, then the next worst before it
    const int32_t worst = ids[0];
    ids[0] = ids[size - 1];
    ids[size - 1] = worst;
    sift_down(x, ids, size - 1, 0);
  }
  for (uint64_t i = 0; values != nullptr && i < k; ++i) values[i] = x[ids[i]];
}

}  // namespace gainz::reference
