#include "gainz/sdk/reference_backend.h"

#include "gainz/sdk/simple_backend.h"

namespace {

class ReferenceBackend : public gainz::sdk::SimpleBackend {
 public:
  static constexpr gainz::sdk::PluginInfo kInfo{.name = "reference",
                                                .version = "0.1.0",
                                                .vendor = "gainz",
                                                .device_name = "CPU (reference)",
                                                .isa = "scalar",
                                                .identity = "reference 1 f32 scalar"};
  bool supports(const gainz::sdk::Node& node) const override { return gainz::sdk::reference_supports(node); }
  uint64_t scratch_bytes(const gainz::sdk::Node& node, const gainz_bucket& bucket) const override {
    return gainz::sdk::reference_scratch_bytes(node, bucket);
  }
  void compute(const gainz::sdk::Node& node, gainz::sdk::Compute& c) const override { gainz::sdk::reference_compute(node, c); }
};

}  // namespace

gainz_status gainz_reference_query(const gainz_host* host, gainz_plugin* out_plugin, gainz_error* error) {
  return gainz::sdk::simple_query<ReferenceBackend>(host, out_plugin, error);
}
