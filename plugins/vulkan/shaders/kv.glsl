// Rows of K and V in pages (kv.h): a head's row is whole words. F32 a word each; F16 two a word; Q8_0 nine words a block of 32:
// the f16 scale, then the codes.
const uint kKvF32 = 0, kKvF16 = 1, kKvQ8 = 2;
const uint kPageTokens = 16;

uint kv_row_words(uint type, uint dim) { return type == kKvF32 ? dim : type == kKvF16 ? (dim + 1) / 2 : dim / 32 * 9; }
