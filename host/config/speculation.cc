#include "config/speculation.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace gainz::host {
namespace {

static_assert(std::size(kDraftKinds) == GAINZ_NUM_DRAFT_KINDS);

Failure wrong(std::string_view item) {
  constexpr size_t kMaxShown = 60;
  return Failure{fmt::format("must be \"auto\", \"off\", or some of {}, depth=N, max_depth=N with commas between, not \"{}\"",
                             fmt::join(kDraftKinds, ", "), printable(item.substr(0, kMaxShown)))};
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

Result<gainz_speculation> parse_speculation(std::string_view text) {
  gainz_speculation out{sizeof(out), GAINZ_SPECULATION_AUTO, 0, 0};
  bool has_depth = false, is_whole = false;
  size_t num_items = 0;
  for (std::string_view rest = text;; ++num_items) {
    const size_t comma = rest.find(',');
    const std::string_view item = trimmed(rest.substr(0, comma));
    const size_t equals = item.find('=');
    const std::string_view name = trimmed(item.substr(0, equals));
    if (item == "auto" || item == "off") {
      is_whole = true;
      if (item == "off") out.mode = GAINZ_SPECULATION_OFF;
    } else if (const auto* kind = std::find(std::begin(kDraftKinds), std::end(kDraftKinds), item);
               kind != std::end(kDraftKinds)) {
      out.kinds |= 1u << (kind - std::begin(kDraftKinds));
    } else if (equals != std::string_view::npos && (name == "depth" || name == "max_depth") && !has_depth) {
      const auto number = parse_integer(trimmed(item.substr(equals + 1)));
      if (!number || *number < (name == "depth" ? 0 : 1) || *number > GAINZ_MAX_DRAFT_TOKENS) {
        return Failure{fmt::format("has {}, it must be an integer from {} to {}", printable(item), name == "depth" ? 0 : 1,
                                   GAINZ_MAX_DRAFT_TOKENS)};
      }
      has_depth = true;
      out.depth = static_cast<uint32_t>(*number);
      if (name == "depth") out.mode = GAINZ_SPECULATION_FIXED;
    } else {
      return wrong(item);
    }
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (is_whole && num_items > 0) return wrong(text);
  return out;
}

}  // namespace gainz::host
