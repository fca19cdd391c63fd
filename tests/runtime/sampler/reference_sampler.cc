#include "runtime/sampler/reference_sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace gainz {
namespace {

constexpr double kReferenceSlack = 0x1p-20;  // as in candidates.h, from its documentation

struct Token {
  int32_t id;
  double x, p;
};

void normalize(std::vector<Token>& tokens) {
  double highest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const Token& token : tokens) highest = std::max(highest, token.x);
  for (Token& token : tokens) sum += token.p = std::exp(token.x - highest);
  for (Token& token : tokens) token.p /= sum;
}

void cut_at(std::vector<Token>& tokens, double mass) {
  double sum = 0;
  size_t num_kept = 0;
  while (num_kept < tokens.size()) {
    sum += tokens[num_kept++].p;
    if (sum >= mass * (1 - kReferenceSlack)) break;
  }
  tokens.resize(num_kept);
  normalize(tokens);
}

std::vector<float> adjusted(const SamplingParams& params, const ReferenceHistory& history, std::span<const float> logits,
                            const std::vector<bool>& allowed) {
  std::vector<float> row(logits.begin(), logits.end());
  for (const auto& [id, bias] : params.logit_bias) row[static_cast<size_t>(id)] += bias;
  std::map<int32_t, int> counts;
  for (const int32_t id : history.output) ++counts[id];
  std::set<int32_t> all(history.prompt.begin(), history.prompt.end());
  all.insert(history.output.begin(), history.output.end());
  for (const int32_t id : all) {
    double value = row[static_cast<size_t>(id)];
    if (params.repetition_penalty != 1) {
      value = value > 0 ? value / static_cast<double>(params.repetition_penalty)
                        : value * static_cast<double>(params.repetition_penalty);
    }
    if (counts.contains(id)) {
      value -= counts[id] * static_cast<double>(params.frequency_penalty);
      value -= static_cast<double>(params.presence_penalty);
    }
    row[static_cast<size_t>(id)] = static_cast<float>(value);
  }
  const float masked = -std::numeric_limits<float>::infinity();
  const bool early = history.output.size() < static_cast<size_t>(params.min_tokens);
  for (const int32_t id : history.end_ids) {
    if (early || params.ignore_eos) row[static_cast<size_t>(id)] = masked;
  }
  for (const int32_t id : params.stop_token_ids) {
    if (early) row[static_cast<size_t>(id)] = masked;
  }
  for (size_t id = 0; id < allowed.size(); ++id) {
    if (!allowed[id]) row[id] = masked;
  }
  return row;
}

}  // namespace

std::vector<std::pair<int32_t, double>> reference_probabilities(const SamplingParams& params, const ReferenceHistory& history,
                                                                std::span<const float> logits,
                                                                const std::vector<bool>& allowed) {
  const std::vector<float> row = adjusted(params, history, logits, allowed);
  std::vector<Token> tokens;
  for (size_t id = 0; id < row.size(); ++id) {
    const double temperature = params.temperature > 0 ? static_cast<double>(params.temperature) : 1.0;
    if (row[id] > -std::numeric_limits<float>::infinity()) {
      tokens.push_back({static_cast<int32_t>(id), static_cast<double>(row[id]) / temperature, 0});
    }
  }
  if (tokens.empty()) return {};
  const auto best_first = [](const Token& a, const Token& b) { return a.x > b.x || (a.x == b.x && a.id < b.id); };
  std::sort(tokens.begin(), tokens.end(), best_first);
  if (params.temperature == 0) tokens.resize(1);
  if (params.top_k > 0 && tokens.size() > static_cast<size_t>(params.top_k)) tokens.resize(static_cast<size_t>(params.top_k));
  normalize(tokens);
  if (params.typical_p < 1) {
    double entropy = 0;
    for (const Token& token : tokens) entropy -= token.p > 0 ? token.p * std::log(token.p) : 0;
    const auto distance = [entropy](const Token& token) { return std::abs(-std::log(token.p) - entropy); };
    std::stable_sort(tokens.begin(), tokens.end(), [&](const Token& a, const Token& b) { return distance(a) < distance(b); });
    cut_at(tokens, params.typical_p);
    std::sort(tokens.begin(), tokens.end(), best_first);
  }
  if (params.top_p < 1) cut_at(tokens, params.top_p);
  const double floor = static_cast<double>(params.min_p) * tokens[0].p * (1 - kReferenceSlack);
  std::erase_if(tokens, [floor](const Token& token) { return token.p < floor; });
  normalize(tokens);
  std::vector<std::pair<int32_t, double>> out;
  for (const Token& token : tokens) out.emplace_back(token.id, token.p);
  return out;
}

}  // namespace gainz
