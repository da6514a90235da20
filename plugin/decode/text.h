// SPDX-License-Identifier: Apache-2.0
// The strings of a target (names, file names) as UTF-8. What comes in was read from another process's memory
// and may be anything; what goes out is always valid UTF-8, and different strings stay different. For what is
// no character U+FFFD begins an escape:
//   U+FFFD U+FFFD    the character U+FFFD itself
//   U+FFFD xNN       this byte, which is no UTF-8; a str has it as a surrogate U+DC80 - U+DCFF (PEP 383)
//   U+FFFD uNNNN     another lone surrogate
// A backslash could not do that: names may have backslashes, and most that have them are readable as they
// are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "layout/layout.h"
#include "result.h"

namespace pyperf {

// Where the fields lie in the `state` word of a PyASCIIObject (a u32, native byte order).
struct UnicodeStateBits {
    uint32_t kind_shift = 0;  // 3 bits: bytes per character
    uint32_t compact_bit = 0;
    uint32_t ascii_bit = 0;
};

// The positions that the interpreters of `layout` use.
UnicodeStateBits unicode_state_bits(const Layout& layout);

struct UnicodeState {
    uint32_t char_bytes = 1;  // 1, 2 or 4
    bool ascii = false;
};

// Reads a state word. Fails for one that no code object's name can have: a kind other than 1, 2, 4, not
// compact, or ASCII with more than one byte a character.
Result<UnicodeState> read_unicode_state(uint32_t state, const UnicodeStateBits& bits);

// The characters of a str as UTF-8. `data` holds them as they lie in the target (Latin-1, UCS-2 or UCS-4,
// native byte order); an incomplete character at the end is left off. Values above U+10FFFF, which no str
// has, become the character U+FFFD. Fails where read_unicode_state does, and for bytes above 127 in a str
// that says it is ASCII.
Result<std::string> decode_unicode(uint32_t state, std::span<const std::byte> data,
                                   const UnicodeStateBits& bits);

// A byte string (2.7's str, a type's tp_name). `cut`: `data` is only the beginning of the string, so a
// sequence that its end cuts off is left off.
std::string decode_byte_string(std::span<const std::byte> data, bool cut);

}  // namespace pyperf
