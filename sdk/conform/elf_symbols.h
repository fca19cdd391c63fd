// The names that a shared object exports, read from its file without running any of its code.
#ifndef GAINZ_SDK_CONFORM_ELF_SYMBOLS_H
#define GAINZ_SDK_CONFORM_ELF_SYMBOLS_H

#include <string>
#include <vector>

namespace gainz::conform {

// Defined global and weak symbols of the dynamic table, rising. Throws std::runtime_error: not a 64-bit ELF shared object.
std::vector<std::string> exported_symbols(const std::string& path);

}  // namespace gainz::conform

#endif
