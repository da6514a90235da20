// SPDX-License-Identifier: Apache-2.0
#include "decode/text.h"

#include <cstring>
#include <string_view>

#include "decode/utf8.h"

namespace pyperf {
namespace {

std::string_view as_chars(std::span<const std::byte> data) {
    return {reinterpret_cast<const char*>(data.data()), data.size()};
}

void append_byte_escape(std::string& out, uint32_t byte) {
    append_utf8(out, replacement_character);
    out.push_back('x');
    append_hex(out, byte, 2);
}

void append_character(std::string& out, uint32_t value) {
    if (value >= 0xdc80 && value <= 0xdcff) {
        append_byte_escape(out, value - 0xdc00);
    } else if (is_surrogate(value)) {
        append_utf8(out, replacement_character);
        out.push_back('u');
        append_hex(out, value, 4);
    } else {
        if (value == replacement_character || value > 0x10ffff) append_utf8(out, replacement_character);
        append_utf8(out, value);
    }
}

template <typename Unit>
std::string utf8_of_units(std::span<const std::byte> data) {
    std::string out;
    out.reserve(data.size());
    for (size_t at = 0; at + sizeof(Unit) <= data.size(); at += sizeof(Unit)) {
        Unit unit;
        std::memcpy(&unit, data.data() + at, sizeof unit);
        append_character(out, unit);
    }
    return out;
}

}  // namespace

UnicodeStateBits unicode_state_bits(const Layout& layout) {
    // 2.7 has none; what is checked for a layout of 3.3 and later (layout_check.cpp) is that it has all
    // three.
    const auto shift = [&layout](std::string_view member) {
        return layout.offset("PyASCIIObject", member).value_or(0);
    };
    return {shift("state.kind_shift"), shift("state.compact_shift"), shift("state.ascii_shift")};
}

Result<UnicodeState> read_unicode_state(uint32_t state, const UnicodeStateBits& bits) {
    UnicodeState read;
    read.char_bytes = (state >> bits.kind_shift) & 7;
    read.ascii = ((state >> bits.ascii_bit) & 1) != 0;
    if (read.char_bytes != 1 && read.char_bytes != 2 && read.char_bytes != 4) {
        return Error{"string of kind " + std::to_string(read.char_bytes) +
                     ", which no str has: the memory changed while it was read, or the layout is wrong"};
    }
    if (((state >> bits.compact_bit) & 1) == 0) {
        return Error{"string is not compact, but names of code objects always are: the layout may be wrong"};
    }
    if (read.ascii && read.char_bytes != 1) {
        return Error{"ASCII string with " + std::to_string(read.char_bytes) +
                     " bytes per character: the memory changed while it was read, or the layout is wrong"};
    }
    return read;
}

Result<std::string> decode_unicode(uint32_t state, std::span<const std::byte> data,
                                   const UnicodeStateBits& bits) {
    const Result<UnicodeState> read = read_unicode_state(state, bits);
    if (!read) return read.error();
    if (read->ascii) {
        for (const std::byte byte : data) {
            if (std::to_integer<uint8_t>(byte) > 0x7f) {
                return Error{
                    "ASCII string with a byte above 127: the memory changed while it was read, or the "
                    "layout is wrong"};
            }
        }
        return std::string(as_chars(data));
    }
    switch (read->char_bytes) {
        case 1:
            return utf8_of_units<uint8_t>(data);
        case 2:
            return utf8_of_units<uint16_t>(data);
        default:
            return utf8_of_units<uint32_t>(data);
    }
}

std::string decode_byte_string(std::span<const std::byte> data, bool cut) {
    std::string_view text = as_chars(data);
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const Utf8Step step = next_utf8(text);
        if (step.cut && cut) break;
        if (step.valid) {
            append_character(out, step.code_point);
        } else {
            append_byte_escape(out, static_cast<uint8_t>(text[0]));
        }
        text.remove_prefix(step.bytes);
    }
    return out;
}

}  // namespace pyperf
