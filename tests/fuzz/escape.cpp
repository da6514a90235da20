// SPDX-License-Identifier: Apache-2.0
// Names and paths on their way into a line of text. The result is valid UTF-8 without controls, line ends and
// marks that change the order of text (and without ';' in a folded stack), and read back it is what went in.
#include "decode/escape.h"

#include <charconv>
#include <optional>

#include "decode/utf8.h"
#include "input.h"

using namespace pyperf;
using namespace pyperf_test;

namespace {

uint32_t hex(std::string_view digits) {
    uint32_t value = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    require(parsed.ptr == digits.data() + digits.size() && !digits.empty(), "an escape has its hex digits");
    return value;
}

// As escape.h describes it.
std::string unescaped(std::string_view line) {
    std::string text;
    while (!line.empty()) {
        const size_t plain = std::min(line.find('\\'), line.size());
        text.append(line.substr(0, plain));
        line.remove_prefix(plain);
        if (line.empty()) break;
        require(line.size() >= 2, "a backslash begins an escape");
        const size_t known = std::string_view("\\ntr").find(line[1]);
        const size_t digits = known != std::string_view::npos ? 0 : line[1] == 'x' ? 2 : 4;
        require(digits != 4 || line[1] == 'u', "an escape is one of those that are described");
        require(line.size() >= 2 + digits, "an escape is whole");
        if (digits == 0) text += "\\\n\t\r"[known];
        if (digits == 2) text += static_cast<char>(hex(line.substr(2, 2)));
        if (digits == 4) append_utf8(text, hex(line.substr(2, 4)));
        line.remove_prefix(2 + digits);
    }
    return text;
}

bool is_harmless(uint32_t point) {
    const auto in = [&](uint32_t first, uint32_t last) { return point >= first && point <= last; };
    return point >= 0x20 && !in(0x7f, 0x9f) && point != 0x61c && !in(0x200e, 0x200f) && !in(0x2028, 0x202e) &&
           !in(0x2066, 0x2069);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text = Input(data, size).text();
    for (const Semicolon semicolon : {Semicolon::keep, Semicolon::escape}) {
        const std::string line = escape_for_line(text, semicolon);
        require(is_utf8(line), "a line is valid UTF-8");
        for (std::string_view rest = line; !rest.empty(); rest.remove_prefix(next_utf8(rest).bytes))
            require(is_harmless(next_utf8(rest).code_point), "nothing breaks a line or a terminal");
        require(semicolon == Semicolon::keep || line.find(';') == std::string::npos,
                "no ';' in a folded stack");
        require(unescaped(line) == text, "a line reads back as what went in");
    }
    return 0;
}
