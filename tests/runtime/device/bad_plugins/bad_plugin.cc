// Plugins that misbehave, one mode each, chosen by a compile definition GAINZ_BAD_<MODE> (see CMakeLists.txt). Modes of loading
// are written by hand here; modes of running (GAINZ_BAD_RUNNING) wrap the reference backend and read the environment when a
// device is opened: GAINZ_TEST_FAULT = "function:number:fault" lets the number-th call of that function end in the fault.
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "gainz/sdk/sdk.h"

namespace {

[[maybe_unused]] gainz_status say(gainz_error* error, const char* text, gainz_status code) {
  if (error && error->text && error->text_capacity > std::strlen(text)) std::strcpy(error->text, text);
  return code;
}

[[maybe_unused]] void fill(gainz_device_desc* desc) {
  *desc = {};
  desc->struct_size = sizeof *desc;
  desc->kind = GAINZ_DEVICE_CPU;
  desc->kv_types = 3;
  desc->name = "bad";
  desc->isa = "none";
  desc->identity = "bad";
}

[[maybe_unused]] gainz_status list(const gainz_host*, gainz_device_desc* out, uint64_t, uint32_t capacity, uint32_t* out_count,
                                   gainz_error* error) {
  *out_count = 1;
  if (capacity == 0) return say(error, "", GAINZ_STATUS_OK);
  fill(out);
#if defined(GAINZ_BAD_LIST_THROWS)
  throw std::runtime_error("thrown while listing");
#elif defined(GAINZ_BAD_LIST_THROWS_A_NUMBER)
  throw 7;
#elif defined(GAINZ_BAD_LIST_FAILS)
  return say(error, "no driver\nis installed", GAINZ_STATUS_UNSUPPORTED);
#elif defined(GAINZ_BAD_NO_DEVICES)
  *out_count = 0;
#elif defined(GAINZ_BAD_MILLION_DEVICES)
  *out_count = 1000000;
#elif defined(GAINZ_BAD_NULL_NAMES)
  out->name = out->isa = out->identity = nullptr;
#elif defined(GAINZ_BAD_NEGATIVE_MEMORY)
  out->memory_bytes = uint64_t(-1);
#elif defined(GAINZ_BAD_MORE_FREE_THAN_THERE_IS)
  out->memory_bytes = 1000, out->free_bytes = 1001;
#elif defined(GAINZ_BAD_UNKNOWN_KIND)
  out->kind = 77;
#elif defined(GAINZ_BAD_UNFILLED)
  std::memset(out, 0, sizeof *out);
#elif defined(GAINZ_BAD_UNKNOWN_STATUS)
  return say(error, "what is this", -12345);
#elif defined(GAINZ_BAD_UNENDED_TEXT)
  std::memset(error->text, 'e', error->text_capacity);
  return GAINZ_STATUS_INTERNAL;
#elif defined(GAINZ_BAD_LONG_TEXT)
  std::memset(error->text, 'l', error->text_capacity + 300);  // beyond its room
  return GAINZ_STATUS_INTERNAL;
#elif defined(GAINZ_BAD_DIRTY_TEXT)
  return say(error, "line\n\x01\xFF\xC3 \xC3\xA9", GAINZ_STATUS_INTERNAL);
#elif defined(GAINZ_BAD_DIRTY_NAME)
  out->name = "two\nlines\xFF";
#endif
  return GAINZ_STATUS_OK;
}

[[maybe_unused]] gainz_status open(const gainz_host*, uint32_t, const gainz_option*, uint64_t, uint32_t,
                                   [[maybe_unused]] gainz_device_api* api, [[maybe_unused]] gainz_device** out_device,
                                   [[maybe_unused]] gainz_error* error) {
#if defined(GAINZ_BAD_OPEN_THROWS)
  throw std::runtime_error("thrown while opening");
#elif defined(GAINZ_BAD_NULL_DEVICE)
  api->struct_size = sizeof *api;
  *out_device = nullptr;
  return GAINZ_STATUS_OK;
#elif defined(GAINZ_BAD_NULL_ENTRIES)
  const uint32_t size = sizeof *api;
  std::memset(api, 0, size);
  api->struct_size = size;
  *out_device = reinterpret_cast<gainz_device*>(api);
  return GAINZ_STATUS_OK;
#elif defined(GAINZ_BAD_API_SIZE)
  api->struct_size = 8;
  *out_device = reinterpret_cast<gainz_device*>(api);
  return GAINZ_STATUS_OK;
#else
  return say(error, "this plugin opens nothing", GAINZ_STATUS_UNSUPPORTED);
#endif
}

}  // namespace

#if defined(GAINZ_BAD_UNDEFINED_SYMBOL)
extern "C" void gainz_test_function_of_a_driver_that_is_not_there(void);
#endif

#if defined(GAINZ_BAD_NO_SYMBOL)
extern "C" GAINZ_SDK_EXPORT int gainz_plugin_query_v7(void) { return 0; }
#else
extern "C" GAINZ_SDK_EXPORT gainz_status gainz_plugin_query_v0(const gainz_host*, gainz_plugin* out, gainz_error* error) {
  const uint32_t room = out->struct_size;
  gainz_plugin plugin{};
  plugin.struct_size = sizeof plugin;
  plugin.abi_major = GAINZ_ABI_MAJOR;
  plugin.abi_minor = GAINZ_ABI_MINOR;
  plugin.name = GAINZ_BAD_NAME;
  plugin.version = "1";
  plugin.vendor = "tests";
  plugin.device_list = list;
  plugin.device_open = open;
#if defined(GAINZ_BAD_UNDEFINED_SYMBOL)
  gainz_test_function_of_a_driver_that_is_not_there();
#elif defined(GAINZ_BAD_MAJOR_ABOVE)
  plugin.abi_major = GAINZ_ABI_MAJOR + 1;
#elif defined(GAINZ_BAD_MAJOR_BELOW)
  plugin.abi_major = GAINZ_ABI_MAJOR - 1u;
#elif defined(GAINZ_BAD_MINOR_ABOVE)
  plugin.abi_minor = GAINZ_ABI_MINOR + 1;
#elif defined(GAINZ_BAD_VERSION_UNSET)
  plugin.abi_major = plugin.abi_minor = 0xCDCDCDCD;
#elif defined(GAINZ_BAD_SIZE_ABSURD)
  plugin.struct_size = 0xFFFFFFF0;
#elif defined(GAINZ_BAD_SIZE_ZERO)
  plugin.struct_size = 0;
#elif defined(GAINZ_BAD_QUERY_THROWS)
  throw std::runtime_error("thrown in query");
#elif defined(GAINZ_BAD_QUERY_REFUSES)
  return say(error, "this machine has no such thing", GAINZ_STATUS_UNSUPPORTED);
#elif defined(GAINZ_BAD_NULL_NAME)
  plugin.name = nullptr;
#elif defined(GAINZ_BAD_ODD_NAME)
  plugin.name = "../Evil Name";
#elif defined(GAINZ_BAD_NULL_FUNCTIONS)
  plugin.device_list = nullptr;
#elif defined(GAINZ_BAD_NOTHING_FILLED)
  return say(error, "", GAINZ_STATUS_OK);
#endif
  std::memcpy(out, &plugin, room < sizeof plugin ? room : sizeof plugin);
  return say(error, "", GAINZ_STATUS_OK);
}
#endif
