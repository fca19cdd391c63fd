// Load: one symbol, a pure and quick query, nonsense refused, versions named, structs of other sizes.
#include <dlfcn.h>

#include <chrono>
#include <cstring>

#include "conform/elf_symbols.h"
#include "conform/guarded.h"
#include "conform/system_state.h"

namespace gainz::conform {
namespace {

gainz_plugin_query_fn query_of(const Trial& trial) {
  void* library = dlopen(trial.subject.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  GAINZ_REQUIRE(library != nullptr, "%s", dlerror());
  void* symbol = dlsym(library, GAINZ_PLUGIN_QUERY_SYMBOL);
  GAINZ_REQUIRE(symbol != nullptr, "there is no " GAINZ_PLUGIN_QUERY_SYMBOL);
  return reinterpret_cast<gainz_plugin_query_fn>(symbol);
}

void one_symbol(Trial& trial) {
  const std::vector<std::string> names = exported_symbols(trial.subject.path);
  GAINZ_REQUIRE(!names.empty(), "it exports nothing; " GAINZ_PLUGIN_QUERY_SYMBOL " is needed");
  for (const std::string& name : names)
    GAINZ_REQUIRE(name == GAINZ_PLUGIN_QUERY_SYMBOL, "it exports %s beside " GAINZ_PLUGIN_QUERY_SYMBOL " (%zu symbols)",
                  name.c_str(), names.size());
}

void pure_query(Trial& trial) {
  const gainz_plugin_query_fn query = query_of(trial);
  const SystemState before;
  const uint64_t allocations = trial.host.num_allocations();
  gainz_plugin first{}, second{};
  first.struct_size = second.struct_size = sizeof first;
  ErrorText error;
  const auto begin = std::chrono::steady_clock::now();
  GAINZ_REQUIRE(query(trial.host.get(), &first, error.get()) == GAINZ_STATUS_OK, "refused: %s", error.text().c_str());
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  GAINZ_REQUIRE(query(trial.host.get(), &second, error.get()) == GAINZ_STATUS_OK, "refused the second time: %s",
                error.text().c_str());
  GAINZ_REQUIRE(ms < 100, "it took %.0f ms; a query starts nothing", ms);
  before.require_same("query");
  GAINZ_REQUIRE(trial.host.num_allocations() == allocations, "it allocates");
  GAINZ_REQUIRE(first.struct_size == sizeof first, "struct_size is %u, in ABI %u.%u it is %zu", first.struct_size,
                GAINZ_ABI_MAJOR, GAINZ_ABI_MINOR, sizeof first);
  GAINZ_REQUIRE(first.abi_major == GAINZ_ABI_MAJOR && first.abi_minor == GAINZ_ABI_MINOR, "it says it was made for ABI %u.%u",
                first.abi_major, first.abi_minor);
  GAINZ_REQUIRE(first.name && first.version && first.vendor, "name, version or vendor is NULL");
  const size_t length = std::strlen(first.name);
  GAINZ_REQUIRE(length >= 1 && length <= 31 && std::strspn(first.name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == length,
                "the name \"%.40s\" is not [a-z0-9_-]{1,31}", first.name);
  GAINZ_REQUIRE(first.device_list && first.device_open, "device_list or device_open is NULL");
  GAINZ_REQUIRE(std::strcmp(first.name, second.name) == 0 && first.device_open == second.device_open,
                "two queries answer differently");
}

void versions(Trial& trial) {
  const gainz_plugin_query_fn query = query_of(trial);
  const std::string own = std::to_string(GAINZ_ABI_MAJOR) + "." + std::to_string(GAINZ_ABI_MINOR);
  const std::pair<uint32_t, uint32_t> others[] = {{GAINZ_ABI_MAJOR, GAINZ_ABI_MINOR + 1},
                                                  {GAINZ_ABI_MAJOR, GAINZ_ABI_MINOR - 1},
                                                  {GAINZ_ABI_MAJOR + 1, 0},
                                                  {0xFFFFFFFFu, 0xCDCDCDCDu}};
  for (const auto& [major, minor] : others) {
    gainz_host host = *trial.host.get();
    host.abi_major = major;
    host.abi_minor = minor;
    gainz_plugin plugin{};
    plugin.struct_size = sizeof plugin;
    ErrorText error;
    const gainz_status status = query(&host, &plugin, error.get());
    const std::string other = std::to_string(major) + "." + std::to_string(minor), text = error.text();
    GAINZ_REQUIRE(status == GAINZ_STATUS_UNSUPPORTED, "a host of ABI %s was answered with status %d instead of UNSUPPORTED",
                  other.c_str(), status);
    GAINZ_REQUIRE(text.find(own) != std::string::npos && text.find(other) != std::string::npos,
                  "the refusal of ABI %s does not name both versions: \"%s\"", other.c_str(), text.c_str());
  }
}

// A host struct cut at a guard page, and longer ones with an end of zeros or not.
void struct_sizes(Trial& trial) {
  const gainz_plugin_query_fn query = query_of(trial);
  ErrorText error;
  const auto ask = [&](const void* host, void* out) {
    return query(static_cast<const gainz_host*>(host), static_cast<gainz_plugin*>(out), error.get());
  };
  for (const uint32_t size :
       {static_cast<uint32_t>(offsetof(gainz_host, get_extension)), static_cast<uint32_t>(sizeof(gainz_host))}) {
    const Guarded host(size), out(sizeof(gainz_plugin));
    Guarded::fill(host.data(), *trial.host.get(), size);
    Guarded::fill(out.data(), gainz_plugin{}, sizeof(gainz_plugin));
    GAINZ_REQUIRE(ask(host.data(), out.data()) == GAINZ_STATUS_OK, "a host struct of %u bytes is refused: %s", size,
                  error.text().c_str());
  }
  for (const bool zero : {true, false}) {
    constexpr uint32_t kLonger = sizeof(gainz_host) + 32;
    const Guarded host(kLonger), out(sizeof(gainz_plugin));
    std::memset(host.data(), 0, kLonger);
    std::memcpy(host.data(), trial.host.get(), sizeof(gainz_host));
    std::memcpy(host.data(), &kLonger, sizeof kLonger);
    if (!zero) static_cast<char*>(host.data())[kLonger - 1] = 1;
    Guarded::fill(out.data(), gainz_plugin{}, sizeof(gainz_plugin));
    const gainz_status status = ask(host.data(), out.data());
    GAINZ_REQUIRE(status == (zero ? GAINZ_STATUS_OK : GAINZ_STATUS_UNSUPPORTED),
                  "a longer host struct whose end is %s is answered with status %d", zero ? "zero" : "not zero", status);
  }
  // A host that can take less: nothing is written beyond it.
  const uint32_t less = offsetof(gainz_plugin, get_extension);
  const Guarded out(less);
  std::memset(out.data(), 0, less);
  std::memcpy(out.data(), &less, sizeof less);
  GAINZ_REQUIRE(ask(trial.host.get(), out.data()) == GAINZ_STATUS_OK, "a table of %u bytes is refused: %s", less,
                error.text().c_str());
}

void devices(Trial& trial) {
  const Plugin plugin(trial.host, trial.subject.path);
  const gainz_plugin& table = plugin.table();
  ErrorText error;
  uint32_t count = 0;
  GAINZ_REQUIRE(
      table.device_list(trial.host.get(), nullptr, sizeof(gainz_device_desc), 0, &count, error.get()) == GAINZ_STATUS_OK,
      "device_list: %s", error.text().c_str());
  GAINZ_REQUIRE(count >= 1, "it lists no device on this machine");
  GAINZ_REQUIRE(count <= GAINZ_MAX_DEVICES, "it lists %u devices, at most %u count", count, GAINZ_MAX_DEVICES);
  // A wider stride, room for one alone, and a guard page behind it.
  const size_t stride = sizeof(gainz_device_desc) + 24;
  const Guarded memory(stride);
  std::memset(memory.data(), 0, stride);
  auto* desc = static_cast<gainz_device_desc*>(memory.data());
  desc->struct_size = sizeof *desc;
  GAINZ_REQUIRE(table.device_list(trial.host.get(), desc, stride, 1, &count, error.get()) == GAINZ_STATUS_OK, "device_list: %s",
                error.text().c_str());
  GAINZ_REQUIRE(desc->name && desc->isa && desc->identity && *desc->identity, "the device has no name, isa or identity");
  GAINZ_REQUIRE(desc->kind >= GAINZ_DEVICE_CPU && desc->kind <= GAINZ_DEVICE_ACCELERATOR, "kind %u is unknown", desc->kind);
  GAINZ_REQUIRE((desc->flags & ~7u) == 0, "flags has unknown bits: %u", desc->flags);
  GAINZ_REQUIRE(desc->free_bytes <= desc->memory_bytes || desc->memory_bytes == 0, "more memory is free than there is");
}

void nonsense(Trial& trial) {
  const Plugin plugin(trial.host, trial.subject.path);
  const gainz_plugin& table = plugin.table();
  ErrorText error;
  gainz_device_api api{};
  api.struct_size = sizeof api;
  gainz_device* device = nullptr;
  for (const uint32_t index : {1000000u, UINT32_MAX}) {
    const gainz_status status =
        table.device_open(trial.host.get(), index, nullptr, sizeof(gainz_option), 0, &api, &device, error.get());
    GAINZ_REQUIRE(status != GAINZ_STATUS_OK, "device %u can be opened", index);
    GAINZ_REQUIRE(!error.text().empty(), "the refusal of device %u has no sentence", index);
  }
  for (const auto& [key, value] : {std::pair{"no-such-option", "1"}, std::pair{"", ""}}) {
    const gainz_option option{sizeof option, 0, key, value};
    const gainz_status status =
        table.device_open(trial.host.get(), trial.subject.device, &option, sizeof option, 1, &api, &device, error.get());
    GAINZ_REQUIRE(status == GAINZ_STATUS_INVALID, "the unknown option \"%s\" is answered with status %d instead of INVALID",
                  key, status);
  }
  if (table.get_extension)
    GAINZ_REQUIRE(table.get_extension("no.such.extension", 1) == nullptr, "an extension that nobody knows is there");
  const Device good(plugin, trial.subject.options, trial.subject.device);
  if (good->get_extension)
    GAINZ_REQUIRE(good->get_extension(good.get(), "no.such.extension", 1) == nullptr,
                  "an extension that nobody knows is there");
  // No buffer for the sentence.
  GAINZ_REQUIRE(
      table.device_open(trial.host.get(), 1000000, nullptr, sizeof(gainz_option), 0, &api, &device, nullptr) != GAINZ_STATUS_OK,
      "device 1000000 can be opened");
  char one[1] = {'x'};
  gainz_error tiny{sizeof tiny, 1, one};
  GAINZ_REQUIRE(
      table.device_open(trial.host.get(), 1000000, nullptr, sizeof(gainz_option), 0, &api, &device, &tiny) != GAINZ_STATUS_OK &&
          one[0] == 0,
      "a sentence of one byte is not its end");
}

// Every required function of the device is there; a graph with a longer struct whose end is not zero is refused.
void device_table(Trial& trial) {
  const Plugin plugin(trial.host, trial.subject.path);
  const Device device(plugin, trial.subject.options, trial.subject.device);
  const gainz_device_api& a = *device.operator->();
  GAINZ_REQUIRE(a.close && a.describe && a.model_claim && a.model_create && a.model_destroy && a.model_memory && a.kv_create &&
                    a.kv_destroy && a.kv_copy_pages && a.kv_export_page && a.kv_import_page && a.program_create &&
                    a.program_destroy && a.program_describe && a.run && a.poll && a.wait,
                "a required function is NULL");
  GraphBuilder graph;
  build_toy(&graph);
  struct Longer {
    gainz_graph base;
    uint64_t more[2];
  } longer{*graph.graph(), {0, 0}};
  longer.base.struct_size = sizeof longer;
  std::vector<uint8_t> claims(graph.nodes().size());
  ErrorText error;
  const gainz_status plain = a.model_claim(device.get(), graph.graph(), claims.data(), error.get());  // of few ops: UNSUPPORTED
  GAINZ_REQUIRE(a.model_claim(device.get(), &longer.base, claims.data(), error.get()) == plain,
                "a longer graph struct that ends with zeros is not read as the shorter one: %s", error.text().c_str());
  longer.more[1] = 1;
  const gainz_status status = a.model_claim(device.get(), &longer.base, claims.data(), error.get());
  GAINZ_REQUIRE(status == GAINZ_STATUS_UNSUPPORTED,
                "a longer graph struct whose end is not zero is answered with status %d instead of UNSUPPORTED", status);
}

}  // namespace

void add_load_tests(std::vector<Test>& tests) {
  tests.push_back({"load.one_symbol", "the library exports the query function and nothing else", one_symbol});
  tests.push_back(
      {"load.pure_query", "the query is quick, allocates nothing, starts nothing and always answers the same", pure_query});
  tests.push_back({"load.versions", "hosts of other ABI versions are refused with both versions named", versions});
  tests.push_back({"load.struct_sizes", "shorter and longer structs are read as abi.h says, not a byte further", struct_sizes});
  tests.push_back({"load.devices", "devices are listed with what they are, whatever the stride", devices});
  tests.push_back({"load.nonsense", "indices, options and extensions that do not exist are refused with a sentence", nonsense});
  tests.push_back({"load.device_table", "the device's table is whole, and unknown ends of structs are refused", device_table});
}

}  // namespace gainz::conform
