// qwen3moe against a plain double implementation that shares no code with the runtime: one file, all positions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/model/model_files.h"
#include "support/run_model.h"

namespace gainz {
namespace {

using namespace gainz::test;
using Row = std::vector<double>;

// The model as its paper writes it, one token after another, keys and values kept in lists.
class PlainQwen3Moe {
 public:
  PlainQwen3Moe(const GgufWriter& file, const FileShape& shape)
      : file_(file), s_(shape), keys_(shape.num_layers), values_(shape.num_layers) {}

  Row step(int32_t token, size_t position) {
    const Row table = all("token_embd.weight");
    Row x(table.begin() + token * s_.embedding, table.begin() + (token + 1) * s_.embedding);
    for (uint32_t i = 0; i < s_.num_layers; ++i) {
      const std::string blk = "blk." + std::to_string(i) + ".";
      add(x, attention(norm(x, all(blk + "attn_norm.weight")), blk, i, position));
      add(x, experts(norm(x, all(blk + "ffn_norm.weight")), blk));
    }
    return times(norm(x, all("output_norm.weight")), all("output.weight"), 0);
  }

 private:
  Row all(const std::string& name) const {
    const std::vector<float> v = tensor_values(file_, name);
    return Row(v.begin(), v.end());
  }
  static void add(Row& x, const Row& y) {
    for (size_t i = 0; i < x.size(); ++i) x[i] += y[i];
  }
  static Row norm(const Row& x, const Row& w) {
    double sum = 0;
    for (const double v : x) sum += v * v;
    Row out(x.size());
    for (size_t i = 0; i < x.size(); ++i) out[i] = x[i] / std::sqrt(sum / double(x.size()) + double(1e-6f)) * w[i];
    return out;
  }
  // x times the matrix of rows of x.size() that begins at `from`; num_rows 0: to the end
  static Row times(const Row& x, const Row& w, size_t from, size_t num_rows = 0) {
    Row out(num_rows == 0 ? (w.size() - from) / x.size() : num_rows, 0.0);
    for (size_t n = 0; n < out.size(); ++n)
      for (size_t k = 0; k < x.size(); ++k) out[n] += w[from + n * x.size() + k] * x[k];
    return out;
  }
  // norm over each head, then rope with pairs half a head apart
  Row turn(const Row& x, const Row& w, size_t position) const {
    Row out;
    const size_t d = s_.head_dim, half = d / 2;
    for (size_t h = 0; h < x.size() / d; ++h) {
      const Row head = norm(Row(x.begin() + std::ptrdiff_t(h * d), x.begin() + std::ptrdiff_t((h + 1) * d)), w);
      Row turned(d);
      for (size_t i = 0; i < half; ++i) {
        const double angle = double(position) * std::pow(10000.0, -2.0 * double(i) / double(d));
        turned[i] = head[i] * std::cos(angle) - head[i + half] * std::sin(angle);
        turned[i + half] = head[i + half] * std::cos(angle) + head[i] * std::sin(angle);
      }
      out.insert(out.end(), turned.begin(), turned.end());
    }
    return out;
  }
  Row attention(const Row& x, const std::string& blk, uint32_t layer, size_t position) {
    const Row q = turn(times(x, all(blk + "attn_q.weight"), 0), all(blk + "attn_q_norm.weight"), position);
    keys_[layer].push_back(turn(times(x, all(blk + "attn_k.weight"), 0), all(blk + "attn_k_norm.weight"), position));
    values_[layer].push_back(times(x, all(blk + "attn_v.weight"), 0));
    const size_t d = s_.head_dim;
    Row out(q.size(), 0.0);
    for (size_t h = 0; h < s_.num_heads; ++h) {
      const size_t kv = h / (s_.num_heads / s_.num_kv_heads);
      Row p(position + 1);
      for (size_t t = 0; t <= position; ++t) {
        double dot = 0;
        for (size_t i = 0; i < d; ++i) dot += q[h * d + i] * keys_[layer][t][kv * d + i];
        p[t] = std::exp(dot / std::sqrt(double(d)));
      }
      const double total = std::accumulate(p.begin(), p.end(), 0.0);
      for (size_t t = 0; t <= position; ++t)
        for (size_t i = 0; i < d; ++i) out[h * d + i] += p[t] / total * values_[layer][t][kv * d + i];
    }
    return times(out, all(blk + "attn_output.weight"), 0);
  }
  Row experts(const Row& x, const std::string& blk) const {
    Row p = times(x, all(blk + "ffn_gate_inp.weight"), 0);
    for (double& v : p) v = std::exp(v);
    std::vector<size_t> order(p.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p[a] > p[b]; });
    order.resize(s_.num_used);
    double total = 0;
    for (const size_t e : order) total += p[e];
    Row out(x.size(), 0.0);
    const size_t inner = s_.expert_feed_forward, size = inner * x.size();
    for (const size_t e : order) {
      Row gate = times(x, all(blk + "ffn_gate_exps.weight"), e * size, inner);
      const Row up = times(x, all(blk + "ffn_up_exps.weight"), e * size, inner);
      for (size_t i = 0; i < inner; ++i) gate[i] = gate[i] / (1.0 + std::exp(-gate[i])) * up[i];
      const Row down = times(gate, all(blk + "ffn_down_exps.weight"), e * size, x.size());
      for (size_t i = 0; i < x.size(); ++i) out[i] += p[e] / total * down[i];
    }
    return out;
  }

  const GgufWriter& file_;
  FileShape s_;
  std::vector<std::vector<Row>> keys_, values_;
};

TEST(Qwen3Moe, AgreesWithPlainArithmetic) {
  FileShape shape;
  shape.num_experts = 6;
  shape.num_used = 3;
  shape.expert_feed_forward = 24;
  shape.head_dim = 16;  // not embedding / heads
  const GgufWriter file = model_file("qwen3moe", shape);
  const std::string path = write_temporary(file, "moe.gguf");
  ModelHost host;
  auto model = load_model(host, path, "reference");
  std::remove(path.c_str());
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_TRUE(prepare_model(**model, {}).ok());
  std::vector<int32_t> ids;
  for (int32_t i = 0; i < 24; ++i) ids.push_back(i * 17 % 48);
  const auto logits = run_model(**model, ids, {});
  ASSERT_TRUE(logits.ok()) << logits.status().message();
  PlainQwen3Moe plain(file, shape);
  for (size_t t = 0; t < ids.size(); ++t) {
    const Row row = plain.step(ids[t], t);
    const std::vector<float> want(row.begin(), row.end());
    EXPECT_LE(relative_l2(logits->data() + t * shape.vocab, want.data(), shape.vocab), 1e-5) << "position " << t;
  }
  // One token reads the chosen half of the experts, and one row of the embedding.
  const ModelInfo& info = (*model)->info();
  const uint64_t attention = 32 * 64 * 2 + 32 * 32 * 2, expert = 3 * 32 * 24;
  EXPECT_EQ(info.ops_per_token, 2 * (2 * (attention + 32 * 6 + 3 * expert) + 32 * 48));
  EXPECT_EQ(info.weight_bytes_per_token, 4 * (2 * (attention + 32 * 6 + 3 * expert + 2 * 32 + 2 * 16) + 32 + 32 * 48 + 32));
}

}  // namespace
}  // namespace gainz
