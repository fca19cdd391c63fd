// Where things are in a panel, by format. Included by every file of kernels; local to it.
#pragma once

#include "kernels/kernels.h"

namespace gainz::onednn {
namespace {

template <uint32_t Fmt>
struct Panel {
  static constexpr bool kNibbles = Fmt == kP4S || Fmt == kP4M || Fmt == kP4K;
  static constexpr bool kHalves = Fmt == kP8G || Fmt == kP8GM;  // scales per 16 columns
  static constexpr bool kMins = Fmt == kP4M || Fmt == kP4K || Fmt == kP8FM || Fmt == kP8GM;
  static constexpr uint32_t kOffset = kMins ? 0 : kNibbles ? 8 : 128;
  static constexpr uint32_t kCodeBytes = kNibbles ? 256 : 512;
  // Header bytes of a block. Of kP4K the header of 256 columns is 64 bytes and then 32 for each block.
  static constexpr uint32_t kHeadBytes = Fmt == kP4S || Fmt == kP8H   ? 32
                                         : Fmt == kP4M || Fmt == kP8F ? 64
                                         : Fmt == kP4K                ? 40
                                         : Fmt == kP8GM               ? 256
                                                                      : 128;
  static const uint8_t* head(const uint8_t* heads, uint32_t block) {
    if constexpr (Fmt == kP4K) return heads + block / 8 * 320;
    return heads + static_cast<uint64_t>(block) * kHeadBytes;
  }
};

}  // namespace
}  // namespace gainz::onednn
