#include "sampler/stop_matcher.h"

#include <algorithm>
#include <utility>

#include "sampler/limits.h"

namespace gainz {

Status StopMatcher::validate(std::span<const std::string> stops) {
  if (stops.size() > static_cast<size_t>(kMaxNumStopStrings)) {
    return {Code::limit_exceeded,
            "stop has " + std::to_string(stops.size()) + " strings, more than " + std::to_string(kMaxNumStopStrings)};
  }
  for (size_t i = 0; i < stops.size(); ++i) {
    if (stops[i].empty()) return {Code::invalid, "stop string " + std::to_string(i) + " is empty"};
    if (stops[i].size() > static_cast<size_t>(kMaxStopStringBytes)) {
      return {Code::limit_exceeded, "stop string " + std::to_string(i) + " has " + std::to_string(stops[i].size()) +
                                        " bytes, more than " + std::to_string(kMaxStopStringBytes)};
    }
  }
  return {};
}

Result<StopMatcher> StopMatcher::create(std::vector<std::string> stops) {
  GAINZ_TRY(validate(stops));
  return StopMatcher(std::move(stops));
}

StopMatcher::StopMatcher(std::vector<std::string> stops) : stops_(std::move(stops)) {
  size_t num_nodes = 1;
  for (const std::string& stop : stops_) num_nodes += stop.size();
  nodes_.reserve(num_nodes);
  nodes_.emplace_back();
  for (size_t i = 0; i < stops_.size(); ++i) add(stops_[i], static_cast<int32_t>(i));
  link();
}

int32_t StopMatcher::find_child(int32_t node, char byte) const {
  int32_t child = nodes_[static_cast<size_t>(node)].first_child;
  while (child != 0 && nodes_[static_cast<size_t>(child)].byte != byte) child = nodes_[static_cast<size_t>(child)].next_sibling;
  return child;
}

void StopMatcher::add(std::string_view stop, int32_t index) {
  int32_t node = 0;
  for (const char byte : stop) {
    int32_t child = find_child(node, byte);
    if (child == 0) {
      child = static_cast<int32_t>(nodes_.size());
      Node& parent = nodes_[static_cast<size_t>(node)];
      nodes_.push_back({0, parent.first_child, 0, parent.depth + 1, index, -1, byte});
      nodes_[static_cast<size_t>(node)].first_child = child;
    }
    node = child;
  }
  Node& end = nodes_[static_cast<size_t>(node)];
  if (node != 0 && end.match < 0) end.match = index;
}

// Failure links, in order of depth (breadth first).
void StopMatcher::link() {
  std::vector<int32_t> queue;
  queue.reserve(nodes_.size());
  queue.push_back(0);
  for (size_t head = 0; head < queue.size(); ++head) {
    const int32_t parent = queue[head];
    for (int32_t child = nodes_[static_cast<size_t>(parent)].first_child; child != 0;) {
      Node& node = nodes_[static_cast<size_t>(child)];
      if (parent != 0) {
        int32_t fail = nodes_[static_cast<size_t>(parent)].fail;
        while (fail != 0 && find_child(fail, node.byte) == 0) fail = nodes_[static_cast<size_t>(fail)].fail;
        node.fail = find_child(fail, node.byte);
      }
      if (node.match < 0) node.match = nodes_[static_cast<size_t>(node.fail)].match;
      queue.push_back(child);
      child = node.next_sibling;
    }
  }
}

std::string_view StopMatcher::prefix(int32_t node) const {
  if (node == 0) return {};
  const Node& at = nodes_[static_cast<size_t>(node)];
  return std::string_view(stops_[static_cast<size_t>(at.stop)]).substr(0, static_cast<size_t>(at.depth));
}

bool StopMatcher::push(std::string_view text, std::string& out_emit) {
  if (matched()) return true;
  const std::string_view held = prefix(state_);
  size_t num_read = 0;
  size_t num_kept = 0;  // bytes at the end of held + text[0, num_read) that are not emitted
  while (num_read < text.size() && !matched()) {
    const char byte = text[num_read++];
    int32_t next = find_child(state_, byte);
    while (next == 0 && state_ != 0) {
      state_ = nodes_[static_cast<size_t>(state_)].fail;
      next = find_child(state_, byte);
    }
    state_ = next;
    matched_stop_ = nodes_[static_cast<size_t>(state_)].match;
  }
  if (matched()) {
    num_kept = stops_[static_cast<size_t>(matched_stop_)].size();
  } else {
    num_kept = static_cast<size_t>(nodes_[static_cast<size_t>(state_)].depth);
  }
  const size_t num_emit = held.size() + num_read - num_kept;
  out_emit.append(held.substr(0, std::min(num_emit, held.size())));
  if (num_emit > held.size()) out_emit.append(text.substr(0, num_emit - held.size()));
  return matched();
}

StopPush StopMatcher::push(std::string_view text) {
  StopPush out;
  out.matched = push(text, out.emit);
  return out;
}

std::string StopMatcher::finish() {
  std::string out(matched() ? std::string_view() : prefix(state_));
  state_ = 0;
  matched_stop_ = -1;
  return out;
}

}  // namespace gainz
