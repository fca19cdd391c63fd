// A plugin that works, over the reference backend, until the environment says otherwise: GAINZ_TEST_FAULT, read when a device
// is opened, is "function:number:fault"; the number-th call of that function ends in the fault: a status by its number,
// "throw", or "null" (OK without a handle). With "+" after the number every later call too.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "gainz/sdk/reference_backend.h"

namespace {

struct Fault {
  std::string function, kind;
  long number = 0;
  bool and_later = false;
  std::atomic<long> num_calls{0};
};
Fault the_fault;
gainz_plugin reference_table;
gainz_device_api reference_api;

void read_fault() {
  const char* text = std::getenv("GAINZ_TEST_FAULT");
  const std::string fault = text ? text : "";
  const size_t first = fault.find(':'), second = fault.find(':', first + 1);
  the_fault.function = fault.substr(0, first);
  the_fault.number = first == fault.npos ? 0 : std::atol(fault.c_str() + first + 1);
  the_fault.and_later = second != fault.npos && fault[second - 1] == '+';
  the_fault.kind = second == fault.npos ? "" : fault.substr(second + 1);
  the_fault.num_calls = 0;
}

// Whether this call of `function` is to end in the fault; *out_status is then what it answers.
bool fails(const char* function, gainz_error* error, gainz_status* out_status) {
  if (the_fault.function != function) return false;
  const long call = ++the_fault.num_calls;
  if (call != the_fault.number && !(the_fault.and_later && call > the_fault.number)) return false;
  if (the_fault.kind == "throw") throw std::runtime_error(std::string("thrown in ") + function);
  *out_status = the_fault.kind == "null" ? GAINZ_STATUS_OK : gainz_status(std::atol(the_fault.kind.c_str()));
  if (error && error->text_capacity > 40) std::strcpy(error->text, "the test says so");
  return true;
}

template <auto Member, class... Arguments>
gainz_status wrapped(const char* name, gainz_device* device, gainz_error* error, Arguments... arguments) {
  gainz_status status = GAINZ_STATUS_OK;
  if (fails(name, error, &status)) return status;
  return (reference_api.*Member)(device, arguments..., error);
}

void wrap(gainz_device_api& api) {
  api.model_create = [](gainz_device* d, const gainz_graph* g, const gainz_weights* w, gainz_model** out, gainz_error* e) {
    return wrapped<&gainz_device_api::model_create>("model_create", d, e, g, w, out);
  };
  api.kv_create = [](gainz_device* d, gainz_model* m, const gainz_kv_desc* desc, gainz_kv** out, gainz_error* e) {
    return wrapped<&gainz_device_api::kv_create>("kv_create", d, e, m, desc, out);
  };
  api.kv_copy_pages = [](gainz_device* d, gainz_kv* kv, uint32_t g, const gainz_page_copy* copies, uint32_t n, gainz_error* e) {
    return wrapped<&gainz_device_api::kv_copy_pages>("kv_copy_pages", d, e, kv, g, copies, n);
  };
  api.program_create = [](gainz_device* d, gainz_model* m, gainz_kv* kv, const gainz_bucket* b, gainz_program** out,
                          gainz_error* e) {
    return wrapped<&gainz_device_api::program_create>("program_create", d, e, m, kv, b, out);
  };
  api.run = [](gainz_device* d, gainz_program* p, const gainz_step* s, uint32_t first, uint32_t n, uint64_t* out,
               gainz_error* e) { return wrapped<&gainz_device_api::run>("run", d, e, p, s, first, n, out); };
  api.wait = [](gainz_device* d, uint64_t ticket, uint64_t timeout_ns, gainz_error* e) {
    return wrapped<&gainz_device_api::wait>("wait", d, e, ticket, timeout_ns);
  };
  api.close = [](gainz_device* d) {
    reference_api.close(d);
    gainz_status status = GAINZ_STATUS_OK;
    fails("close", nullptr, &status);
  };
  api.model_destroy = [](gainz_device* d, gainz_model* m) {
    reference_api.model_destroy(d, m);
    gainz_status status = GAINZ_STATUS_OK;
    fails("model_destroy", nullptr, &status);
  };
}

}  // namespace

extern "C" GAINZ_SDK_EXPORT gainz_status gainz_plugin_query_v0(const gainz_host* host, gainz_plugin* out, gainz_error* error) {
  const gainz_status status = gainz_reference_query(host, out, error);
  if (status != GAINZ_STATUS_OK) return status;
  reference_table = *out;
  out->name = "running";
  out->device_open = [](const gainz_host* h, uint32_t index, const gainz_option* options, uint64_t stride, uint32_t num_options,
                        gainz_device_api* api, gainz_device** device, gainz_error* e) {
    read_fault();
    const gainz_status opened = reference_table.device_open(h, index, options, stride, num_options, api, device, e);
    if (opened != GAINZ_STATUS_OK) return opened;
    reference_api = *api;
    wrap(*api);
    return opened;
  };
  return status;
}
