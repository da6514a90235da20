// SPDX-License-Identifier: Apache-2.0
// Names and paths are data of a target: before one becomes a part of a line of text, whatever could break the
// line or the terminal is spelled out.
#pragma once

#include <string>
#include <string_view>

namespace pyperf {

enum class Semicolon {
    keep,
    escape,  // as \x3b, for folded stacks
};

// `text` (UTF-8, but anything is taken) fit for one line. Reversible: every backslash of the result begins
// one of
//   \\  \n  \t  \r      what they say
//   \xNN                this byte: other C0 controls, DEL, `;` where asked for, and bytes that are no UTF-8
//   \uNNNN              this code point: C1 controls, line and paragraph separators, bidirectional controls
// Everything else stays as it is, so the result is valid UTF-8.
std::string escape_for_line(std::string_view text, Semicolon semicolon = Semicolon::keep);

// The same for a target's string as text.h gives it, whose own escapes become
//   \xNN                this byte, which is no UTF-8
//   \uNNNN              this lone surrogate
std::string escape_string_for_line(std::string_view text, Semicolon semicolon = Semicolon::keep);

}  // namespace pyperf
