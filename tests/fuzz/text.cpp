// SPDX-License-Identifier: Apache-2.0
// The strings of a target. What comes out is valid UTF-8 with one character for each that went in; valid
// UTF-8 and ASCII come out as they are; the beginning of a string gives the beginning of its text.
#include "decode/text.h"

#include "decode/utf8.h"
#include "input.h"

using namespace pyperf;
using namespace pyperf_test;

namespace {

size_t characters(std::string_view text) {
    size_t count = 0;
    for (; !text.empty(); ++count) {
        const Utf8Step step = next_utf8(text);
        require(step.valid, "what comes out is valid UTF-8");
        std::string again;
        append_utf8(again, step.code_point);
        require(text.starts_with(again), "a character is written as it was read");
        text.remove_prefix(step.bytes);
    }
    return count;
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
        require(form && characters(*decoded) == whole.size() / form->char_bytes, "one character for each");
        if (form->ascii) require(*decoded == text, "ASCII stays as it is");
        const auto early = decode_unicode(state, beginning, bits);
        require(early && decoded->starts_with(*early), "the beginning of a str is the beginning of its text");
    }
    const std::string decoded = decode_byte_string(whole, false);
    require(is_utf8(text) ? decoded == text : characters(decoded) == whole.size(), "UTF-8, or else Latin-1");
    const std::string early = decode_byte_string(beginning, true);
    require(is_utf8(early), "what comes out is valid UTF-8");
    if (is_utf8(text))
        require(decoded.starts_with(early), "the beginning of UTF-8 is the beginning of its text");
    return 0;
}
