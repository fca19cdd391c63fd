#include "gguf/gguf.h"

#include <algorithm>
#include <utility>

#include "gguf/byte_source.h"
#include "gguf/gguf_parser.h"
#include "gguf/gguf_split.h"
#include "gguf/tensor_type.h"
#include "gguf/text.h"

namespace gainz {

// What stands behind a Gguf: the bytes that all views point into.
class GgufFiles final : public Gguf {
 public:
  Status add_first(std::unique_ptr<ByteSource> source, const GgufOptions& options, bool alone);

 private:
  Status add_rest(const ParsedGguf& first, const SplitInfo& info, const GgufOptions& options);
  Status take(std::unique_ptr<ByteSource> source, ParsedGguf& file);
  Status index_names();

  std::vector<std::unique_ptr<ByteSource>> sources_;
};

Status GgufFiles::take(std::unique_ptr<ByteSource> source, ParsedGguf& file) {
  source->done();
  size_bytes_ += source->size_bytes();
  sources_.push_back(std::move(source));
  std::move(file.tensors.begin(), file.tensors.end(), std::back_inserter(tensors_));
  return {};
}

Status GgufFiles::add_first(std::unique_ptr<ByteSource> source, const GgufOptions& options, bool alone) {
  GAINZ_ASSIGN(ParsedGguf first, parse_gguf(*source, options.metadata_only, 0));
  const std::string name = source->name();
  GAINZ_ASSIGN(const SplitInfo info, read_split_info(name, first));
  GAINZ_TRY(take(std::move(source), first));
  if (!options.metadata_only) {
    if (info.count > 1 && info.number != 0) {
      return {Code::invalid, joined(name, ": part ", info.number + 1, " of ", info.count, " of a split model; open part 1")};
    }
    if (info.count > 1 && alone)
      return {Code::invalid, joined(name, ": a split model cannot be read from memory; open it by path")};
    if (info.count > 1) GAINZ_TRY(add_rest(first, info, options));
    if (info.has_num_tensors && info.num_tensors != tensors_.size()) {
      return {Code::invalid,
              joined(name, ": key \"split.tensors.count\" is ", info.num_tensors, ", the files have ", tensors_.size())};
    }
  }
  metadata_ = std::move(first.metadata);
  return index_names();
}

Status GgufFiles::add_rest(const ParsedGguf& first, const SplitInfo& info, const GgufOptions& options) {
  const std::string first_path = sources_[0]->name();
  for (uint64_t number = 1; number < info.count; ++number) {
    GAINZ_ASSIGN(const std::string path, shard_path(first_path, number, info.count));
    GAINZ_ASSIGN(std::unique_ptr<ByteSource> source, ByteSource::open(path, options.use_mmap));
    GAINZ_ASSIGN(ParsedGguf part, parse_gguf(*source, false, static_cast<uint32_t>(number)));
    GAINZ_TRY(check_shard(path, part, first, info, number));
    GAINZ_TRY(take(std::move(source), part));
  }
  return {};
}

Status GgufFiles::index_names() {
  by_name_.resize(tensors_.size());
  for (uint32_t i = 0; i < by_name_.size(); ++i) by_name_[i] = i;
  std::sort(by_name_.begin(), by_name_.end(), [this](uint32_t a, uint32_t b) { return tensors_[a].name < tensors_[b].name; });
  for (size_t i = 1; i < by_name_.size(); ++i) {
    const GgufTensor &a = tensors_[by_name_[i - 1]], &b = tensors_[by_name_[i]];
    if (a.name != b.name) continue;
    return {Code::invalid, joined(sources_[std::max(a.shard, b.shard)]->name(), ": tensor ", quoted(a.name), " stands in ",
                                  sources_[std::min(a.shard, b.shard)]->name(), " too")};
  }
  return {};
}

Result<std::shared_ptr<const Gguf>> Gguf::open(const std::string& path, const GgufOptions& options) {
  auto files = std::make_shared<GgufFiles>();
  GAINZ_ASSIGN(std::unique_ptr<ByteSource> source, ByteSource::open(path, options.use_mmap));
  GAINZ_TRY(files->add_first(std::move(source), options, false));
  return std::shared_ptr<const Gguf>(std::move(files));
}

Result<std::shared_ptr<const Gguf>> Gguf::parse(std::span<const std::byte> bytes, const GgufOptions& options) {
  auto files = std::make_shared<GgufFiles>();
  GAINZ_TRY(files->add_first(ByteSource::lend(bytes), options, true));
  return std::shared_ptr<const Gguf>(std::move(files));
}

const GgufTensor* Gguf::find_tensor(std::string_view name) const {
  const auto before = [this](uint32_t index, std::string_view wanted) { return tensors_[index].name < wanted; };
  const auto found = std::lower_bound(by_name_.begin(), by_name_.end(), name, before);
  return found != by_name_.end() && tensors_[*found].name == name ? &tensors_[*found] : nullptr;
}

uint64_t gguf_tensor_bytes(const GgufTensor& tensor) {
  const TensorType* type = find_tensor_type(tensor.type);
  uint64_t bytes = tensor.dims[0] / type->block_elements * type->block_bytes;
  for (size_t i = 1; i < tensor.dims.size(); ++i) bytes *= tensor.dims[i];
  return bytes;
}

}  // namespace gainz
