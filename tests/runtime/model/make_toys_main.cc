// gainz-make-toys FOLDER: a toy of each architecture, its graph as the runtime builds it, for gainz-conform.
#include <cstdio>
#include <fstream>

#include "conform/toys.h"
#include "gguf/gguf.h"
#include "model/architecture.h"
#include "runtime/model/model_files.h"

namespace gainz::test {
namespace {

Status make(const std::string& architecture, const std::string& folder) {
  FileShape shape;
  shape.embedding = 64, shape.feed_forward = 96, shape.vocab = 80, shape.head_dim = 16;
  if (architecture == "gemma3") shape.num_layers = 7;  // six with a window, one without
  if (architecture == "qwen3moe") shape.num_experts = 6, shape.num_used = 2, shape.expert_feed_forward = 32;
  const std::string file_path = folder + "/" + architecture + ".gguf";
  if (!model_file(architecture, shape).write(file_path)) return {Code::internal, file_path + ": cannot be written"};
  GAINZ_ASSIGN(const auto file, Gguf::open(file_path, {}));
  std::remove(file_path.c_str());
  GAINZ_ASSIGN(const Blueprint blueprint, build_model(*file));
  gainz_weights weights{};
  weights.struct_size = sizeof weights;
  weights.ctx = const_cast<Blueprint*>(&blueprint);
  weights.map = [](void* ctx, uint32_t value, const void** out_bytes, uint64_t* out_num_bytes, gainz_error*) -> gainz_status {
    const GgufTensor* tensor = static_cast<const Blueprint*>(ctx)->tensors[value];
    if (!tensor) return GAINZ_STATUS_INVALID;
    *out_bytes = tensor->data.data();
    *out_num_bytes = tensor->data.size();
    return GAINZ_STATUS_OK;
  };
  std::ofstream out(folder + "/" + architecture + ".toy", std::ios::binary);
  out << conform::write_toy(*blueprint.graph.view(), weights);
  out.close();
  return out ? Status() : Status(Code::internal, folder + ": cannot be written");
}

}  // namespace
}  // namespace gainz::test

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  for (const std::string_view name : gainz::known_architectures()) {
    const gainz::Status status = gainz::test::make(std::string(name), argv[1]);
    if (status.ok()) continue;
    std::fprintf(stderr, "gainz-make-toys: %.*s: %s\n", int(name.size()), name.data(), status.message().c_str());
    return 1;
  }
}
