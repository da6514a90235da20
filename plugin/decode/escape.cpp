// SPDX-License-Identifier: Apache-2.0
#include "decode/escape.h"

#include <cstdint>

#include "decode/utf8.h"

namespace pyperf {
namespace {

// Code points that are valid UTF-8 and still change where a line ends or in which order it is shown. U+061C
// is the one bidirectional control outside the General Punctuation block (Unicode, Bidi_Control property).
bool breaks_a_line(uint32_t code_point) {
    const auto in = [&](uint32_t first, uint32_t last) { return code_point >= first && code_point <= last; };
    return in(0x80, 0x9f) || code_point == 0x61c || in(0x200e, 0x200f) || in(0x2028, 0x2029) ||
           in(0x202a, 0x202e) || in(0x2066, 0x2069);
}

void append_escaped(std::string& out, uint32_t code_point, Semicolon semicolon) {
    switch (code_point) {
        case '\\':
            out += "\\\\";
            return;
        case '\n':
            out += "\\n";
            return;
        case '\t':
            out += "\\t";
            return;
        case '\r':
            out += "\\r";
            return;
        default:
            break;
    }
    const bool control = code_point < 0x20 || code_point == 0x7f;
    if (control || (code_point == ';' && semicolon == Semicolon::escape)) {
        out += "\\x";
        append_hex(out, code_point, 2);
    } else if (breaks_a_line(code_point)) {
        out += "\\u";
        append_hex(out, code_point, 4);
    } else {
        append_utf8(out, code_point);
    }
}

// Appends what is at the beginning of `text`, and takes it off.
void take_escaped(std::string& out, std::string_view& text, Semicolon semicolon) {
    const Utf8Step step = next_utf8(text);
    if (step.valid) {
        append_escaped(out, step.code_point, semicolon);
    } else {
        out += "\\x";
        append_hex(out, static_cast<uint8_t>(text[0]), 2);
    }
    text.remove_prefix(step.bytes);
}

bool is_hex(std::string_view digits, size_t count) {
    return digits.size() == count && digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// How long an escape of text.h is that begins with this letter, without its U+FFFD; 0: none does.
size_t escape_length(char letter) {
    return letter == 'x' ? 3 : letter == 'u' ? 5 : 0;
}

}  // namespace

std::string escape_for_line(std::string_view text, Semicolon semicolon) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) take_escaped(out, text, semicolon);
    return out;
}

std::string escape_string_for_line(std::string_view text, Semicolon semicolon) {
    constexpr std::string_view mark = "\xef\xbf\xbd";
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        if (text.starts_with(mark)) {
            const std::string_view behind = text.substr(mark.size());
            const size_t length = behind.empty() ? 0 : escape_length(behind[0]);
            if (length > 0 && is_hex(behind.substr(1, length - 1), length - 1)) {
                out += '\\';
                out += behind.substr(0, length);
                text = behind.substr(length);
                continue;
            }
            // One that is doubled, else (no string has it so) one as it is.
            if (behind.starts_with(mark)) text = behind;
        }
        take_escaped(out, text, semicolon);
    }
    return out;
}

}  // namespace pyperf
