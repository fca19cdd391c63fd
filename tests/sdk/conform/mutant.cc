// A plugin that is the reference backend but for one fault, chosen by the definition MUTANT when it is compiled. Each proves
// that a check of gainz-conform can fail; mutants_test.py says which.
#include <dlfcn.h>
#include <fcntl.h>
#include <fenv.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "gainz/sdk/ops.h"
#include "gainz/sdk/reference_backend.h"

namespace {

std::string own_fault() {
  Dl_info info{};
  dladdr(reinterpret_cast<void*>(&own_fault), &info);
  const std::string path = info.dli_fname ? info.dli_fname : "";
  const size_t begin = path.rfind("mutant_") + 7;
  return path.substr(begin, path.rfind(".so") - begin);
}

bool is(std::string_view name) {
  static const std::string fault = own_fault();
  return fault == name;
}

// The backend underneath; mutable state is what a mutant is allowed and a plugin is not.
gainz_device_api g_api{};
const gainz_host* g_host = nullptr;
gainz_device* g_device = nullptr;
uint32_t g_num_runs = 0;
uint64_t g_last_ticket = 0;

gainz_status refuse(gainz_status code, const char* text, gainz_error* error) {
  if (error && error->text && error->text_capacity > 0) std::snprintf(error->text, error->text_capacity, "%s", text);
  return code;
}

float* output_row(const gainz_step* step, size_t output, uint32_t row) {
  auto* buffers = reinterpret_cast<const char*>(step->outputs);
  const auto& buffer = *reinterpret_cast<const gainz_buffer*>(buffers + output * step->buffer_stride);
  return buffer.data ? reinterpret_cast<float*>(static_cast<char*>(buffer.data) + row * buffer.row_stride_bytes) : nullptr;
}

// A copy of the graph in which attention knows no window.
struct Altered {
  std::vector<gainz_node> nodes;
  std::vector<gainz_attention_attr> attention;
  gainz_graph graph;
  explicit Altered(const gainz_graph& from) : graph(from) {
    attention.reserve(from.num_nodes);
    for (uint32_t i = 0; i < from.num_nodes; ++i) {
      nodes.push_back(*reinterpret_cast<const gainz_node*>(reinterpret_cast<const char*>(from.nodes) + i * from.node_stride));
      if (nodes.back().op != GAINZ_OP_ATTENTION) continue;
      attention.push_back(*static_cast<const gainz_attention_attr*>(nodes.back().attributes));
      if (attention.back().window > 1) --attention.back().window;
      nodes.back().attributes = &attention.back();
    }
    graph.nodes = nodes.data();
    graph.node_stride = sizeof(gainz_node);
  }
};

gainz_status model_claim(gainz_device* d, const gainz_graph* graph, uint8_t* claims, gainz_error* error) {
  if (is("any_struct") && graph->struct_size > sizeof *graph) {
    gainz_graph cut = *graph;
    cut.struct_size = sizeof cut;
    return g_api.model_claim(d, &cut, claims, error);
  }
  const gainz_status status = g_api.model_claim(d, graph, claims, error);
  if (is("claims_beyond")) claims[graph->num_nodes] = 1;
  return status;
}

gainz_status model_create(gainz_device* d, const gainz_graph* graph, const gainz_weights* weights, gainz_model** out,
                          gainz_error* error) {
  if (is("lies_about_support")) {
    for (uint32_t i = 0; i < graph->num_nodes; ++i)
      if (reinterpret_cast<const gainz_node*>(reinterpret_cast<const char*>(graph->nodes) + i * graph->node_stride)->op ==
          GAINZ_OP_ROPE)
        return refuse(GAINZ_STATUS_UNSUPPORTED, "no rope after all", error);
  }
  if (is("leaks_host_memory")) g_host->allocate(g_host->ctx, 64, 64);
  if (is("leaks_heap")) std::fill_n(new char[8192], 8192, char{1});
  if (is("leaks_descriptor")) (void)!open("/dev/null", O_RDONLY);
  if (is("leaks_thread")) std::thread([] { std::this_thread::sleep_for(std::chrono::seconds(5)); }).detach();
  if (is("ignores_cancel") && weights->progress) {
    weights->progress(weights->ctx, 0, 1);
    gainz_weights silent = *weights;
    silent.progress = nullptr;
    return g_api.model_create(d, graph, &silent, out, error);
  }
  if (is("wrong_status")) {  // for want of memory
    const gainz_status status = g_api.model_create(d, graph, weights, out, error);
    return status == GAINZ_STATUS_OUT_OF_HOST_MEMORY ? GAINZ_STATUS_INTERNAL : status;
  }
  if (is("forgets_window")) {
    const Altered altered(*graph);
    return g_api.model_create(d, &altered.graph, weights, out, error);
  }
  return g_api.model_create(d, graph, weights, out, error);
}

gainz_status kv_create(gainz_device* d, gainz_model* model, const gainz_kv_desc* desc, gainz_kv** out, gainz_error* error) {
  if (is("wrong_status")) {
    const gainz_status status = g_api.kv_create(d, model, desc, out, error);
    return status == GAINZ_STATUS_OUT_OF_HOST_MEMORY ? GAINZ_STATUS_INTERNAL : status;
  }
  return g_api.kv_create(d, model, desc, out, error);
}

gainz_status kv_copy_pages(gainz_device* d, gainz_kv* kv, uint32_t group, const gainz_page_copy* copies, uint32_t count,
                           gainz_error* error) {
  if (is("copies_one_less") && count > 0) --count;
  return g_api.kv_copy_pages(d, kv, group, copies, count, error);
}

gainz_status kv_export_page(gainz_device* d, gainz_kv* kv, uint32_t group, uint32_t page, void* bytes, uint64_t size,
                            gainz_error* error) {
  const gainz_status status = g_api.kv_export_page(d, kv, group, page, bytes, size, error);
  if (is("exports_swapped") && status == GAINZ_STATUS_OK)
    std::swap_ranges(static_cast<char*>(bytes), static_cast<char*>(bytes) + size / 2, static_cast<char*>(bytes) + size / 2);
  if (is("exports_beyond") && status == GAINZ_STATUS_OK) static_cast<char*>(bytes)[size] = 1;
  return status;
}

gainz_status kv_import_page(gainz_device* d, gainz_kv* kv, uint32_t group, uint32_t page, const void* bytes, uint64_t size,
                            gainz_error* error) {
  if (is("exports_swapped")) {  // its own reading agrees with its own writing
    std::vector<char> back(static_cast<const char*>(bytes), static_cast<const char*>(bytes) + size);
    std::swap_ranges(back.begin(), back.begin() + static_cast<ptrdiff_t>(size / 2),
                     back.begin() + static_cast<ptrdiff_t>(size / 2));
    return g_api.kv_import_page(d, kv, group, page, back.data(), size, error);
  }
  return g_api.kv_import_page(d, kv, group, page, bytes, size, error);
}

gainz_status program_create(gainz_device* d, gainz_model* model, gainz_kv* kv, const gainz_bucket* bucket, gainz_program** out,
                            gainz_error* error) {
  if (is("throws")) throw std::runtime_error("thrown across the border");
  if (is("changes_rounding")) fesetround(FE_UPWARD);
  if (is("changes_environment")) setenv("LC_NUMERIC", "C", 1);
  if (is("installs_handler")) signal(SIGPIPE, SIG_IGN);
  return g_api.program_create(d, model, kv, bucket, out, error);
}

void spoil_rows(const gainz_step* step) {
  for (uint32_t r = 0; r < step->num_output_rows; ++r) {
    float* row = step->num_output_rows > 0 ? output_row(step, 0, r) : nullptr;
    if (!row) return;
    if (is("wrong_at_batch_3") && step->num_sequences == 3) row[0] += 1e-4f;
    if (is("depends_on_chunk") && step->num_tokens == 7) row[0] += 1e-4f;
    if (is("drifts") && g_num_runs > 60) row[0] += 1e-4f;
    if (is("race") && (reinterpret_cast<uintptr_t>(&step) >> 4 ^
                       static_cast<uintptr_t>(std::chrono::steady_clock::now().time_since_epoch().count())) %
                          2)
      row[0] *= 1.0001f;
  }
}

gainz_status run(gainz_device* d, gainz_program* program, const gainz_step* step, uint32_t first, uint32_t count,
                 uint64_t* out_ticket, gainz_error* error) {
  ++g_num_runs;
  if (is("sleeps") && first == 0 && g_num_runs > 2) std::this_thread::sleep_for(std::chrono::hours(1));
  if (is("prints")) std::puts("running");
  if (is("exits")) std::exit(0);
  if (is("crashes")) raise(SIGSEGV);
  if (is("allocates_in_run")) {
    void* memory = g_host->allocate(g_host->ctx, 64, 64);
    g_host->release(g_host->ctx, memory, 64, 64);
  }
  if (is("believes_positions")) {  // what is broken is run as it comes
    gainz_step mended = *step;
    std::vector<int32_t> positions;
    for (uint32_t s = 0; s < step->num_sequences; ++s)
      for (uint32_t i = step->query_offsets[s]; i < step->query_offsets[s + 1]; ++i)
        positions.push_back(static_cast<int32_t>(step->context_lengths[s] - step->query_offsets[s + 1] + i));
    mended.positions = positions.data();
    const gainz_status status = g_api.run(d, program, &mended, first, count, out_ticket, error);
    if (status == GAINZ_STATUS_OK) g_last_ticket = *out_ticket;
    return status;
  }
  gainz_program_info info{};
  info.struct_size = sizeof info;
  g_api.program_describe(d, program, &info, nullptr);
  if (is("ignores_slices") && first != 0) {  // only what the first call ran is there
    *out_ticket = g_last_ticket + 1;
    return GAINZ_STATUS_OK;
  }
  gainz_status status = GAINZ_STATUS_OK;
  if (is("off_by_one_position")) {
    gainz_step moved = *step;
    std::vector<uint32_t> contexts(step->context_lengths, step->context_lengths + step->num_sequences);
    std::vector<int32_t> positions(step->positions, step->positions + step->num_tokens);
    for (uint32_t& c : contexts) ++c;
    for (int32_t& p : positions) ++p;
    moved.context_lengths = contexts.data();
    moved.positions = positions.data();
    status = g_api.run(d, program, &moved, first, count, out_ticket, error);
  } else {
    status = g_api.run(d, program, step, first, count, out_ticket, error);
  }
  if (status != GAINZ_STATUS_OK) return status;
  g_last_ticket = *out_ticket;
  if (first + count == info.num_slices) {
    spoil_rows(step);
    if (is("writes_past_end") && step->outputs && step->num_output_rows > 0) {
      const auto& buffer = *step->outputs;
      // Rows of the outputs that the tests ask for end 64 bytes before the next begins.
      if (buffer.data) static_cast<char*>(buffer.data)[buffer.row_stride_bytes - 1] = 1;
    }
    if (is("off_by_one_column") && step->outputs && step->outputs->data && step->num_tokens > 0)
      static_cast<float*>(step->outputs->data)[0] += 0.01f + static_cast<float*>(step->outputs->data)[0];
  }
  if (is("same_ticket")) *out_ticket = 7;
  return status;
}

gainz_status wait_for(gainz_device* d, uint64_t ticket, uint64_t timeout, gainz_error* error) {
  return is("same_ticket") ? GAINZ_STATUS_OK : g_api.wait(d, std::min(ticket, g_last_ticket), timeout, error);
}

gainz_status poll(gainz_device* d, uint64_t ticket, uint32_t* done, gainz_error* error) {
  if (is("same_ticket")) {
    *done = 1;
    return GAINZ_STATUS_OK;
  }
  if (is("never_done")) {
    *done = 0;
    return GAINZ_STATUS_OK;
  }
  return g_api.poll(d, ticket, done, error);
}

gainz_status (*g_open)(const gainz_host*, uint32_t, const gainz_option*, uint64_t, uint32_t, gainz_device_api*, gainz_device**,
                       gainz_error*) = nullptr;

gainz_status device_open(const gainz_host* host, uint32_t index, const gainz_option* options, uint64_t stride,
                         uint32_t num_options, gainz_device_api* out_api, gainz_device** out_device, gainz_error* error) {
  if (is("null_with_success")) {
    *out_device = nullptr;
    return GAINZ_STATUS_OK;
  }
  if (is("ignores_options")) num_options = 0;
  if (is("opens_anything")) index = 0;
  g_host = host;
  const gainz_status status = g_open(host, index, options, stride, num_options, out_api, out_device, error);
  if (status != GAINZ_STATUS_OK) return status;
  g_api = *out_api;
  g_device = *out_device;
  out_api->model_claim = model_claim;
  out_api->model_create = model_create;
  out_api->kv_create = kv_create;
  out_api->kv_copy_pages = kv_copy_pages;
  out_api->kv_export_page = kv_export_page;
  out_api->kv_import_page = kv_import_page;
  out_api->program_create = program_create;
  out_api->run = run;
  out_api->wait = wait_for;
  out_api->poll = poll;
  if (is("no_rollback_function")) out_api->kv_copy_pages = nullptr;
  return status;
}

}  // namespace

extern "C" GAINZ_SDK_EXPORT gainz_status gainz_plugin_query_v0(const gainz_host* host, gainz_plugin* out_plugin,
                                                               gainz_error* error) {
  if (is("slow_query")) std::this_thread::sleep_for(std::chrono::milliseconds(300));
  if (is("any_version") && host->abi_minor != GAINZ_ABI_MINOR) {
    gainz_host own = *host;
    own.abi_major = GAINZ_ABI_MAJOR;
    own.abi_minor = GAINZ_ABI_MINOR;
    return gainz_reference_query(&own, out_plugin, error);
  }
  if (is("unnamed_versions") && (host->abi_minor != GAINZ_ABI_MINOR || host->abi_major != GAINZ_ABI_MAJOR))
    return refuse(GAINZ_STATUS_UNSUPPORTED, "another version", error);
  if (is("writes_whole_table")) {
    gainz_plugin whole{};
    whole.struct_size = sizeof whole;
    const gainz_status status = gainz_reference_query(host, &whole, error);
    *out_plugin = whole;
    return status;
  }
  const gainz_status status = gainz_reference_query(host, out_plugin, error);
  if (status != GAINZ_STATUS_OK) return status;
  g_open = out_plugin->device_open;
  out_plugin->device_open = device_open;
  if (is("bad_name")) out_plugin->name = "Not A Name";
  return status;
}

#ifdef MUTANT_EXPORTS
extern "C" GAINZ_SDK_EXPORT int gainz_something_else() { return 1; }
#endif
