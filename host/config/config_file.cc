#include "config/config_file.h"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>

#include "base/text.h"

namespace gainz::host {
namespace {

constexpr std::string_view kSections[] = {"model", "sampling", "server", "log"};

// "a:b" of a file in folder f is "f/a:f/b".
std::string folders_under(std::string_view folder, std::string_view list) {
  std::string out;
  while (!list.empty()) {
    const size_t colon = list.find(':');
    const std::string_view item = list.substr(0, colon);
    if (!out.empty()) out += ':';
    if (!item.empty()) out += path_under(folder, item);
    list = colon == std::string_view::npos ? std::string_view() : list.substr(colon + 1);
  }
  return out;
}

std::optional<Value> scalar_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return Value(text->get());
  if (const auto* integer = node.as_integer()) return Value(integer->get());
  if (const auto* number = node.as_floating_point()) return Value(number->get());
  if (const auto* boolean = node.as_boolean()) return Value(boolean->get());
  return std::nullopt;
}

// {kinds = ["ngram"], depth = 4} as the text of speculation.h; what does not fit in there is left to its parser to refuse.
std::optional<Value> speculation_of(const toml::node& node) {
  const toml::table* table = node.as_table();
  if (table == nullptr) return std::nullopt;
  std::string out;
  const auto add = [&out](std::string_view item) { out += fmt::format("{}{}", out.empty() ? "" : ",", item); };
  for (const auto& [name, item] : *table) {
    const toml::array* list = item.as_array();
    if (name.str() == "kinds" && list != nullptr && !list->empty()) {
      for (const toml::node& kind : *list) add(kind.is_string() ? std::string_view(kind.as_string()->get()) : "kinds");
    } else if (item.is_integer()) {
      add(fmt::format("{}={}", name.str(), item.as_integer()->get()));
    } else {
      add(name.str());
    }
  }
  return Value(out);
}

std::string_view kind_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::string:
      return "a text";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a number";
    case toml::node_type::boolean:
      return "true or false";
    default:
      return "a date or time";
  }
}

class FileReader {
 public:
  FileReader(const std::string& path, Settings& settings) : path_(path), folder_(folder_of(path)), settings_(settings) {}

  Outcome read(const toml::table& root) {
    for (const auto& [name, node] : root) {
      const std::string_view section = name.str();
      if (section == "model") {
        read_models(name, node);
      } else if (std::find(std::begin(kSections), std::end(kSections), section) != std::end(kSections)) {
        read_section(name, node);
      } else if ((node.is_table() || node.is_array_of_tables()) && section != "speculation") {
        unknown_section(name);
      } else {
        read_key("", name, node, [&](size_t key, Setting setting) { settings_.set(key, std::move(setting)); });
      }
    }
    if (mistakes_.empty()) return Done{};
    // A table's order is by name; people read by line.
    std::stable_sort(mistakes_.begin(), mistakes_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::string all;
    for (size_t i = 0; i < std::min(mistakes_.size(), kMaxMistakes); ++i) all += (i == 0 ? "" : "\n") + mistakes_[i].second;
    if (mistakes_.size() > kMaxMistakes)
      all += fmt::format("\n{}: and {} more mistakes", printable(path_), mistakes_.size() - kMaxMistakes);
    return Failure{all};
  }

 private:
  std::string where(const toml::source_region& region) const { return fmt::format("{}:{}", path_, region.begin.line); }
  void mistake(const toml::source_region& region, std::string_view sentence) {
    mistakes_.emplace_back(region.begin.line, fmt::format("{}: {}", printable(where(region)), sentence));
  }

  void unknown_section(const toml::key& name) {
    std::string hint = "; the sections are [[model]], [sampling], [server] and [log]";
    if (const auto near = nearest(name.str(), kSections); !near.empty()) {
      hint = near == "model" ? "; did you mean [[model]]?" : fmt::format("; did you mean [{}]?", near);
    }
    mistake(name.source(), fmt::format("unknown section [{}]{}", printable(name.str()), hint));
  }

  // Why `name` is no key of `section`, with the best guess at what was meant.
  void unknown_key(std::string_view section, const toml::key& name) {
    const auto allowed = [&](const Key& key) {
      return section == "model" ? (key.flags & kInModel) != 0 : key.section == section;
    };
    std::string wanted(name.str());
    std::replace(wanted.begin(), wanted.end(), '-', '_');
    std::vector<std::string_view> names;
    std::string hint;
    for (const Key& key : kSchema) {
      if (allowed(key)) names.push_back(key.name);
      if (key.name == wanted && hint.empty() && !allowed(key)) {
        hint = key.section.empty() ? "; it belongs to the top level, before the first section"
                                   : fmt::format("; it belongs to [{}]", key.section);
      }
    }
    if (section == "model") names.insert(names.end(), {"path", "name"});
    if (section == "" && (wanted == "path" || wanted == "name")) hint = "; it belongs to [[model]]";
    if (std::find(names.begin(), names.end(), wanted) != names.end()) hint = fmt::format("; did you mean \"{}\"?", wanted);
    if (const auto near = nearest(wanted, names); hint.empty() && !near.empty())
      hint = fmt::format("; did you mean \"{}\"?", near);
    const std::string in = section.empty() ? "" : section == "model" ? " in [[model]]" : fmt::format(" in [{}]", section);
    mistake(name.source(), fmt::format("unknown key \"{}\"{}{}", printable(name.str()), in, hint));
  }

  template <class Store>
  void read_key(std::string_view section, const toml::key& name, const toml::node& node, Store store) {
    for (size_t i = 0; i < kNumKeys; ++i) {
      const Key& key = kSchema[i];
      const bool fits = section == "model" ? (key.flags & kInModel) != 0 : key.section == section;
      if (!fits || key.name != name.str()) continue;
      std::optional<Value> scalar = scalar_of(node);
      if (!scalar && (key.flags & kIsSpeculation) != 0) scalar = speculation_of(node);
      if (!scalar)
        return mistake(name.source(),
                       fmt::format("{} must be {}, not {}", dotted_name(key), what_it_must_be(key), kind_of(node)));
      Result<Value> value = check_value(key, *scalar);
      if (!value.ok()) return mistake(name.source(), value.failure().sentence);
      if ((key.flags & kIsFolders) != 0) *value = folders_under(folder_, std::get<std::string>(*value));
      return store(i, Setting{*std::move(value), Source::file, where(name.source())});
    }
    unknown_key(section, name);
  }

  void read_section(const toml::key& section, const toml::node& node) {
    const toml::table* table = node.as_table();
    if (table == nullptr)
      return mistake(section.source(), fmt::format("{0} must be a section [{0}], not {1}", section.str(), kind_of(node)));
    for (const auto& [name, item] : *table) {
      read_key(section.str(), name, item, [&](size_t key, Setting setting) { settings_.set(key, std::move(setting)); });
    }
  }

  void read_models(const toml::key& section, const toml::node& node) {
    const toml::array* list = node.as_array();
    if (list == nullptr || (!list->empty() && !list->is_homogeneous(toml::node_type::table))) {
      return mistake(section.source(), "a model is written as [[model]], with two brackets");
    }
    if (list->size() > kMaxModels) {
      return mistake(section.source(),
                     fmt::format("{} [[model]] sections, more than the limit of {}", list->size(), kMaxModels));
    }
    for (const toml::node& item : *list) read_model(*item.as_table());
  }

  void read_model(const toml::table& table) {
    ModelEntry entry;
    entry.where = where(table.source());
    for (const auto& [name, node] : table) {
      if (name.str() == "path" || name.str() == "name") {
        const auto* text = node.as_string();
        if (text == nullptr || text->get().empty() || text->get().find('\0') != std::string::npos) {
          mistake(name.source(), fmt::format("model.{} must be a text that is not empty", name.str()));
          continue;
        }
        (name.str() == "path" ? entry.path : entry.name) = text->get();
      } else {
        read_key("model", name, node, [&](size_t key, Setting setting) { entry.overrides[key] = std::move(setting); });
      }
    }
    if (!table.contains("path")) mistake(table.source(), "[[model]] has no \"path\"");
    for (const ModelEntry& other : settings_.models) {
      if (!entry.name.empty() && other.name == entry.name) {
        mistake(table.source(), fmt::format("two models have the name \"{}\"", printable(entry.name)));
      }
    }
    settings_.models.push_back(std::move(entry));
  }

  const std::string path_;
  const std::string folder_;
  Settings& settings_;
  std::vector<std::pair<size_t, std::string>> mistakes_;  // by line
};

Outcome check_nesting(std::string_view text, const std::string& path) {
  size_t line_number = 1;
  for (size_t begin = 0; begin < text.size(); ++line_number) {
    const size_t end = std::min(text.find_first_of("\r\n", begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (!line.starts_with('#') && std::count(line.begin(), line.end(), '.') > static_cast<ptrdiff_t>(kMaxDotsInLine)) {
      return Failure{
          fmt::format("{}:{}: more dots in this line than the limit of {}", printable(path), line_number, kMaxDotsInLine)};
    }
    begin = end + (text.substr(end, 2) == "\r\n" ? 2 : 1);
  }
  return Done{};
}

}  // namespace

Outcome parse_config(std::string_view text, const std::string& path, Settings& out_settings) {
  if (Outcome checked = check_nesting(text, path); !checked.ok()) return checked.failure();
  try {
    return FileReader(path, out_settings).read(toml::parse(text, path));
  } catch (const toml::parse_error& error) {
    return Failure{fmt::format("{}:{}: {}", printable(path), error.source().begin.line, printable(error.description()))};
  }
}

Outcome read_config_file(const std::string& path, Settings& out_settings) {
  if (path.empty()) return Failure{"--config needs the path of a file, not an empty text", kExitUsage};
  Result<std::string> text = read_small_file(path, kMaxConfigBytes);
  if (!text.ok()) return Failure{"configuration " + text.failure().sentence};
  out_settings.file = path;
  return parse_config(*text, path, out_settings);
}

}  // namespace gainz::host
