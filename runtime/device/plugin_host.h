// PluginHost: the gainz_host table that one runtime lends to its plugins, over Services.
// Owner: the runtime; outlives every device. Threads: as the table's tags say.
#pragma once

#include "base/services.h"
#include "gainz/sdk/ext_zeroed.h"
#include "gainz/sdk/sdk.h"

namespace gainz {

class PluginHost {
 public:
  explicit PluginHost(const Services& services);
  const gainz_host* table() const { return &table_; }
  const Services& services() const { return services_; }
  const void* extension(const char* name, uint32_t revision) const;  // what the table's get_extension answers

 private:
  const Services& services_;
  gainz_host table_{};
  gainz_zeroed zeroed_{};
};

// A plugin's answer as a Status: "what: text". A code outside of the ABI is internal and named.
Status plugin_status(gainz_status code, const char* text, const std::string& what);

}  // namespace gainz
