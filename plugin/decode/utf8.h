// SPDX-License-Identifier: Apache-2.0
// UTF-8, one code point at a time: what the text decoder and the escaper are built on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pyperf {

// U+FFFD stands for whatever is no character: lone surrogates, values above U+10FFFF, bytes that are no
// UTF-8.
inline constexpr uint32_t replacement_character = 0xfffd;

struct Utf8Step {
    uint32_t code_point = replacement_character;
    uint32_t bytes = 1;  // to go on by; an invalid byte is stepped over alone
    bool valid = false;
    bool cut = false;  // not valid, but the beginning of a sequence that the end of the text cuts off
};

// The code point at the beginning of `text`, which must not be empty. Strict: no surrogates, no overlong
// forms, nothing above U+10FFFF (The Unicode Standard, table 3-7).
Utf8Step next_utf8(std::string_view text);

bool is_surrogate(uint32_t code_point);

// Appends `code_point` to `out`; U+FFFD for a surrogate or a value above U+10FFFF.
void append_utf8(std::string& out, uint32_t code_point);

// Appends the last `digits` hexadecimal digits of `value`, in lower case.
void append_hex(std::string& out, uint32_t value, int digits);

}  // namespace pyperf
