#include "model.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "reference/dequantize.h"

namespace gainz::vulkan {

namespace {

constexpr uint64_t kMaxMatrixColumns = 1u << 24;
constexpr uint64_t kMaxMatrixRows = 1u << 28;
constexpr uint32_t kMaxHeadColumns = 512;    // lanes hold a head's columns in registers
constexpr uint64_t kPieceBytes = 16u << 20;  // packed between two calls of progress
constexpr float kMaxF16 = 65504.0f;

uint32_t matrix_input(const sdk::Node& node) {
  return node.op == GAINZ_OP_EMBED ? 0 : node.op == GAINZ_OP_LINEAR ? 1 : node.op == GAINZ_OP_MOE_LINEAR ? 2 : kNone;
}

bool runs(const sdk::Node& node) {
  if (node.op == GAINZ_OP_KV_WRITE || node.op == GAINZ_OP_ATTENTION)
    return node.attr.attention.k_head_dim <= kMaxHeadColumns && node.attr.attention.v_head_dim <= kMaxHeadColumns;
  const uint32_t i = matrix_input(node);
  if (i == kNone) return true;
  const sdk::Value& w = node.input(i);
  Packing packing;
  return packing_of(w.type, false, &packing) && w.dims[0] <= kMaxMatrixColumns && w.dims[1] <= kMaxMatrixRows &&
         w.dims[2] <= kMaxMatrixRows && w.dims[0] % reference::type_traits(w.type).block_elements == 0;
}

// A row of pieces: rows [begin, end) of a source.
struct Piece {
  size_t source;
  uint64_t begin, count;
};

}  // namespace

Status claim(const sdk::Graph& graph, uint8_t* claims) {
  std::vector<uint8_t> refused(graph.groups.size(), 0);  // pages are claimed together or not at all
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const sdk::Node& node = graph.nodes[i];
    claims[i] = graph.known[i] != 0 && runs(node) ? 1 : 0;
    if (graph.known[i] != 0 && claims[i] == 0 && (node.op == GAINZ_OP_KV_WRITE || node.op == GAINZ_OP_ATTENTION))
      refused[node.attr.attention.group] = 1;
  }
  bool any = false;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const sdk::Node& node = graph.nodes[i];
    if (claims[i] != 0 && (node.op == GAINZ_OP_KV_WRITE || node.op == GAINZ_OP_ATTENTION) && refused[node.attr.attention.group])
      claims[i] = 0;
    any = any || claims[i] != 0;
  }
  return any ? Status() : failure(GAINZ_STATUS_UNSUPPORTED, "no node of the graph is an op over types that this plugin knows");
}

Model::Key Model::key_of(const Work& work) {
  if (work.node->op != GAINZ_OP_LINEAR) return {work.node->inputs[matrix_input(*work.node)]};
  Key key;
  for (const sdk::Node* linear : work.linears) key.push_back(linear->inputs[1]);
  if (work.gated != nullptr) key.push_back(kNone);
  return key;
}

Model::Key Model::bias_key(const Work& work) {
  Key key;
  for (const sdk::Node* linear : work.linears)
    if (linear->has_input(2)) key.push_back(linear->inputs[2]);
  return key;
}

const Range* Model::bias(const Work& work) const {
  const auto found = biases_.find(bias_key(work));
  return found == biases_.end() ? nullptr : &found->second;
}

Status Model::create(Context& context, const gainz_graph* graph, const gainz_weights& weights) {
  context_ = &context;
  weights_ = &weights;
  GAINZ_SDK_TRY(graph_.read(graph));
  for (size_t i = 0; i < graph_.nodes.size(); ++i)
    if (!graph_.known[i] || !runs(graph_.nodes[i]))
      return failure(GAINZ_STATUS_UNSUPPORTED, "%s is not for this plugin", sdk::describe(graph_.nodes[i]).c_str());
  std::vector<uint8_t> counted(graph_.values.size(), 0);
  for (const sdk::Node& node : graph_.nodes)
    for (uint32_t i = 0; i < node.num_inputs; ++i)
      if (node.has_input(i) && node.input(i).kind == GAINZ_VALUE_WEIGHT && counted[node.inputs[i]]++ == 0)
        total_bytes_ += sdk::weight_bytes(node.input(i));
  works_ = fuse(graph_);
  const uint64_t before = memory_.live_bytes();
  for (const Work& work : works_) {
    if (matrix_input(*work.node) != kNone && matrices_.count(key_of(work)) == 0) GAINZ_SDK_TRY(load_matrix(work));
    if (work.node->op == GAINZ_OP_LINEAR) GAINZ_SDK_TRY(load_bias(work));
    GAINZ_SDK_TRY(load_vectors(*work.node));
  }
  memory_bytes_ = memory_.live_bytes() - before;
  weights_ = nullptr;
  return {};
}

Status Model::map(uint32_t value, Source* out) {
  const sdk::Value& shape = graph_.values[value];
  const void* bytes = nullptr;
  uint64_t num_bytes = 0;
  char text[512] = "";
  gainz_error error{sizeof error, sizeof text, text};
  const gainz_status status = weights_->map(weights_->ctx, value, &bytes, &num_bytes, &error);
  if (status != GAINZ_STATUS_OK) return failure(status, "weight %s: %s", shape.name.c_str(), text);
  const uint64_t wanted = sdk::weight_bytes(shape);
  if (bytes == nullptr || num_bytes != wanted)
    return failure(GAINZ_STATUS_INVALID, "weight %s: %llu bytes instead of %llu", shape.name.c_str(), wide(num_bytes),
                   wide(wanted));
  out->bytes = static_cast<const uint8_t*>(bytes);
  out->num_rows = shape.dims[1] * shape.dims[2];
  out->row_bytes = reference::row_bytes(shape.type, shape.dims[0]);
  out->type = shape.type;
  return {};
}

// Progress, and the host's wish to stop.
Status Model::advance(uint64_t bytes) {
  done_bytes_ += bytes;
  if (weights_->progress == nullptr ||
      weights_->progress(weights_->ctx, std::min(done_bytes_, total_bytes_), total_bytes_) == 0)
    return {};
  return failure(GAINZ_STATUS_CANCELLED, "loading was stopped at %llu of %llu bytes", wide(done_bytes_), wide(total_bytes_));
}

void Model::tell_of_conversion(const Matrix& matrix, uint32_t type) {
  if (!matrix.packing.converted || std::count(told_.begin(), told_.end(), type) != 0) return;
  told_.push_back(type);
  char text[160];
  std::snprintf(text, sizeof text, "weights of type %s are kept as %s on the device", reference::type_traits(type).name,
                matrix.packing.format == Format::kF16 ? "F16" : "F32");
  context_->log(GAINZ_LOG_WARNING, text);
}

Status Model::load_matrix(const Work& work) {
  const bool gated = work.gated != nullptr;
  const bool experts = work.node->op == GAINZ_OP_MOE_LINEAR;
  Key values = key_of(work);
  if (gated) values.pop_back();
  auto matrix = std::make_unique<Matrix>();
  std::vector<Source> sources(values.size());
  for (size_t s = 0; s < values.size(); ++s) GAINZ_SDK_TRY(map(values[s], &sources[s]));
  const sdk::Value& shape = graph_.values[values[0]];
  packing_of(shape.type, false, &matrix->packing);
  if (matrix->packing.converted) {
    std::vector<float> row(shape.dims[0]);
    bool is_wide = false;
    for (const Source& source : sources) {
      for (uint64_t r = 0; r < source.num_rows && !is_wide; ++r) {
        reference::dequantize_row(source.type, source.bytes + r * source.row_bytes, row.data(), row.size());
        is_wide = std::any_of(row.begin(), row.end(), [](float x) { return std::fabs(x) > kMaxF16; });
      }
    }
    packing_of(shape.type, is_wide, &matrix->packing);
    tell_of_conversion(*matrix, shape.type);
  }
  matrix->columns = shape.dims[0];
  matrix->num_blocks = parts_of(shape.dims[0], 32);
  matrix->row_words = matrix->packing.row_words(shape.dims[0]);
  matrix->row_scale_words = matrix->packing.row_scale_words(shape.dims[0]);
  matrix->num_rows = experts ? shape.dims[1] : 0;
  for (const Source& source : sources)
    if (!experts) matrix->num_rows += gated ? source.num_rows / 2 : source.num_rows;
  const uint64_t unit_rows = experts ? matrix->num_rows : gated ? 2 : 1;  // what a part holds whole
  const uint64_t num_units = experts ? shape.dims[2] : matrix->num_rows;
  const uint64_t unit_bytes = unit_rows * std::max(matrix->row_words, matrix->row_scale_words) * 4;
  const uint64_t units = std::min(num_units, context_->max_range_bytes() / unit_bytes);
  if (units == 0)
    return failure(GAINZ_STATUS_LIMIT_EXCEEDED, "weight %s: %llu bytes in one piece, the device shows %llu", shape.name.c_str(),
                   wide(unit_bytes), wide(context_->max_range_bytes()));
  for (uint64_t first = 0; first < num_units; first += units) {
    Matrix::Part part;
    part.first = first;
    part.count = std::min(units, num_units - first);
    const uint64_t rows = part.count * unit_rows;
    GAINZ_SDK_TRY(memory_.allocate(MemoryKind::kDevice, rows * matrix->row_words * 4, shape.name.c_str(), &part.quants));
    GAINZ_SDK_TRY(memory_.allocate(MemoryKind::kDevice, rows * matrix->row_scale_words * 4, shape.name.c_str(), &part.scales));
    GAINZ_SDK_TRY(pack_part(*matrix, sources, gated, unit_rows, &part));
    matrix->parts.push_back(std::move(part));
  }
  for (const uint32_t value : values)
    if (weights_->release != nullptr) weights_->release(weights_->ctx, value);
  matrices_[key_of(work)] = std::move(matrix);
  return {};
}

Status Model::pack_part(const Matrix& matrix, const std::vector<Source>& sources, bool gated, uint64_t unit_rows,
                        Matrix::Part* part) {
  std::vector<Piece> pieces;
  if (gated) {
    for (size_t s = 0; s < sources.size(); ++s) pieces.push_back({s, part->first, part->count});
  } else {
    uint64_t begin = part->first * unit_rows, left = part->count * unit_rows;
    for (size_t s = 0; s < sources.size() && left != 0; ++s) {
      const uint64_t count = begin < sources[s].num_rows ? std::min(left, sources[s].num_rows - begin) : 0;
      if (count != 0) pieces.push_back({s, begin, count});
      begin = begin < sources[s].num_rows ? 0 : begin - sources[s].num_rows;
      left -= count;
    }
  }
  const bool direct = part->quants.mapped() != nullptr;
  const uint64_t row_bytes = (matrix.row_words + matrix.row_scale_words) * 4;
  const uint64_t step = std::max<uint64_t>(1, kPieceBytes / row_bytes);
  std::vector<uint32_t> quants, scales;  // on the way to memory that the host cannot reach
  uint64_t row = 0;                      // within the part
  for (const Piece& piece : pieces) {
    const Source& source = sources[piece.source];
    for (uint64_t at = 0; at < piece.count; at += step) {
      const uint64_t count = std::min(step, piece.count - at);
      if (!direct) {
        quants.resize(count * matrix.row_words);
        scales.resize(count * matrix.row_scale_words);
      }
      struct Job {
        const Matrix* matrix;
        const Source* source;
        uint64_t first;
        uint32_t *quants, *scales;
      } job{&matrix, &source, piece.begin + at,
            direct ? reinterpret_cast<uint32_t*>(part->quants.mapped()) + row * matrix.row_words : quants.data(),
            direct ? reinterpret_cast<uint32_t*>(part->scales.mapped()) + row * matrix.row_scale_words : scales.data()};
      const gainz_host& host = context_->host();
      host.parallel_for(
          host.ctx, count, 64,
          [](void* arg, uint64_t begin, uint64_t end, uint32_t) {
            const Job& j = *static_cast<Job*>(arg);
            for (uint64_t r = begin; r < end; ++r)
              pack_row(j.source->type, j.matrix->packing, j.source->bytes + (j.first + r) * j.source->row_bytes,
                       j.matrix->columns, j.quants + r * j.matrix->row_words, j.scales + r * j.matrix->row_scale_words);
          },
          &job);
      if (!direct) {
        GAINZ_SDK_TRY(memory_.write(part->quants, row * matrix.row_words * 4, quants.data(), quants.size() * 4));
        GAINZ_SDK_TRY(memory_.write(part->scales, row * matrix.row_scale_words * 4, scales.data(), scales.size() * 4));
      }
      row += count;
      GAINZ_SDK_TRY(advance(count * source.row_bytes));
    }
  }
  return {};
}

Status Model::load_bias(const Work& work) {
  if (!work.node->has_input(2) || biases_.count(bias_key(work)) != 0) return {};
  std::vector<float> all;
  for (const sdk::Node* linear : work.linears) {
    Source source;
    GAINZ_SDK_TRY(map(linear->inputs[2], &source));
    const size_t old = all.size();
    all.resize(old + linear->input(2).dims[0]);
    if (source.bytes != nullptr) std::memcpy(all.data() + old, source.bytes, (all.size() - old) * 4);
    if (weights_->release != nullptr) weights_->release(weights_->ctx, linear->inputs[2]);
    GAINZ_SDK_TRY(advance((all.size() - old) * 4));
  }
  Range& range = biases_[bias_key(work)];
  GAINZ_SDK_TRY(memory_.allocate(MemoryKind::kDevice, all.size() * 4, "a bias", &range));
  return memory_.write(range, 0, all.data(), all.size() * 4);
}

Status Model::load_vectors(const sdk::Node& node) {
  const uint32_t skipped = matrix_input(node);
  for (uint32_t i = 0; i < node.num_inputs; ++i) {
    if (!node.has_input(i) || node.input(i).kind != GAINZ_VALUE_WEIGHT || i == skipped) continue;
    if (node.op == GAINZ_OP_LINEAR && i == 2) continue;
    const uint32_t value = node.inputs[i];
    if (vectors_.count(value) != 0 || factors_.count(value) != 0) continue;
    Source source;
    GAINZ_SDK_TRY(map(value, &source));
    const uint64_t bytes = node.input(i).dims[0] * 4;
    if (node.op == GAINZ_OP_ROPE) {  // the host turns positions into cosines
      factors_[value].resize(bytes / 4);
      if (source.bytes != nullptr) std::memcpy(factors_[value].data(), source.bytes, bytes);
    } else {
      GAINZ_SDK_TRY(memory_.allocate(MemoryKind::kDevice, bytes, node.input(i).name.c_str(), &vectors_[value]));
      GAINZ_SDK_TRY(memory_.write(vectors_[value], 0, source.bytes, bytes));
    }
    if (weights_->release != nullptr) weights_->release(weights_->ctx, value);
    GAINZ_SDK_TRY(advance(bytes));
  }
  return {};
}

}  // namespace gainz::vulkan
