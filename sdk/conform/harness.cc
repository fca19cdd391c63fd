#include "conform/harness.h"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <stdexcept>
#include <thread>

namespace gainz::conform {

static void check(gainz_status status, const char* what, const ErrorText& error) {
  if (status != GAINZ_STATUS_OK)
    throw std::runtime_error(std::string(what) + ": status " + std::to_string(status) + ": " + error.text());
}

struct HostCalls {
  static void* allocate(void* ctx, uint64_t size, uint64_t alignment) {
    auto* host = static_cast<TestHost*>(ctx);
    if (host->fail_in_ >= 0 && host->fail_in_-- == 0) return nullptr;
    const uint64_t rounded = (size + alignment - 1) / alignment * alignment;
    if (rounded < size || rounded > (1ull << 36)) return nullptr;
    void* memory = std::aligned_alloc(alignment, rounded);
    if (memory == nullptr) return nullptr;
    host->live_bytes_ += size;
    ++host->num_allocations_;
    return memory;
  }
  static void release(void* ctx, void* memory, uint64_t size, uint64_t) {
    static_cast<TestHost*>(ctx)->live_bytes_ -= size;
    std::free(memory);
  }
  static void parallel_for(void* ctx, uint64_t count, uint64_t grain, gainz_parallel_body body, void* arg) {
    const uint32_t num_workers = static_cast<TestHost*>(ctx)->num_workers_;
    std::atomic<uint64_t> next{0};
    auto work = [&](uint32_t worker) {
      for (uint64_t begin = next.fetch_add(grain); begin < count; begin = next.fetch_add(grain)) {
        body(arg, begin, std::min(count, begin + grain), worker);
      }
    };
    std::vector<std::thread> threads;
    for (uint32_t w = 1; w < num_workers && w * grain < count; ++w) threads.emplace_back(work, w);
    work(0);
    for (std::thread& thread : threads) thread.join();
  }
  static uint32_t num_workers(void* ctx) { return static_cast<TestHost*>(ctx)->num_workers_; }
};

TestHost::TestHost(uint32_t num_workers) : num_workers_(num_workers) {
  host_.struct_size = sizeof host_;
  host_.abi_major = GAINZ_ABI_MAJOR;
  host_.abi_minor = GAINZ_ABI_MINOR;
  host_.ctx = this;
  host_.allocate = HostCalls::allocate;
  host_.release = HostCalls::release;
  host_.log = [](void*, uint32_t, const char*) {};
  host_.parallel_for = HostCalls::parallel_for;
  host_.num_workers = HostCalls::num_workers;
  host_.get_extension = [](void*, const char*, uint32_t) -> const void* { return nullptr; };
}
TestHost::~TestHost() = default;

Plugin::Plugin(const TestHost& host, const std::string& path) : host_(host) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  void* symbol = dlsym(library, GAINZ_PLUGIN_QUERY_SYMBOL);
  if (symbol == nullptr) throw std::runtime_error(path + " has no " GAINZ_PLUGIN_QUERY_SYMBOL);
  query(reinterpret_cast<gainz_plugin_query_fn>(symbol));
}
Plugin::Plugin(const TestHost& host, gainz_plugin_query_fn fn) : host_(host) { query(fn); }

void Plugin::query(gainz_plugin_query_fn fn) {
  ErrorText error;
  table_.struct_size = sizeof table_;
  check(fn(host_.get(), &table_, error.get()), "query", error);
}

Device::Device(const Plugin& plugin, const std::vector<std::pair<std::string, std::string>>& options, uint32_t index) {
  std::vector<gainz_option> raw;
  for (const auto& [key, value] : options) raw.push_back({sizeof(gainz_option), 0, key.c_str(), value.c_str()});
  ErrorText error;
  api_.struct_size = sizeof api_;
  check(plugin.table().device_open(plugin.host().get(), index, raw.data(), sizeof(gainz_option),
                                   static_cast<uint32_t>(raw.size()), &api_, &device_, error.get()),
        "device_open", error);
}
Device::~Device() {
  if (device_ != nullptr) api_.close(device_);
}

Runner::Runner(const Device& device, GraphBuilder* graph, const RunnerOptions& options)
    : device_(device), graph_(graph), options_(options) {
  ErrorText error;
  check(device->model_create(device.get(), graph->graph(), graph->weights(), &model_, error.get()), "model_create", error);
  const auto num_groups = static_cast<uint32_t>(graph->groups().size());
  const std::vector<uint32_t> num_pages(num_groups, options.num_pages);
  const gainz_kv_desc desc{sizeof desc, options.k_type, options.v_type, num_groups, num_pages.data()};
  if (num_groups != 0) check(device->kv_create(device.get(), model_, &desc, &kv_, error.get()), "kv_create", error);
  const gainz_bucket bucket{
      sizeof bucket, options.max_tokens, options.max_sequences, options.max_tokens, options.max_pages_per_sequence, 0};
  check(device->program_create(device.get(), model_, kv_, &bucket, &program_, error.get()), "program_create", error);
  gainz_program_info info{};
  info.struct_size = sizeof info;
  check(device->program_describe(device.get(), program_, &info, error.get()), "program_describe", error);
  num_slices_ = info.num_slices;
  next_page_.assign(num_groups, 0);
  page_order_.resize(num_groups);
  std::mt19937 random(options.shuffle_seed);
  for (std::vector<uint32_t>& order : page_order_) {
    for (uint32_t page = 1; page < options.num_pages; ++page) order.push_back(page);
    if (options.backwards) std::reverse(order.begin(), order.end());
    if (options.shuffle_seed != 0) std::shuffle(order.begin(), order.end(), random);
  }
}

Runner::~Runner() {
  if (program_ != nullptr) device_->program_destroy(device_.get(), program_);
  if (kv_ != nullptr) device_->kv_destroy(device_.get(), kv_);
  if (model_ != nullptr) device_->model_destroy(device_.get(), model_);
}

Conversation Runner::begin() const { return {std::vector<std::vector<uint32_t>>(next_page_.size()), 0}; }

uint32_t Runner::new_page(uint32_t group) {
  if (next_page_[group] >= page_order_[group].size()) throw std::runtime_error("the runner is out of pages");
  return page_order_[group][next_page_[group]++];
}

uint64_t Runner::page_bytes(uint32_t group) const {
  return gainz_page_bytes(&graph_->groups()[group], options_.k_type, options_.v_type);
}

Conversation Runner::fork(const Conversation& from) {
  Conversation to = from;
  for (uint32_t g = 0; g < to.pages.size(); ++g) {
    std::vector<gainz_page_copy> copies;
    for (uint32_t& page : to.pages[g]) {
      copies.push_back({page, new_page(g)});
      page = copies.back().target;
    }
    ErrorText error;
    check(device_->kv_copy_pages(device_.get(), kv_, g, copies.data(), static_cast<uint32_t>(copies.size()), error.get()),
          "kv_copy_pages", error);
  }
  return to;
}

void Runner::fill(std::vector<Chunk>* chunks) {
  const size_t num_groups = next_page_.size();
  const uint32_t columns = options_.max_pages_per_sequence;
  for (auto* array : {&tokens, &positions}) array->clear();
  for (auto* array : {&offsets, &contexts, &rows}) array->clear();
  phases.clear();
  slots.assign(num_groups, {});
  tables.assign(num_groups, std::vector<uint32_t>(chunks->size() * columns, GAINZ_SCRATCH_PAGE));
  offsets.push_back(0);
  for (size_t s = 0; s < chunks->size(); ++s) {
    const Chunk& chunk = (*chunks)[s];
    Conversation& c = *chunk.conversation;
    for (size_t i = 0; i < chunk.tokens.size(); ++i, ++c.length) {
      for (uint32_t g = 0; g < num_groups; ++g) {
        if (c.length / GAINZ_PAGE_TOKENS >= c.pages[g].size()) c.pages[g].push_back(new_page(g));
        slots[g].push_back(c.pages[g][c.length / GAINZ_PAGE_TOKENS] * GAINZ_PAGE_TOKENS + c.length % GAINZ_PAGE_TOKENS);
      }
      if (chunk.all_rows || i + 1 == chunk.tokens.size()) rows.push_back(static_cast<uint32_t>(tokens.size()));
      tokens.push_back(chunk.tokens[i]);
      positions.push_back(static_cast<int32_t>(c.length));
      phases.push_back(chunk.phase);
    }
    offsets.push_back(static_cast<uint32_t>(tokens.size()));
    contexts.push_back(c.length);
    for (uint32_t g = 0; g < num_groups; ++g)
      std::copy(c.pages[g].begin(), c.pages[g].end(), tables[g].begin() + static_cast<long>(s * columns));
  }
}

std::vector<std::vector<float>> Runner::step(std::vector<Chunk> chunks) {
  fill(&chunks);
  pages.clear();
  for (size_t g = 0; g < slots.size(); ++g) {
    pages.push_back({sizeof(gainz_step_pages), 0, slots[g].data(), tables[g].data(), options_.max_pages_per_sequence});
  }
  output_buffers.clear();
  output_bytes.clear();
  for (uint32_t v : graph_->outputs()) {
    const gainz_value& value = graph_->values()[v];
    const uint64_t stride = value.dims[0] * 4 + 64;  // rows with a gap between them
    output_bytes.emplace_back(stride * (value.rows == GAINZ_ROWS_TOKENS ? tokens.size() : rows.size()), uint8_t{0xAB});
    output_buffers.push_back({sizeof(gainz_buffer), 0, output_bytes.back().data(), stride});
  }
  step_ = {sizeof step_,
           static_cast<uint32_t>(tokens.size()),
           static_cast<uint32_t>(chunks.size()),
           static_cast<uint32_t>(rows.size()),
           tokens.data(),
           positions.data(),
           phases.data(),
           offsets.data(),
           contexts.data(),
           rows.data(),
           pages.data(),
           sizeof(gainz_step_pages),
           nullptr,
           0,
           nullptr,
           output_buffers.data(),
           sizeof(gainz_buffer)};
  ErrorText error;
  uint64_t ticket = 0;
  const uint32_t piece = options_.one_slice_a_run ? 1 : num_slices_;
  for (uint32_t first = 0; first < num_slices_; first += piece) {
    check(device_->run(device_.get(), program_, &step_, first, piece, &ticket, error.get()), "run", error);
  }
  check(device_->wait(device_.get(), ticket, UINT64_MAX, error.get()), "wait", error);
  return last_rows();
}

std::vector<std::vector<float>> Runner::last_rows() const {
  const uint64_t cols = graph_->values()[graph_->outputs()[0]].dims[0];
  std::vector<std::vector<float>> result;
  for (size_t at = 0; at < output_bytes[0].size(); at += output_buffers[0].row_stride_bytes) {
    result.emplace_back(cols);
    std::memcpy(result.back().data(), output_bytes[0].data() + at, cols * sizeof(float));
  }
  return result;
}

void Runner::require_canaries() const {
  for (size_t v = 0; v < output_bytes.size(); ++v) {
    const uint64_t row_bytes = graph_->values()[graph_->outputs()[v]].dims[0] * 4, stride = output_buffers[v].row_stride_bytes;
    for (size_t i = 0; i < output_bytes[v].size(); ++i)
      if (i % stride >= row_bytes && output_bytes[v][i] != 0xAB)
        throw std::runtime_error("a byte was written between two rows of an output");
  }
}

void Runner::restore(const Arrays& saved) {
  // Same sizes, so the step's pointers stay good.
  tokens.assign(saved.tokens.begin(), saved.tokens.end());
  positions.assign(saved.positions.begin(), saved.positions.end());
  phases.assign(saved.phases.begin(), saved.phases.end());
  offsets.assign(saved.offsets.begin(), saved.offsets.end());
  contexts.assign(saved.contexts.begin(), saved.contexts.end());
  rows.assign(saved.rows.begin(), saved.rows.end());
  for (size_t g = 0; g < slots.size(); ++g) {
    slots[g].assign(saved.slots[g].begin(), saved.slots[g].end());
    tables[g].assign(saved.tables[g].begin(), saved.tables[g].end());
  }
  pages.assign(saved.pages.begin(), saved.pages.end());
  output_buffers.assign(saved.output_buffers.begin(), saved.output_buffers.end());
}

std::vector<std::vector<float>> Runner::feed(Conversation* conversation, const std::vector<int32_t>& all, size_t size) {
  std::vector<std::vector<float>> result;
  for (size_t at = 0; at < all.size(); at += size) {
    const auto end = all.begin() + static_cast<long>(std::min(all.size(), at + size));
    for (auto& row : step({{conversation, std::vector<int32_t>(all.begin() + static_cast<long>(at), end), true}})) {
      result.push_back(std::move(row));
    }
  }
  return result;
}

std::string plugin_path(const std::string& build_dir, const std::string& name) {
  return build_dir + "/lib/gainz/plugins/gainz_" + name + ".so";
}

std::vector<int32_t> random_tokens(size_t num_tokens, uint64_t vocabulary, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int32_t> ids(num_tokens);
  for (int32_t& id : ids) id = static_cast<int32_t>(random() % vocabulary);
  return ids;
}

double relative_error(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0;
  double size = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    difference += (double{a[i]} - double{b[i]}) * (double{a[i]} - double{b[i]});
    size += double{b[i]} * double{b[i]};
  }
  return std::sqrt(difference / size);
}

}  // namespace gainz::conform
