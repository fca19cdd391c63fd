// harness.h: what the kit and tests of plugins share: a small host with threads, a maker of graphs, a plugin loaded by path (or
// by its query function), and a runner that pages, batches and chunks token sequences the way a runtime would. Not thread-safe;
// faults throw std::runtime_error with the plugin's own sentence, which ends the test.
#ifndef GAINZ_SDK_CONFORM_HARNESS_H
#define GAINZ_SDK_CONFORM_HARNESS_H

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gainz/sdk/sdk.h"

namespace gainz::conform {

// A host: aligned allocation that is counted and can be made to fail, parallel_for on `num_workers` threads made for each call
// (slow and simple), log lines kept.
class TestHost {
 public:
  explicit TestHost(uint32_t num_workers = 2);
  ~TestHost();
  TestHost(const TestHost&) = delete;
  const gainz_host* get() const { return &host_; }
  gainz_host* mutable_host() { return &host_; }

  uint64_t live_bytes() const { return live_bytes_; }
  uint64_t num_allocations() const { return num_allocations_; }
  // Bytes and pieces that the plugin holds; the pieces it ever asked for.
  // The n-th allocation from now on (0: the next) answers NULL; -1: none does.
  void fail_allocation(int64_t n) { fail_in_ = n; }
  bool failure_is_pending() const { return fail_in_ >= 0; }  // the allocation that was to fail did not come

 private:
  friend struct HostCalls;
  gainz_host host_{};
  uint32_t num_workers_;
  std::atomic<uint64_t> live_bytes_{0};
  std::atomic<uint64_t> num_allocations_{0};
  std::atomic<int64_t> fail_in_{-1};
};

// A graph with its weights. Values and nodes may be changed through graph-level fields before use, to break them.
class GraphBuilder {
 public:
  // Value indices. dims: K, N, experts.
  uint32_t weight(const std::string& name, uint32_t type, std::vector<uint64_t> dims, std::vector<uint8_t> bytes);
  uint32_t weight_f32(const std::string& name, std::vector<uint64_t> dims, const std::vector<float>& data);
  // Pseudo-random f32 in about [-scale, scale], from the name; other types: random blocks whose values are of that size.
  uint32_t random_weight(const std::string& name, uint32_t type, std::vector<uint64_t> dims, float scale = 0.1f);
  uint32_t input(const std::string& name, uint64_t cols, uint32_t rows = GAINZ_ROWS_TOKENS, uint32_t type = GAINZ_TYPE_F32);
  void group(const gainz_page_group& group) { groups_.push_back(group); }
  void output(uint32_t value) { outputs_.push_back(value); }

  // Adds a node and its outputs (cols of each); gives the first output's value (or GAINZ_NO_VALUE). Attributes are copied.
  template <class Attr>
  uint32_t node(uint32_t op, std::vector<uint32_t> inputs, std::vector<uint64_t> out_cols, Attr attr,
                uint32_t rows = GAINZ_ROWS_TOKENS) {
    attr.struct_size = sizeof attr;
    return add_node(op, std::move(inputs), std::move(out_cols), &attr, sizeof attr, rows);
  }
  uint32_t node(uint32_t op, std::vector<uint32_t> inputs, std::vector<uint64_t> out_cols, uint32_t rows = GAINZ_ROWS_TOKENS) {
    return add_node(op, std::move(inputs), std::move(out_cols), nullptr, 0, rows);
  }
  // As they stand in a file: values in order, nodes whose inputs and outputs are values.
  void add_raw_value(const gainz_value& value, const std::string& name, std::vector<uint8_t> bytes);
  void add_raw_node(gainz_node node, const std::vector<uint8_t>& attributes);
  void add_raw_input(uint32_t value) { inputs_.push_back(value); }
  void set_layer(uint32_t layer) { layer_ = layer; }

  std::vector<gainz_value>& values() { return values_; }
  std::vector<gainz_node>& nodes() { return nodes_; }
  std::vector<gainz_page_group>& groups() { return groups_; }
  const std::vector<uint32_t>& outputs() const { return outputs_; }
  const std::vector<uint32_t>& inputs() const { return inputs_; }

  // Valid until the builder changes.
  const gainz_graph* graph();
  const gainz_weights* weights();
  const std::vector<uint8_t>& weight_bytes(uint32_t value) const { return bytes_.at(value); }

  int32_t cancel_after = -1;  // progress asks to stop at this call

 private:
  uint32_t add_node(uint32_t op, std::vector<uint32_t> inputs, std::vector<uint64_t> out_cols, const void* attr,
                    size_t attr_bytes, uint32_t rows);
  uint32_t add_value(uint32_t kind, uint32_t type, uint32_t rows, std::vector<uint64_t> dims, const std::string& name);

  std::vector<gainz_value> values_;
  std::vector<gainz_node> nodes_;
  std::vector<gainz_page_group> groups_;
  std::vector<uint32_t> inputs_, outputs_;
  std::map<uint32_t, std::vector<uint8_t>> bytes_;
  std::deque<std::string> names_;
  std::deque<std::vector<uint64_t>> attributes_;  // uint64_t keeps them aligned
  uint32_t layer_ = GAINZ_NO_VALUE;
  gainz_graph graph_{};
  gainz_weights weights_{};
};

// A toy transformer: embed, layers of norm, qkv, rope, attention, gated ffn, then norm, gather, head, and outputs logits[R,
// vocabulary].
struct ToyShape {
  uint64_t vocabulary = 96, width = 64, num_heads = 4, num_kv_heads = 2, head_dim = 32, ffn = 96;
  uint32_t num_layers = 2;
  uint32_t weight_type = GAINZ_TYPE_F32;
  uint32_t window = 0;  // of every second layer, which then has a page group of its own
  float softcap = 0;
  bool qk_norm = false;
  uint32_t num_experts = 0;  // 0: a plain ffn; else two are chosen
};
void build_toy(GraphBuilder* g, const ToyShape& shape = {});

// A plugin's table; the library stays loaded.
class Plugin {
 public:
  explicit Plugin(const TestHost& host, const std::string& path);
  Plugin(const TestHost& host, gainz_plugin_query_fn query);
  const gainz_plugin& table() const { return table_; }
  const TestHost& host() const { return host_; }

 private:
  void query(gainz_plugin_query_fn query);
  const TestHost& host_;
  gainz_plugin table_{};
};

class Device {
 public:
  explicit Device(const Plugin& plugin, const std::vector<std::pair<std::string, std::string>>& options = {},
                  uint32_t index = 0);
  ~Device();
  Device(const Device&) = delete;
  const gainz_device_api* operator->() const { return &api_; }
  gainz_device* get() const { return device_; }

 private:
  gainz_device_api api_{};
  gainz_device* device_ = nullptr;
};

// A buffer for a sentence: `device->run(..., error.get())`, then error.text().
class ErrorText {
 public:
  gainz_error* get() { return &error_; }
  std::string text() const { return text_; }

 private:
  char text_[512] = {};
  gainz_error error_{sizeof(gainz_error), sizeof text_, text_};
};

// A sequence in pages.
struct Conversation {
  std::vector<std::vector<uint32_t>> pages;  // [num_groups][page of 16 tokens]
  uint32_t length = 0;
};
struct Chunk {
  Conversation* conversation;
  std::vector<int32_t> tokens;
  bool all_rows = false;  // outputs for every token, else for the last
  uint8_t phase = GAINZ_PHASE_PROMPT;
};
struct RunnerOptions {
  uint32_t k_type = GAINZ_TYPE_F32, v_type = GAINZ_TYPE_F32;
  uint32_t num_pages = 64, max_tokens = 128, max_sequences = 16, max_pages_per_sequence = 16;
  bool one_slice_a_run = false;  // the step in as many runs as it has slices
  bool backwards = false;        // pages are given out from the last one down
  uint32_t shuffle_seed = 0;     // not 0: pages are given out in a random order
};

// A model with its pages and one program on a device.
class Runner {
 public:
  Runner(const Device& device, GraphBuilder* graph, const RunnerOptions& options = {});
  ~Runner();
  Runner(const Runner&) = delete;

  Conversation begin() const;
  // One step over all chunks; gives output 0's rows, chunk after chunk.
  std::vector<std::vector<float>> step(std::vector<Chunk> chunks);
  // All tokens of one conversation in chunks of `size`; gives the logits of every token.
  std::vector<std::vector<float>> feed(Conversation* conversation, const std::vector<int32_t>& tokens, size_t size);
  // A page that nobody has, of any group.
  uint32_t new_page(uint32_t group);
  void forget_pages() { next_page_.assign(next_page_.size(), 0); }  // all are free again; no conversation may go on
  // Output 0 of the last step; the bytes between its rows.
  std::vector<std::vector<float>> last_rows() const;
  void require_canaries() const;
  // Another conversation with copies of the pages of this one (kv_copy_pages).
  Conversation fork(const Conversation& from);

  // The step that the last call of step() ran, with its arrays, for tests that break it and call run themselves.
  gainz_step* last_step() { return &step_; }
  gainz_model* model() const { return model_; }
  gainz_kv* kv() const { return kv_; }
  gainz_program* program() const { return program_; }
  uint32_t num_slices() const { return num_slices_; }
  uint64_t page_bytes(uint32_t group) const;

  // The arrays of last_step(); `restore` puts their contents back in place.
  std::vector<int32_t> tokens, positions;
  std::vector<uint8_t> phases;
  std::vector<uint32_t> offsets, contexts, rows;
  std::vector<std::vector<uint32_t>> slots, tables;
  std::vector<gainz_step_pages> pages;
  std::vector<gainz_buffer> output_buffers;
  std::vector<std::vector<uint8_t>> output_bytes;
  struct Arrays {
    std::vector<int32_t> tokens, positions;
    std::vector<uint8_t> phases;
    std::vector<uint32_t> offsets, contexts, rows;
    std::vector<std::vector<uint32_t>> slots, tables;
    std::vector<gainz_step_pages> pages;
    std::vector<gainz_buffer> output_buffers;
  };
  Arrays arrays() const { return {tokens, positions, phases, offsets, contexts, rows, slots, tables, pages, output_buffers}; }
  void restore(const Arrays& saved);

 private:
  void fill(std::vector<Chunk>* chunks);
  const Device& device_;
  GraphBuilder* graph_;
  RunnerOptions options_;
  gainz_model* model_ = nullptr;
  gainz_kv* kv_ = nullptr;
  gainz_program* program_ = nullptr;
  uint32_t num_slices_ = 0;
  std::vector<uint32_t> next_page_;                // [groups] pages given out
  std::vector<std::vector<uint32_t>> page_order_;  // [groups]
  gainz_step step_{};
};

// Where the build puts a plugin: <build>/lib/gainz/plugins/gainz_<name>.so
std::string plugin_path(const std::string& build_dir, const std::string& name);
// `num_tokens` pseudo-random ids below `vocabulary`.
std::vector<int32_t> random_tokens(size_t num_tokens, uint64_t vocabulary, uint32_t seed);
// |a - b| / |b| in the Euclidean norm.
double relative_error(const std::vector<float>& a, const std::vector<float>& b);

}  // namespace gainz::conform

#endif
