// Plan: the dispatches of a program, where every value lies, and how the step's arrays lie in the memory that the host fills.
// Made by program_create; constant afterwards.
#pragma once

#include <array>
#include <vector>

#include "kv.h"
#include "model.h"
#include "pipelines.h"

namespace gainz::vulkan {

inline constexpr uint32_t kHeaderWords = 4;  // of a step: T, R, whether there are masks, 0
inline constexpr uint32_t kHeaderTokens = 0, kHeaderRows = 1, kHeaderMasks = 2;

// Memory that a shader sees. Of what each run has anew, only the offset is known here.
struct BufferRef {
  enum Where : uint8_t { kNowhere, kFixed, kArena, kStep, kOutputs };
  Where where = kNowhere;
  bool written = false;
  const Range* range = nullptr;   // kFixed
  uint64_t offset = 0, size = 0;  // bytes
};

struct Dispatch {
  Shader shader{};
  std::vector<uint32_t> constants;
  std::array<BufferRef, kNumBindings> buffers{};
  std::array<uint32_t, kPushWords> push{};
  uint32_t num_push = 0;
  uint32_t groups_x = 1;
  uint32_t domain = GAINZ_ROWS_TOKENS;
  uint32_t first_row = 0, part_rows = 0;
  uint32_t multiple = 1;     // workgroups that a row takes
  uint32_t tile = 1;         // rows that a workgroup takes
  uint32_t tiles_above = 0;  // as in linear.comp
  bool whole_tiles = false;  // what is left of a tile is another dispatch's
  uint64_t mask = 0;         // of its work
  uint32_t work = 0;         // dispatches of one number do not wait for each other
  bool barrier = false;      // waits for what is before it
  VkPipeline pipeline = VK_NULL_HANDLE;

  // Workgroups in y for a step of `num_rows` rows in its domain.
  uint32_t groups_y(uint32_t num_rows) const;
};

// Where activations lie: [rows of the domain][stride] words. Products that were packed together share one.
struct Storage {
  BufferRef::Where where = BufferRef::kArena;
  uint32_t domain = GAINZ_ROWS_TOKENS;
  uint64_t stride = 0;
  uint64_t offset = 0, size = 0;     // bytes
  uint32_t first = kNone, last = 0;  // works
};
struct Place {
  uint32_t storage = kNone;
  uint32_t column = 0;
};

// Word offsets of the step's arrays.
struct StepLayout {
  struct Group {
    uint32_t slots = 0, table = 0;
  };
  uint32_t tokens = 0, positions = 0, sequences = 0, output_rows = 0;
  std::vector<Group> groups;
  uint32_t masks = 0, mask_words = 0;
  uint32_t counts = 0;  // [num_dispatches][3] what CmdDispatchIndirect reads
  uint64_t num_words = 0;
};

struct RopeTable {
  gainz_rope_attr attr{};
  uint32_t factors = kNone;
  std::vector<float> inverse;  // [rotary_dim / 2]
  uint32_t offset = 0;         // words into the step
};

struct Plan {
  std::vector<Dispatch> dispatches;
  std::vector<uint32_t> slices;  // first dispatch of each slice, and the number of dispatches at the end
  std::vector<uint32_t> slice_cost;
  std::vector<Storage> storages;
  std::vector<Place> places;  // [num_values]
  std::vector<RopeTable> ropes;
  StepLayout step;
  uint64_t arena_bytes = 0, output_bytes = 0;

  // `kv` may be NULL where the graph has none. LIMIT_EXCEEDED where a row is more than the device shows at once.
  Status make(const Context& context, const Model& model, const Kv* kv, const gainz_bucket& bucket);
};

}  // namespace gainz::vulkan
