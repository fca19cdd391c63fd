#include "dnn.h"

#include <cstdlib>
#include <cstring>
#include <dnnl.hpp>
#include <vector>

extern "C" {
int omp_get_max_threads(void);
void omp_set_num_threads(int num_threads);
}

namespace gainz::onednn {

namespace {

// One primitive of fixed shape and, for each worker, the memory objects of a call.
struct Shape {
  dnnl::matmul primitive;
  struct Call {
    dnnl::memory source, weights, target, scratch;
  };
  std::vector<Call> calls;  // [num_workers]
};

}  // namespace

struct DnnLinear::Impl {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  uint32_t num_panels = 0;
  uint64_t padded_columns = 0;
  Shape full, last;  // slices of kDnnSlicePanels, and what is left
  std::vector<std::vector<float>> tiles, results;
  std::vector<std::vector<uint8_t>> scratch;

  uint32_t panels_of(uint32_t slice) const {
    const uint32_t begin = slice * kDnnSlicePanels;
    return num_panels - begin < kDnnSlicePanels ? num_panels - begin : kDnnSlicePanels;
  }
  const Shape& shape_of(uint32_t slice) const { return panels_of(slice) == kDnnSlicePanels ? full : last; }

  void make_shape(uint32_t panels, uint32_t num_workers, Shape* out) {
    using dnnl::memory;
    const auto columns = static_cast<memory::dim>(padded_columns), rows = static_cast<memory::dim>(panels * 16);
    const memory::desc source({kDnnTile, columns}, memory::data_type::f32, memory::format_tag::ab);
    const memory::desc weights({columns, rows}, memory::data_type::f32, memory::format_tag::BA16a16b);
    const memory::desc target({kDnnTile, rows}, memory::data_type::f32, memory::format_tag::ab);
    dnnl::primitive_attr attr;
    attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const dnnl::matmul::primitive_desc desc(dnnl::matmul::desc(source, weights, target), attr, engine);
    out->primitive = dnnl::matmul(desc);
    for (uint32_t w = 0; w < num_workers; ++w) {
      if (scratch[w].size() < desc.scratchpad_desc().get_size() + 64) scratch[w].resize(desc.scratchpad_desc().get_size() + 64);
      out->calls.push_back({memory(source, engine, nullptr), memory(weights, engine, nullptr), memory(target, engine, nullptr),
                            memory(desc.scratchpad_desc(), engine, nullptr)});
    }
  }

  void bind_shape(Shape* shape) {
    for (size_t w = 0; w < shape->calls.size(); ++w) {
      shape->calls[w].source.set_data_handle(tiles[w].data());
      shape->calls[w].target.set_data_handle(results[w].data());
      const uintptr_t at = (reinterpret_cast<uintptr_t>(scratch[w].data()) + 63) & ~uintptr_t{63};
      shape->calls[w].scratch.set_data_handle(reinterpret_cast<void*>(at));
    }
  }
};

DnnLinear::DnnLinear(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DnnLinear::~DnnLinear() = default;

std::unique_ptr<DnnLinear> DnnLinear::make(uint32_t num_columns, uint32_t num_panels, uint32_t num_workers) {
  try {
    auto impl = std::make_unique<Impl>();
    impl->num_panels = num_panels;
    impl->padded_columns = (num_columns + 15ull) / 16 * 16;
    impl->tiles.assign(num_workers, std::vector<float>(kDnnTile * impl->padded_columns));
    impl->results.assign(num_workers, std::vector<float>(kDnnTile * kDnnSlicePanels * 16));
    impl->scratch.resize(num_workers);
    if (num_panels >= kDnnSlicePanels) impl->make_shape(kDnnSlicePanels, num_workers, &impl->full);
    if (num_panels % kDnnSlicePanels != 0) impl->make_shape(num_panels % kDnnSlicePanels, num_workers, &impl->last);
    impl->bind_shape(&impl->full);
    impl->bind_shape(&impl->last);
    return std::unique_ptr<DnnLinear>(new DnnLinear(std::move(impl)));
  } catch (const dnnl::error&) {
    return nullptr;  // no such primitive on this CPU: our own kernel does it
  }
}

float* DnnLinear::tile(uint32_t worker) const { return impl_->tiles[worker].data(); }
uint64_t DnnLinear::tile_stride() const { return impl_->padded_columns; }
const float* DnnLinear::result(uint32_t worker) const { return impl_->results[worker].data(); }
uint64_t DnnLinear::result_stride(uint32_t slice) const { return impl_->panels_of(slice) * 16ull; }

bool DnnLinear::run(uint32_t worker, uint32_t slice, const uint8_t* panels) const {
  try {
    const Shape& shape = impl_->shape_of(slice);
    Shape::Call call = shape.calls[worker];  // handles share what they point to; only this worker uses it
    call.weights.set_data_handle(const_cast<uint8_t*>(panels));
    const int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    shape.primitive.execute(impl_->stream, {{DNNL_ARG_SRC, call.source},
                                            {DNNL_ARG_WEIGHTS, call.weights},
                                            {DNNL_ARG_DST, call.target},
                                            {DNNL_ARG_SCRATCHPAD, call.scratch}});
    omp_set_num_threads(threads);
    return true;
  } catch (...) {
    return false;
  }
}

const char* DnnLinear::version() {
#define GAINZ_TEXT_OF(x) #x
#define GAINZ_TEXT(x) GAINZ_TEXT_OF(x)
  return GAINZ_TEXT(DNNL_VERSION_MAJOR) "." GAINZ_TEXT(DNNL_VERSION_MINOR) "." GAINZ_TEXT(DNNL_VERSION_PATCH);
}

}  // namespace gainz::onednn
