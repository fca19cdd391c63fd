// The settings as documents: the commented TOML of configs/gainz.toml and the tables of docs/configuration.md. A test compares
// both files with these. Pure; any thread.
#pragma once

#include <string>

namespace gainz::host {

std::string example_toml();
std::string settings_tables();  // Markdown

}  // namespace gainz::host
