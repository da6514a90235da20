// SPDX-License-Identifier: Apache-2.0
// The strings of a target. What comes out is valid UTF-8 with one character, or one escape of text.h, for
// each that went in; a byte string reads back as its bytes, ASCII comes out as it is, and the beginning of a
// string gives the beginning of its text.
#include "decode/text.h"

#include "decode/utf8.h"
#include "input.h"

using namespace pyperf;
using namespace pyperf_test;

namespace {

struct ReadBack {
    size_t characters = 0;
    std::string bytes;  // what a byte string was
};

// U+FFFD begins an escape: another one, "xNN" or "uNNNN".
ReadBack read_back(std::string_view text) {
    constexpr std::string_view mark = "\xef\xbf\xbd";
    ReadBack read;
    for (; !text.empty(); ++read.characters) {
        const Utf8Step step = next_utf8(text);
        require(step.valid, "what comes out is valid UTF-8");
        std::string character(text.substr(0, step.bytes));
        text.remove_prefix(step.bytes);
        if (character == mark && text.starts_with(mark)) {
            text.remove_prefix(mark.size());
        } else if (character == mark) {
            const size_t digits = text.starts_with('x') ? 2 : 4;
            require(text.size() > digits && (text[0] == 'x' || text[0] == 'u'), "an escape is whole");
            const std::string number(text.substr(1, digits));
            character = static_cast<char>(std::strtoul(number.c_str(), nullptr, 16));
            text.remove_prefix(1 + digits);
        }
        read.bytes += character;
    }
    return read;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Input input(data, size);
    const auto state = input.take<uint32_t>();
    const bool wide_interned = (input.take<uint8_t>() & 1) != 0;
    const size_t cut = input.take<uint8_t>();
    const std::string_view text = input.text();
    const auto whole = std::as_bytes(input.rest());
    const auto beginning = whole.first(std::min(cut, whole.size()));

    const UnicodeStateBits bits = wide_interned ? UnicodeStateBits{8, 11, 12} : UnicodeStateBits{2, 5, 6};
    if (const auto decoded = decode_unicode(state, whole, bits)) {
        const auto form = read_unicode_state(state, bits);
        require(form && read_back(*decoded).characters == whole.size() / form->char_bytes,
                "one character for each");
        if (form->ascii) require(*decoded == text, "ASCII stays as it is");
        const auto early = decode_unicode(state, beginning, bits);
        require(early && decoded->starts_with(*early), "the beginning of a str is the beginning of its text");
    }
    const std::string decoded = decode_byte_string(whole, false);
    require(read_back(decoded).bytes == text, "a byte string reads back as its bytes");
    const std::string early = decode_byte_string(beginning, true);
    require(is_utf8(early), "what comes out is valid UTF-8");
    if (is_utf8(text))
        require(decoded.starts_with(early), "the beginning of UTF-8 is the beginning of its text");
    return 0;
}
