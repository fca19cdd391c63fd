#include "device/plugin_host.h"

namespace gainz {
namespace {

static_assert(int(Code::invalid) == GAINZ_STATUS_INVALID && int(Code::unsupported) == GAINZ_STATUS_UNSUPPORTED &&
              int(Code::not_found) == GAINZ_STATUS_NOT_FOUND &&
              int(Code::out_of_device_memory) == GAINZ_STATUS_OUT_OF_DEVICE_MEMORY &&
              int(Code::out_of_host_memory) == GAINZ_STATUS_OUT_OF_HOST_MEMORY && int(Code::busy) == GAINZ_STATUS_BUSY &&
              int(Code::cancelled) == GAINZ_STATUS_CANCELLED && int(Code::device_lost) == GAINZ_STATUS_DEVICE_LOST &&
              int(Code::limit_exceeded) == GAINZ_STATUS_LIMIT_EXCEEDED && int(Code::internal) == GAINZ_STATUS_INTERNAL);

const Services& services_of(void* ctx) { return static_cast<PluginHost*>(ctx)->services(); }

void* host_allocate(void* ctx, uint64_t size_bytes, uint64_t alignment) {
  return services_of(ctx).allocate(size_bytes, alignment);
}
void host_release(void* ctx, void* memory, uint64_t size_bytes, uint64_t alignment) {
  services_of(ctx).release(memory, size_bytes, alignment);
}

void host_log(void* ctx, uint32_t level, const char* text) {
  const Services& services = services_of(ctx);
  if (services.log_hook && text) services.log_hook(services.hook_ctx, level > GAINZ_LOG_DEBUG ? GAINZ_LOG_DEBUG : level, text);
}

void host_parallel_for(void* ctx, uint64_t count, uint64_t grain, gainz_parallel_body body, void* arg) {
  services_of(ctx).parallel_for(count, grain, body, arg);
}

uint32_t host_num_workers(void* ctx) { return services_of(ctx).num_threads; }
void* host_allocate_zeroed(void* ctx, uint64_t size_bytes, uint64_t alignment) {
  return services_of(ctx).allocate_zeroed(size_bytes, alignment);
}
const void* host_get_extension(void* ctx, const char* name, uint32_t revision) {
  return static_cast<PluginHost*>(ctx)->extension(name, revision);
}

}  // namespace

PluginHost::PluginHost(const Services& services) : services_(services) {
  table_ = {sizeof(gainz_host), GAINZ_ABI_MAJOR,  GAINZ_ABI_MINOR,   0, this, host_allocate, host_release, host_log,
            host_parallel_for,  host_num_workers, host_get_extension};
  zeroed_ = {sizeof(gainz_zeroed), 0, this, host_allocate_zeroed};
}

const void* PluginHost::extension(const char* name, uint32_t revision) const {
  const bool is_zeroed = name && std::string_view(name) == GAINZ_EXT_ZEROED && revision == GAINZ_EXT_ZEROED_REVISION;
  return is_zeroed ? &zeroed_ : nullptr;
}

Status plugin_status(gainz_status code, const char* text, const std::string& what) {
  if (code == GAINZ_STATUS_OK) return {};
  const std::string reason = text && *text ? text : "no reason given";
  if (code < 0 || code > GAINZ_STATUS_INTERNAL)
    return {Code::internal, what + ": answered the unknown status " + std::to_string(code) + ": " + reason};
  return {static_cast<Code>(code), what + ": " + reason};
}

}  // namespace gainz
