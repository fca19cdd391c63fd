#include "config/document.h"

#include <fmt/format.h>

#include "config/schema.h"

namespace gainz::host {
namespace {

std::string commented(std::string_view text) {
  std::string out = "# ";
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "# ";
  }
  return out + '\n';
}

std::string range(const Key& key) {
  if (key.type == KeyType::integer || key.type == KeyType::number) return fmt::format(" ({})", what_it_must_be(key));
  return key.choices.empty() ? "" : fmt::format(" ({})", what_it_must_be(key));
}

std::string marks(const Key& key) {
  return fmt::format("{}{}", (key.flags & kInModel) != 0 ? " ¹" : "", (key.flags & kLive) != 0 ? " ²" : "");
}

std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

constexpr std::string_view kHead =
    "# Every setting of gainz with its default; copy what you change to gainz/gainz.toml in your configuration folder "
    "(~/.config), or name\n"
    "# a file with --config. A flag wins over the environment, the environment over this file. The environment's name of a key "
    "is GAINZ_ and\n"
    "# the key in capitals, the section before it: GAINZ_CONTEXT, GAINZ_SAMPLING_TOP_K. `gainz config` shows what is in effect "
    "and why.\n";

constexpr std::string_view kModelPart = R"(
# Models, any number of them. `gainz run` and `gainz bench` take the first one unless -m names another.
# [[model]]
# A GGUF file: a path (relative to this file) or the name of a file in the models folder.
# path = "SmolLM2-135M-Instruct.Q4_1.gguf"
# What -m may call it.
# name = "smol"
# For this model alone, any of:
)";

}  // namespace

std::string example_toml() {
  std::string out(kHead);
  std::string_view section;
  std::string model_keys = "#";
  for (const Key& key : kSchema) {
    if ((key.flags & kInModel) != 0) model_keys += fmt::format(" {},", key.name);
  }
  model_keys.back() = '.';
  for (const Key& key : kSchema) {
    if (key.section != section) {
      if (section.empty()) out += fmt::format("{}{}\n", kModelPart, model_keys);
      section = key.section;
      out += fmt::format("\n[{}]\n", section);
    } else {
      out += section.empty() ? "\n" : "";
    }
    out += commented(std::string(key.doc) + range(key));
    out += fmt::format("{} = {}\n", key.name, toml_value(default_value(key)));
  }
  return out;
}

std::string settings_tables() {
  std::string out;
  std::string_view section = "-";
  for (const Key& key : kSchema) {
    if (key.section != section) {
      section = key.section;
      out += section.empty() ? "### Top level\n\n" : fmt::format("\n### [{}]\n\n", section);
      out += "| key | default | allowed | flag | environment | meaning |\n|---|---|---|---|---|---|\n";
    }
    const std::string flag = key.flag.empty() ? "" : fmt::format("`{}`", key.flag);
    out += fmt::format("| `{}`{} | `{}` | {} | {} | `{}` | {} |\n", key.name, marks(key), toml_value(default_value(key)),
                       one_line(what_it_must_be(key)), flag, environment_name(key), one_line(key.doc));
  }
  return out +
         "\n¹ also in `[[model]]`, for that model alone. ² `gainz serve` takes a new value on SIGHUP, without a restart.\n";
}

}  // namespace gainz::host
