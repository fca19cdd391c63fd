// The byte alphabet of byte-level BPE: each byte has a printable character that stands for it in a piece's spelling.
// Source: "Language Models are Unsupervised Multitask Learners" (GPT-2), its encoder. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gainz::byte_level {

uint32_t character_of(uint8_t byte);
std::optional<uint8_t> byte_of(uint32_t code_point);

std::string spell(std::string_view bytes);
// The bytes behind a spelling; a spelling with any character outside the alphabet stands for itself.
void append_unspelled(std::string_view text, std::string& out);

}  // namespace gainz::byte_level
