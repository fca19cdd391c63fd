// gainz-make-tiny PATH [--type NAME] [--untied] [--seed N] [--template TEXT]: writes the tiny model. Exit 0, 1 (cannot write),
// 2 (wrong usage).
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "support/tiny_model.h"

int main(int argc, char** argv) {
  gainz::test::TinyModelOptions options;
  const char* path = nullptr;
  bool usage_ok = true;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--untied") {
      options.tied = false;
    } else if (argument == "--type" && i + 1 < argc) {
      options.type = argv[++i];
    } else if (argument == "--seed" && i + 1 < argc) {
      options.seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--template" && i + 1 < argc) {
      options.chat_template = argv[++i];
    } else if (path == nullptr && !argument.starts_with("--")) {
      path = argv[i];
    } else {
      usage_ok = false;
    }
  }
  if (!usage_ok || path == nullptr || gainz::test::tiny_model(options).tensors.empty()) {
    std::fprintf(
        stderr,
        "usage: gainz-make-tiny PATH [--type F32|F16|BF16|Q8_0|Q4_0|Q4_1|...] [--untied] [--seed N] [--template TEXT]\n");
    return 2;
  }
  if (gainz::test::write_tiny_model(path, options)) return 0;
  std::perror(path);
  return 1;
}
