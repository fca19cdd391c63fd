// Runs the real gainz program of this build with the tiny model. Each run has a home of its own, so that nothing of the user's
// counts.
#pragma once

#include <string>
#include <vector>

#include "host/temp_folder.h"

namespace gainz::test {

struct ProgramRun {
  int exit_code;  // 128 + the signal's number if a signal ended it
  std::string out, err;
};

class Program {
 public:
  Program();  // makes the tiny model, tiny.gguf, in the models folder

  ProgramRun run(const std::vector<std::string>& arguments, const std::string& input = "");
  // Sends SIGINT once `needle` has come on either output, and again after each further one that is named.
  ProgramRun run_interrupted(const std::vector<std::string>& arguments, const std::vector<std::string>& needles);

  const TempFolder& folder() const { return folder_; }
  std::string model() const { return folder_.file("models/tiny.gguf"); }
  std::vector<std::string> variables;  // "NAME=value", added to the environment

 private:
  ProgramRun start(const std::vector<std::string>& arguments, const std::string* input,
                   const std::vector<std::string>& needles);
  TempFolder folder_;
};

}  // namespace gainz::test
