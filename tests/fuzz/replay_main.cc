// Replays every file of the given folders through a fuzz target, in the order of their names. Exit 0; 1 where a folder is
// missing or holds no file. The target itself fails by a signal, as under libFuzzer.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

// The number of files that were replayed; -1 where the folder or a file cannot be read.
int replay(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->is_regular_file()) files.push_back(it->path());
  }
  if (error) {
    std::fprintf(stderr, "%s: %s\n", folder.c_str(), error.message().c_str());
    return -1;
  }
  std::sort(files.begin(), files.end());
  for (const auto& path : files) {
    std::ifstream in(path, std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), {});
    if (!in.good() && !in.eof()) {
      std::fprintf(stderr, "%s: cannot be read\n", path.c_str());
      return -1;
    }
    std::fprintf(stderr, "%s: %zu bytes\n", path.c_str(), bytes.size());
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  }
  return static_cast<int>(files.size());
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const int num_files = replay(argv[i]);
    if (num_files < 0) return 1;
    if (num_files == 0) {
      std::fprintf(stderr, "%s: the corpus is empty\n", argv[i]);
      return 1;
    }
  }
  if (argc < 2) std::fprintf(stderr, "usage: %s CORPUS_FOLDER...\n", argv[0]);
  return argc < 2 ? 2 : 0;
}
