// The conformance kit's host, graph maker and runner, for tests of plugins.
#pragma once

#include "conform/harness.h"

namespace gainz::test {

using conform::build_toy;
using conform::Chunk;
using conform::Conversation;
using conform::Device;
using conform::ErrorText;
using conform::GraphBuilder;
using conform::Plugin;
using conform::plugin_path;
using conform::random_tokens;
using conform::relative_error;
using conform::Runner;
using conform::RunnerOptions;
using conform::TestHost;
using conform::ToyShape;

}  // namespace gainz::test
