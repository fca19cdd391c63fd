#include "gguf/gguf_parser.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "gguf/limits.h"
#include "gguf/tensor_type.h"
#include "gguf/text.h"

namespace gainz {

static_assert(std::endian::native == std::endian::little, "numbers are used as they stand in the file");

namespace {

constexpr uint32_t kMagic = 0x46554747;  // "GGUF"
constexpr uint32_t kBool = 7, kString = 8, kArray = 9;
constexpr uint64_t kMinStringBytes = 8, kMinArrayBytes = 12, kMinKeyValueBytes = 13, kMinTensorBytes = 33;  // in the file
constexpr uint64_t kDefaultAlignment = 32;

class Parser {
 public:
  Parser(ByteSource& source, bool metadata_only, uint32_t shard)
      : source_(source), metadata_only_(metadata_only), shard_(shard) {}

  Result<ParsedGguf> parse() {
    GAINZ_TRY(header());
    for (uint64_t i = 0; i < num_key_values_; ++i) GAINZ_TRY(key_value(i));
    GAINZ_TRY(read_alignment());
    out_.tensors.reserve(num_tensors_);
    for (uint64_t i = 0; i < num_tensors_; ++i) GAINZ_TRY(tensor_info(i));
    GAINZ_TRY(check_names());
    GAINZ_TRY(lay_out());
    return std::move(out_);
  }

 private:
  template <class... Parts>
  Status bad(const Parts&... parts) const {
    return {Code::invalid, joined(source_.name(), ": ", parts...)};
  }

  // The next size bytes; the cursor moves beyond them.
  Result<const std::byte*> take(uint64_t size, std::string_view what) {
    const uint64_t left = source_.size_bytes() - at_;
    if (size > left) {
      const uint64_t needed = size > UINT64_MAX - at_ ? UINT64_MAX : at_ + size;
      return bad("truncated in ", what, where(), ": needs ", needed, " bytes, the file has ", source_.size_bytes());
    }
    GAINZ_TRY(source_.load_to(at_ + size));
    const std::byte* begin = source_.data() + at_;
    at_ += size;
    return begin;
  }

  template <class T>
  Result<T> number(std::string_view what) {
    GAINZ_ASSIGN(const std::byte* bytes, take(sizeof(T), what));
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }

  Result<std::string_view> text(uint64_t max_bytes, std::string_view what) {
    GAINZ_ASSIGN(const uint64_t size, number<uint64_t>(what));
    if (size > max_bytes) return bad(what, where(), " is ", size, " bytes long, the limit is ", max_bytes);
    GAINZ_ASSIGN(const std::byte* bytes, take(size, what));
    return std::string_view(reinterpret_cast<const char*>(bytes), size);
  }

  std::string where() const { return named_ == nullptr ? std::string() : joined(" of ", named_, " ", quoted(name_)); }

  Status count(uint64_t count, uint64_t limit, uint64_t min_bytes_each, std::string_view what) const {
    if (count > limit) return bad(what, where(), " is ", count, ", the limit is ", limit);
    const uint64_t left = source_.size_bytes() - at_;
    if (count <= left / min_bytes_each) return {};
    return bad("truncated: ", what, where(), " is ", count, ", which needs at least ", at_ + count * min_bytes_each,
               " bytes, the file has ", source_.size_bytes());
  }

  Status header() {
    GAINZ_ASSIGN(const uint32_t magic, number<uint32_t>("the header"));
    if (magic != kMagic) return bad("not a GGUF file: it does not begin with the letters GGUF");
    GAINZ_ASSIGN(const uint32_t version, number<uint32_t>("the header"));
    if (version != 2 && version != 3) {
      const bool swapped = (version & 0xffff) == 0 && version != 0;
      return {Code::unsupported, joined(source_.name(), ": GGUF version ", version, " is not supported, versions 2 and 3 are",
                                        swapped ? " (the file is big-endian)" : "")};
    }
    GAINZ_ASSIGN(num_tensors_, number<uint64_t>("the header"));
    GAINZ_ASSIGN(num_key_values_, number<uint64_t>("the header"));
    GAINZ_TRY(count(num_key_values_, kGgufMaxKeyValues, kMinKeyValueBytes, "the number of key-values"));
    return count(num_tensors_, kGgufMaxTensors, kMinTensorBytes, "the number of tensors");
  }

  Status key_value(uint64_t index) {
    named_ = nullptr;
    const std::string what = joined("the key of key-value ", index);
    GAINZ_ASSIGN(const std::string_view key, text(kGgufMaxKeyBytes, what));
    if (key.empty()) return bad(what, " is empty");
    if (key.find('\0') != std::string_view::npos) return bad(what, " holds a zero byte: ", quoted(key));
    named_ = "key", name_ = key;
    GAINZ_ASSIGN(const uint32_t type, number<uint32_t>("the value type"));
    const auto [entry, is_new] = out_.metadata.try_emplace(key);
    if (!is_new) return bad("key ", quoted(key), " stands twice in the file");
    if (type != kArray) return scalar(type, entry->second);
    return array(1, entry->second.emplace<GgufArray>());
  }

  template <class T, class Wide>
  Status wide(GgufValue& out) {
    GAINZ_ASSIGN(const T value, number<T>("the value"));
    out.emplace<Wide>(value);
    return {};
  }

  Status scalar(uint32_t type, GgufValue& out) {
    switch (type) {
      case 0:
        return wide<uint8_t, uint64_t>(out);
      case 1:
        return wide<int8_t, int64_t>(out);
      case 2:
        return wide<uint16_t, uint64_t>(out);
      case 3:
        return wide<int16_t, int64_t>(out);
      case 4:
        return wide<uint32_t, uint64_t>(out);
      case 5:
        return wide<int32_t, int64_t>(out);
      case 6:
        return wide<float, double>(out);
      case 10:
        return wide<uint64_t, uint64_t>(out);
      case 11:
        return wide<int64_t, int64_t>(out);
      case 12:
        return wide<double, double>(out);
      case kBool: {
        GAINZ_ASSIGN(const uint8_t value, number<uint8_t>("the value"));
        if (value > 1) return bad("the boolean", where(), " is ", uint32_t{value}, ", not 0 or 1");
        out.emplace<bool>(value == 1);
        return {};
      }
      case kString: {
        GAINZ_ASSIGN(const std::string_view value, text(kGgufMaxStringBytes, "the string"));
        out.emplace<std::string_view>(value);
        return {};
      }
      default:
        return bad("the value type", where(), " is ", type, ", which does not exist");
    }
  }

  Status array(uint64_t depth, GgufArray& out) {
    if (depth > kGgufMaxArrayDepth) return bad("arrays", where(), " are nested deeper than the limit of ", kGgufMaxArrayDepth);
    GAINZ_ASSIGN(out.element_type, number<uint32_t>("the array"));
    GAINZ_ASSIGN(out.size, number<uint64_t>("the array"));
    const uint64_t width = gguf_value_bytes(out.element_type);
    if (width == 0 && out.element_type != kString && out.element_type != kArray) {
      return bad("the array's element type", where(), " is ", out.element_type, ", which does not exist");
    }
    const uint64_t min_bytes = out.element_type == kString  ? kMinStringBytes
                               : out.element_type == kArray ? kMinArrayBytes
                                                            : width;
    GAINZ_TRY(count(out.size, kGgufMaxArrayElements, min_bytes, "the array's length"));
    const uint64_t begin = at_;
    if (out.element_type == kString) {
      GAINZ_TRY(string_elements(out, depth == 1));
    } else if (out.element_type == kArray) {
      GgufArray inner;
      for (size_t i = 0; i < out.size; ++i) GAINZ_TRY(array(depth + 1, inner));
      out.numbers = {source_.data() + begin, at_ - begin};
    } else {
      GAINZ_ASSIGN(const std::byte* bytes, take(out.size * width, "the array"));
      out.numbers = {bytes, out.size * width};
      const auto is_boolean = [](std::byte byte) { return byte <= std::byte{1}; };
      if (out.element_type == kBool && !std::all_of(out.numbers.begin(), out.numbers.end(), is_boolean)) {
        return bad("a boolean", where(), " is not 0 or 1");
      }
    }
    return {};
  }

  Status string_elements(GgufArray& out, bool keep) {
    if (keep) {
      num_strings_ += out.size;
      if (num_strings_ > kGgufMaxStrings) {
        return bad("with key ", quoted(name_), " the number of strings in arrays is ", num_strings_, ", the limit is ",
                   kGgufMaxStrings);
      }
      out.strings.reserve(out.size);
    }
    for (size_t i = 0; i < out.size; ++i) {
      GAINZ_ASSIGN(const std::string_view value, text(kGgufMaxStringBytes, "a string"));
      if (keep) out.strings.push_back(value);
    }
    return {};
  }

  Status read_alignment() {
    named_ = nullptr;
    const auto found = out_.metadata.find("general.alignment");
    if (found == out_.metadata.end()) return {};
    const uint64_t* value = std::get_if<uint64_t>(&found->second);
    if (value == nullptr)
      return bad("key \"general.alignment\" is ", gguf_value_text(found->second, 4), ", not an unsigned number");
    if (!std::has_single_bit(*value) || *value < kGgufMinAlignment || *value > kGgufMaxAlignment) {
      return bad("key \"general.alignment\" is ", *value, ", not a power of two from ", kGgufMinAlignment, " to ",
                 kGgufMaxAlignment);
    }
    alignment_ = *value;
    return {};
  }

  Status tensor_info(uint64_t index) {
    GgufTensor tensor;
    tensor.shard = shard_;
    named_ = nullptr;
    const std::string what = joined("the name of tensor ", index);
    GAINZ_ASSIGN(tensor.name, text(kGgufMaxTensorNameBytes, what));
    if (tensor.name.empty()) return bad(what, " is empty");
    if (tensor.name.find('\0') != std::string_view::npos) return bad(what, " holds a zero byte: ", quoted(tensor.name));
    named_ = "tensor", name_ = tensor.name;
    GAINZ_ASSIGN(const uint32_t num_dims, number<uint32_t>("the number of dimensions"));
    if (num_dims == 0 || num_dims > kGgufMaxDims) {
      return bad("the number of dimensions", where(), " is ", num_dims, ", not 1 to ", kGgufMaxDims);
    }
    tensor.dims.resize(num_dims);
    for (uint64_t& dim : tensor.dims) {
      GAINZ_ASSIGN(dim, number<uint64_t>("the dimensions"));
    }
    GAINZ_ASSIGN(tensor.type, number<uint32_t>("the type"));
    GAINZ_ASSIGN(tensor.file_offset, number<uint64_t>("the offset"));
    GAINZ_TRY(check_shape(tensor));
    if (tensor.file_offset % alignment_ != 0) {
      return bad("the offset", where(), " is ", tensor.file_offset, ", not a multiple of the alignment ", alignment_);
    }
    out_.tensors.push_back(std::move(tensor));
    return {};
  }

  Status check_shape(const GgufTensor& tensor) const {
    uint64_t num_elements = 1;
    for (size_t i = 0; i < tensor.dims.size(); ++i) {
      const uint64_t dim = tensor.dims[i];
      if (dim == 0) return bad("dimension ", i, where(), " is 0");
      if (dim > kGgufMaxTensorElements / num_elements) {
        return bad("dimension ", i, where(), " is ", static_cast<int64_t>(dim),
                   ": the number of elements is beyond the limit of ", kGgufMaxTensorElements);
      }
      num_elements *= dim;
    }
    const TensorType* type = find_tensor_type(tensor.type);
    if (type == nullptr) {
      const std::string_view removed = removed_tensor_type(tensor.type);
      return {Code::unsupported,
              joined(source_.name(), ": the type", where(), " is number ", tensor.type,
                     removed.empty() ? ", which is not known here" : ", which the format no longer has: ", removed)};
    }
    if (tensor.dims[0] % type->block_elements != 0) {
      return bad("the row length", where(), " is ", tensor.dims[0], ", not a multiple of ", type->name, "'s block of ",
                 type->block_elements);
    }
    return {};
  }

  Status check_names() {
    named_ = nullptr;
    std::vector<std::string_view> names;
    names.reserve(out_.tensors.size());
    for (const GgufTensor& tensor : out_.tensors) names.push_back(tensor.name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice == names.end()) return {};
    return bad("tensor ", quoted(*twice), " stands twice in the file");
  }

  // Offsets become absolute; each tensor lies behind the one before it and inside the file.
  Status lay_out() {
    const uint64_t data_begin = (at_ + alignment_ - 1) / alignment_ * alignment_;
    uint64_t end = data_begin;
    for (GgufTensor& tensor : out_.tensors) {
      const uint64_t size = gguf_tensor_bytes(tensor);
      if (tensor.file_offset > UINT64_MAX / 2) {
        return bad("the offset of tensor ", quoted(tensor.name), " is ", tensor.file_offset, ", beyond any file");
      }
      tensor.file_offset += data_begin;
      if (tensor.file_offset < end) {
        return bad("tensor ", quoted(tensor.name), " begins at byte ", tensor.file_offset,
                   ", before the end of what precedes it at ", end);
      }
      end = tensor.file_offset + size;
      if (end > source_.size_bytes() && !metadata_only_) {
        return bad("truncated: tensor ", quoted(tensor.name), " needs ", end, " bytes, the file has ", source_.size_bytes());
      }
    }
    if (metadata_only_) return {};
    if (!out_.tensors.empty()) GAINZ_TRY(source_.load_to(end));
    for (GgufTensor& tensor : out_.tensors) tensor.data = {source_.data() + tensor.file_offset, gguf_tensor_bytes(tensor)};
    return {};
  }

  ByteSource& source_;
  const bool metadata_only_;
  const uint32_t shard_;
  ParsedGguf out_;
  uint64_t at_ = 0;  // never beyond the file
  uint64_t num_tensors_ = 0, num_key_values_ = 0, num_strings_ = 0;
  uint64_t alignment_ = kDefaultAlignment;
  const char* named_ = nullptr;  // what is being read, for messages: "key", "tensor" or null
  std::string_view name_;
};

}  // namespace

Result<ParsedGguf> parse_gguf(ByteSource& source, bool metadata_only, uint32_t shard) {
  return Parser(source, metadata_only, shard).parse();
}

}  // namespace gainz
