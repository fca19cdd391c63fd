#include "tokenizer/tokenizer.h"
#include "tokenizer/utf8.h"

namespace gainz {

StreamDecoder::StreamDecoder(std::shared_ptr<const Tokenizer> tokenizer, bool skip_special)
    : tokenizer_(std::move(tokenizer)), skip_special_(skip_special) {}

std::string StreamDecoder::push(int32_t id) {
  std::string out;
  push(id, out);
  return out;
}

void StreamDecoder::push(int32_t id, std::string& out) {
  if (skip_special_ && tokenizer_->is_special(id)) return;
  tokenizer_->append_token_bytes(id, held_);
  std::string_view rest = held_;
  while (!rest.empty()) {
    const size_t num_valid = utf8::valid_prefix(rest);
    out += rest.substr(0, num_valid);
    rest.remove_prefix(num_valid);
    if (rest.empty()) break;
    const utf8::Step step = utf8::decode(rest);
    if (step.truncated) break;
    out += utf8::kReplacement;
    rest.remove_prefix(step.num_bytes);
  }
  held_.erase(0, held_.size() - rest.size());
}

std::string StreamDecoder::finish() {
  std::string out = utf8::repair(held_);
  held_.clear();
  return out;
}

}  // namespace gainz
