#include "conform/elf_symbols.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace gainz::conform {
namespace {

// The part of the file; throws where it lies outside.
template <class T>
T read_at(const std::string& file, uint64_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) throw std::runtime_error("the file is cut short");
  T value;
  std::memcpy(&value, file.data() + offset, sizeof value);
  return value;
}

}  // namespace

std::vector<std::string> exported_symbols(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string file((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  const auto header = read_at<Elf64_Ehdr>(file, 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN)
    throw std::runtime_error("it is no 64-bit ELF shared object");
  std::vector<std::string> names;
  for (uint32_t i = 0; i < header.e_shnum; ++i) {
    const auto section = read_at<Elf64_Shdr>(file, header.e_shoff + uint64_t{i} * header.e_shentsize);
    if (section.sh_type != SHT_DYNSYM || section.sh_entsize == 0) continue;
    const auto strings = read_at<Elf64_Shdr>(file, header.e_shoff + uint64_t{section.sh_link} * header.e_shentsize);
    for (uint64_t at = 0; at + section.sh_entsize <= section.sh_size; at += section.sh_entsize) {
      const auto symbol = read_at<Elf64_Sym>(file, section.sh_offset + at);
      const unsigned binding = ELF64_ST_BIND(symbol.st_info);
      const bool is_visible =
          ELF64_ST_VISIBILITY(symbol.st_other) == STV_DEFAULT || ELF64_ST_VISIBILITY(symbol.st_other) == STV_PROTECTED;
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS || binding == STB_LOCAL || !is_visible) continue;
      const uint64_t name = strings.sh_offset + symbol.st_name;
      if (name >= file.size()) throw std::runtime_error("a symbol's name lies outside the file");
      names.emplace_back(file.c_str() + name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace gainz::conform
