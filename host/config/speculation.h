// The setting `speculation` as text, the same in a file, on a command line and in a request: items with commas between.
//
//   auto                  as many tokens as are worth while (the default)
//   off
//   ngram, prediction, cache, model, noise   these drafts alone
//   depth=N               always N tokens, 0 to 16, wherever there is a guess
//   max_depth=N           never more than N
//
// In a file and in a request it may also be a table: {kinds = ["ngram", "cache"], max_depth = 4}. Any thread.
#pragma once

#include <gainz/gainz.h>

#include <string>
#include <string_view>

#include "base/result.h"

namespace gainz::host {

inline constexpr std::string_view kDraftKinds[] = {"ngram", "prediction", "cache", "model", "noise"};  // by GAINZ_DRAFT_*

// Errors say what is wrong, beginning after the name of the place: "must be ..., not \"x\"".
Result<gainz_speculation> parse_speculation(std::string_view text);

}  // namespace gainz::host
