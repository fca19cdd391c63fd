// DnnLinear in a build without oneDNN.
#include "dnn.h"

namespace gainz::onednn {

struct DnnLinear::Impl {};
DnnLinear::DnnLinear(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DnnLinear::~DnnLinear() = default;
std::unique_ptr<DnnLinear> DnnLinear::make(uint32_t, uint32_t, uint32_t) { return nullptr; }
float* DnnLinear::tile(uint32_t) const { return nullptr; }
uint64_t DnnLinear::tile_stride() const { return 0; }
bool DnnLinear::run(uint32_t, uint32_t, const uint8_t*) const { return false; }
const float* DnnLinear::result(uint32_t) const { return nullptr; }
uint64_t DnnLinear::result_stride(uint32_t) const { return 0; }
const char* DnnLinear::version() { return ""; }

}  // namespace gainz::onednn
