// What the command line says, as plain data. Filled by parse.cc, read by the commands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "config/settings.h"

namespace gainz::host {

struct RunOptions {
  std::optional<std::string> prompt;
  std::optional<std::string> system;
  bool raw = false;
  bool parse_special = false;
  std::vector<std::pair<int32_t, float>> logit_bias;
  std::vector<std::string> stop;
  std::vector<int32_t> stop_token_ids;
  std::optional<uint64_t> seed;
  bool ignore_eos = false;
  int32_t logprobs = -1;  // number of alternatives; -1: none
};

struct BenchOptions {
  uint32_t prompt_tokens = 512;
  uint32_t decode_tokens = 128;
  std::vector<uint32_t> streams = {1, 4, 16};
  std::vector<uint32_t> depths = {0};
  uint32_t num_repeats = 3;
  std::string baseline, plot;
  double band = 0.10;
};

struct ServeOptions {
  std::optional<std::string> name;  // of the one model
};

struct BatchOptions {
  std::optional<std::string> name;  // of the one model
  std::string input, output;
  std::string failures;  // "": beside the output
  uint32_t num_retries = 2;
  uint32_t timeout_seconds = 0;  // 0: none
};

struct Options {
  std::string command;
  Environment environment;
  std::optional<std::string> config_path;
  std::vector<FlagValue> flags;
  std::optional<std::string> model;  // -m, or the file of inspect, or the name of pull
  bool json = false;
  bool example = false;  // config
  RunOptions run;
  BenchOptions bench;
  ServeOptions serve;
  BatchOptions batch;
};

}  // namespace gainz::host
