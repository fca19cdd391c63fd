#include "conform/op_cases.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "conform/compare.h"

namespace gainz::conform {
namespace {

constexpr double kExact = 2e-6;  // elementwise in f32: the last places, where a plugin fuses or orders otherwise
constexpr double kSums = 2e-5;   // sums in f32 in another order

OpStep step_of(uint32_t num_tokens, std::vector<std::vector<float>> inputs) {
  OpStep step;
  step.num_tokens = num_tokens;
  step.inputs = std::move(inputs);
  step.output_rows.resize(num_tokens);
  std::iota(step.output_rows.begin(), step.output_rows.end(), 0u);
  return step;
}

uint64_t block_of(uint32_t type) {
  switch (type) {
    case GAINZ_TYPE_F32:
    case GAINZ_TYPE_F16:
    case GAINZ_TYPE_BF16:
      return 1;
    case GAINZ_TYPE_Q8_0:
    case GAINZ_TYPE_Q4_0:
    case GAINZ_TYPE_Q4_1:
    case GAINZ_TYPE_Q5_0:
    case GAINZ_TYPE_Q5_1:
    case GAINZ_TYPE_IQ4_NL:
    case GAINZ_TYPE_MXFP4:
      return 32;
    default:
      return 256;
  }
}

struct Shape {
  uint64_t k, n;
  uint32_t rows;
};
// Odd numbers, ones below and above what kernels take at once, and tails of every kind.
std::vector<Shape> linear_shapes(uint32_t type) {
  const uint64_t b = block_of(type);
  if (b == 1) return {{1, 1, 40}, {7, 3, 20}, {33, 17, 5}, {64, 16, 1}, {65, 97, 3}, {576, 48, 17}};
  return {{b, 1, 40}, {b, 17, 3}, {2 * b, 33, 1}, {3 * b, 33, 5}, {5 * b, 97, 2}, {2 * b, 48, 33}};
}

std::string text_of(const Shape& s) {
  return "k " + std::to_string(s.k) + ", n " + std::to_string(s.n) + ", " + std::to_string(s.rows) + " rows";
}

void add_linear(std::vector<OpCase>& out, uint32_t type, std::mt19937_64& random) {
  size_t index = 0;
  for (const Shape& s : linear_shapes(type)) {
    for (const Numbers kind : {Numbers::usual, Numbers::zeros, Numbers::small}) {
      const bool biased = ++index % 2 == 0;
      OpCase one;
      one.what = text_of(s) + (biased ? " with bias" : "");
      one.build = [s, type, biased](GraphBuilder& g) {
        const uint32_t x = g.input("x", s.k);
        std::vector<uint32_t> inputs = {x, g.random_weight("w", type, {s.k, s.n})};
        if (biased) inputs.push_back(g.random_weight("b", GAINZ_TYPE_F32, {s.n}));
        g.output(g.node(GAINZ_OP_LINEAR, inputs, {s.n}));
      };
      one.step = step_of(s.rows, {numbers(kind, s.k * s.rows, random)});
      one.step.phase = index % 3 == 0 ? GAINZ_PHASE_PROMPT : GAINZ_PHASE_GENERATED;
      one.bound = op_bound(type);
      one.is_product = true;
      out.push_back(std::move(one));
    }
  }
}

void add_embed(std::vector<OpCase>& out, uint32_t type, std::mt19937_64& random) {
  const uint64_t b = block_of(type);
  for (const uint64_t k : {b == 1 ? uint64_t{5} : b, b == 1 ? uint64_t{64} : 2 * b}) {
    for (const uint32_t rows : {1u, 7u}) {
      OpCase one;
      one.what = "k " + std::to_string(k) + ", " + std::to_string(rows) + " tokens";
      one.build = [k, type](GraphBuilder& g) { g.output(g.node(GAINZ_OP_EMBED, {g.random_weight("w", type, {k, 37})}, {k})); };
      one.step = step_of(rows, {});
      for (uint32_t i = 0; i < rows; ++i) one.step.tokens.push_back(i == 0 ? 36 : static_cast<int32_t>(random() % 37));
      one.bound = 1e-3;  // a table may be kept in f16 blocks repacked
      out.push_back(std::move(one));
    }
  }
}

void add_norms(std::vector<OpCase>& out, uint32_t op, std::mt19937_64& random) {
  for (const auto& [groups, dim] : {std::pair<uint32_t, uint64_t>{1, 1}, {1, 7}, {1, 64}, {3, 8}, {1, 577}, {4, 32}}) {
    if (op == GAINZ_OP_LAYERNORM && groups != 1) continue;
    for (const Numbers kind : {Numbers::usual, Numbers::zeros, Numbers::large, Numbers::small}) {
      for (const bool weighted : {true, false}) {
        OpCase one;
        const uint64_t cols = groups * dim;
        one.what = std::to_string(groups) + " groups of " + std::to_string(dim) + (weighted ? " weighted" : "");
        one.build = [=, groups = groups, dim = dim](GraphBuilder& g) {
          std::vector<uint32_t> inputs = {g.input("x", cols)};
          inputs.push_back(weighted ? g.random_weight("w", GAINZ_TYPE_F32, {dim}, 1) : GAINZ_NO_VALUE);
          if (op == GAINZ_OP_LAYERNORM)
            inputs.push_back(weighted ? g.random_weight("b", GAINZ_TYPE_F32, {dim}, 1) : GAINZ_NO_VALUE);
          g.output(g.node(op, inputs, {cols}, gainz_norm_attr{0, groups, 1e-5f}));
        };
        one.step = step_of(3, {numbers(kind, cols * 3, random)});
        one.bound = kSums;
        out.push_back(std::move(one));
      }
    }
  }
}

void add_rope(std::vector<OpCase>& out, std::mt19937_64& random) {
  for (const uint32_t mode : {GAINZ_ROPE_INTERLEAVED, GAINZ_ROPE_HALVES}) {
    for (const auto& [heads, dim, rotary] : {std::array<uint32_t, 3>{1, 2, 2}, {3, 8, 8}, {2, 40, 16}, {4, 64, 64}}) {
      for (const int variant : {0, 1, 2, 3}) {
        gainz_rope_attr attr{};
        attr.mode = mode;
        attr.num_heads = heads;
        attr.head_dim = dim;
        attr.rotary_dim = rotary;
        attr.base = variant == 3 ? 1e6f : 10000;
        attr.freq_scale = variant == 1 ? 0.25f : 1;
        attr.magnitude = 1;
        if (variant == 2)
          attr.yarn_mix = 1, attr.yarn_beta_fast = 32, attr.yarn_beta_slow = 1, attr.original_context = 64,
          attr.freq_scale = 0.25f, attr.magnitude = 1.1f;
        OpCase one;
        one.what = std::string(mode == GAINZ_ROPE_HALVES ? "halves" : "interleaved") + ", " + std::to_string(heads) +
                   " heads of " + std::to_string(dim) + ", variant " + std::to_string(variant);
        const uint64_t cols = uint64_t{heads} * dim;
        const bool factors = variant == 3;
        one.build = [=, rotary = rotary](GraphBuilder& g) {
          std::vector<uint32_t> inputs = {g.input("x", cols)};
          if (factors) {
            std::vector<float> values(rotary / 2);
            for (size_t i = 0; i < values.size(); ++i) values[i] = 1 + static_cast<float>(i) / 7;
            inputs.push_back(g.weight_f32("factors", {rotary / 2}, values));
          }
          g.output(g.node(GAINZ_OP_ROPE, inputs, {cols}, attr));
        };
        one.step = step_of(5, {numbers(Numbers::usual, cols * 5, random)});
        one.step.first_position = variant == 0 ? 0 : 1000;
        one.bound = 2e-4;  // an angle of 1000 radians in f32 has lost three places
        out.push_back(std::move(one));
      }
    }
  }
}

void add_elementwise(std::vector<OpCase>& out, uint32_t op, std::mt19937_64& random) {
  const bool two = op == GAINZ_OP_ADD || op == GAINZ_OP_MUL || op == GAINZ_OP_GATED_ACTIVATION;
  const bool activates = op == GAINZ_OP_ACTIVATION || op == GAINZ_OP_GATED_ACTIVATION;
  for (const uint64_t cols : {uint64_t{1}, uint64_t{15}, uint64_t{64}, uint64_t{577}}) {
    for (const Numbers kind : {Numbers::usual, Numbers::zeros, Numbers::large, Numbers::small}) {
      for (uint32_t variant = 1; variant <= (activates ? 5u : 2u); ++variant) {
        OpCase one;
        one.what = std::to_string(cols) + " columns, variant " + std::to_string(variant);
        one.build = [=](GraphBuilder& g) {
          std::vector<uint32_t> inputs = {g.input("a", cols)};
          if (op == GAINZ_OP_MUL && variant == 2)
            inputs.push_back(g.random_weight("w", GAINZ_TYPE_F32, {cols}, 1));
          else if (two)
            inputs.push_back(g.input("b", cols));
          if (activates)
            g.output(g.node(op, inputs, {cols}, gainz_activation_attr{0, variant}));
          else if (op == GAINZ_OP_SCALE || op == GAINZ_OP_SOFTCAP)
            g.output(g.node(op, inputs, {cols}, gainz_scale_attr{0, variant == 1 ? 30.0f : 0.125f}));
          else
            g.output(g.node(op, inputs, {cols}));
        };
        one.step = step_of(3, {numbers(kind, cols * 3, random)});
        if (two && !(op == GAINZ_OP_MUL && variant == 2))
          one.step.inputs.push_back(numbers(kind == Numbers::large ? Numbers::usual : kind, cols * 3, random));
        one.bound = activates || op == GAINZ_OP_SOFTCAP ? 5e-5 : kExact;
        out.push_back(std::move(one));
      }
    }
  }
}

void add_moe_route(std::vector<OpCase>& out, std::mt19937_64& random) {
  for (const auto& [experts, k] : {std::pair<uint64_t, uint32_t>{1, 1}, {5, 2}, {8, 8}, {64, 6}}) {
    for (const Numbers kind : {Numbers::usual, Numbers::equal}) {
      for (const uint32_t normalize : {0u, 1u}) {
        OpCase one;
        one.what = std::to_string(k) + " of " + std::to_string(experts);
        one.build = [=, experts = experts, k = k](GraphBuilder& g) {
          const uint32_t route = g.node(GAINZ_OP_MOE_ROUTE, {g.input("x", experts)}, {k, k},
                                        gainz_moe_route_attr{0, k, normalize, normalize ? 2.5f : 1.0f});
          g.output(route);
          g.output(route + 1);
        };
        one.step = step_of(5, {numbers(kind, experts * 5, random)});
        out.push_back(std::move(one));
      }
    }
  }
}

void add_moe_linear(std::vector<OpCase>& out, uint32_t type, std::mt19937_64& random) {
  const uint64_t b = block_of(type), k = b == 1 ? 33 : 2 * b, n = 19;
  constexpr uint32_t kExperts = 5, kChosen = 2;
  for (const uint32_t rows_per_token : {1u, kChosen}) {
    for (const bool weighted : {false, true}) {
      for (const uint32_t rows : {1u, 7u}) {
        OpCase one;
        one.what = std::to_string(rows_per_token) + " rows a token, " + std::to_string(rows) + " tokens" +
                   (weighted ? ", weighted" : "");
        one.build = [=](GraphBuilder& g) {
          std::vector<uint32_t> inputs = {g.input("x", k * rows_per_token),
                                          g.input("ids", kChosen, GAINZ_ROWS_TOKENS, GAINZ_TYPE_I32),
                                          g.random_weight("w", type, {k, n, kExperts})};
          if (weighted) inputs.push_back(g.input("weights", kChosen));
          g.output(g.node(GAINZ_OP_MOE_LINEAR, inputs, {weighted ? n : n * kChosen},
                          gainz_moe_linear_attr{0, kChosen, rows_per_token}));
        };
        one.step =
            step_of(rows, {numbers(Numbers::usual, k * rows_per_token * rows, random), ids(kChosen * rows, kExperts, random)});
        if (weighted) one.step.inputs.push_back(numbers(Numbers::usual, kChosen * rows, random));
        one.bound = op_bound(type);
        one.is_product = true;
        one.is_product = true;
        out.push_back(std::move(one));
      }
    }
  }
}

void add_rows(std::vector<OpCase>& out, uint32_t op, std::mt19937_64& random) {
  for (const uint64_t cols : {uint64_t{1}, uint64_t{33}, uint64_t{320}}) {
    for (const Numbers kind : {Numbers::usual, Numbers::equal}) {
      OpCase one;
      one.what = std::to_string(cols) + " columns";
      const uint32_t k = static_cast<uint32_t>(std::min<uint64_t>(cols, 8));
      one.build = [=](GraphBuilder& g) {
        const uint32_t x = g.node(GAINZ_OP_GATHER_ROWS, {g.input("x", cols)}, {cols}, GAINZ_ROWS_OUTPUTS);
        if (op == GAINZ_OP_GATHER_ROWS) return g.output(x);
        if (op == GAINZ_OP_LOGIT_MASK) return g.output(g.node(op, {x}, {cols}, GAINZ_ROWS_OUTPUTS));
        const uint32_t top = g.node(op, {x}, {k, k}, gainz_top_k_attr{0, k}, GAINZ_ROWS_OUTPUTS);
        g.output(top);
        g.output(top + 1);
      };
      one.step = step_of(6, {numbers(kind, cols * 6, random)});
      one.step.output_rows = {0, 2, 3, 5};
      if (op == GAINZ_OP_LOGIT_MASK && kind == Numbers::usual) {
        one.step.mask_words = static_cast<uint32_t>((cols + 31) / 32 + 1);
        for (size_t i = 0; i < one.step.mask_words * 4u; ++i) one.step.logit_masks.push_back(static_cast<uint32_t>(random()));
      }
      one.bound = 0;
      out.push_back(std::move(one));
    }
  }
}

}  // namespace

std::vector<float> numbers(Numbers kind, size_t count, std::mt19937_64& random) {
  std::normal_distribution<float> normal(0, 1);
  std::vector<float> out(count);
  for (float& x : out) {
    x = normal(random);
    if (kind == Numbers::zeros) x = 0;
    if (kind == Numbers::large) x *= 1e4f;
    if (kind == Numbers::small) x *= 1e-12f;
    if (kind == Numbers::equal) x = 1.5f;
  }
  return out;
}

std::vector<float> ids(size_t count, uint32_t below, std::mt19937_64& random) {
  std::vector<float> out(count);
  for (float& x : out) {
    const auto id = static_cast<int32_t>(random() % below);
    std::memcpy(&x, &id, sizeof x);
  }
  return out;
}

std::vector<OpCase> cases_of(uint32_t op, uint32_t type, std::mt19937_64& random) {
  std::vector<OpCase> out;
  switch (op) {
    case GAINZ_OP_EMBED:
      add_embed(out, type, random);
      break;
    case GAINZ_OP_LINEAR:
      add_linear(out, type, random);
      break;
    case GAINZ_OP_MOE_LINEAR:
      add_moe_linear(out, type, random);
      break;
    case GAINZ_OP_RMSNORM:
    case GAINZ_OP_LAYERNORM:
      add_norms(out, op, random);
      break;
    case GAINZ_OP_ROPE:
      add_rope(out, random);
      break;
    case GAINZ_OP_MOE_ROUTE:
      add_moe_route(out, random);
      break;
    case GAINZ_OP_GATHER_ROWS:
    case GAINZ_OP_LOGIT_MASK:
    case GAINZ_OP_TOP_K:
      add_rows(out, op, random);
      break;
    default:
      add_elementwise(out, op, random);
      break;
  }
  return out;
}

}  // namespace gainz::conform
