// SPDX-License-Identifier: Apache-2.0
#include "decode/utf8.h"

#include <string>
#include <string_view>

#include "catch2_header.h"

using namespace pyperf;
using namespace std::string_view_literals;

namespace {

std::string utf8(uint32_t code_point) {
    std::string out;
    append_utf8(out, code_point);
    return out;
}

}  // namespace

TEST_CASE("every character is written and read back, and takes the bytes that it should") {
    uint32_t wrong = 0;
    for (uint32_t code_point = 0; code_point <= 0x10ffff; ++code_point) {
        if (is_surrogate(code_point)) continue;
        const std::string text = utf8(code_point);
        const uint32_t bytes = code_point < 0x80 ? 1 : code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
        // What follows does not change what is read.
        const Utf8Step step = next_utf8(text + "\x80");
        wrong += !step.valid || step.cut || step.code_point != code_point || step.bytes != bytes ||
                 text.size() != bytes;
    }
    CHECK(wrong == 0);
    CHECK(utf8(0xe9) == "\xc3\xa9");
    CHECK(utf8(0x51fd) == "\xe5\x87\xbd");
    CHECK(utf8(0x1f40d) == "\xf0\x9f\x90\x8d");
}

TEST_CASE("what is no character is written as U+FFFD") {
    for (const uint32_t value : {0xd800u, 0xdbffu, 0xdc00u, 0xdfffu, 0x110000u, 0xffffffffu})
        CHECK(utf8(value) == "\xef\xbf\xbd");
    CHECK(utf8(0xd7ff) == "\xed\x9f\xbf");
    CHECK(utf8(0xe000) == "\xee\x80\x80");
    CHECK_FALSE(is_surrogate(0xd7ff));
    CHECK(is_surrogate(0xd800));
    CHECK(is_surrogate(0xdfff));
    CHECK_FALSE(is_surrogate(0xe000));
}

TEST_CASE("a byte that begins no character is stepped over alone") {
    const auto text =
        GENERATE("\x80"sv, "\xbf"sv, "\xff"sv, "\xfe"sv,                              // never begin one
                 "\xc0\xaf"sv, "\xc1\xbf"sv, "\xe0\x9f\xbf"sv, "\xf0\x8f\xbf\xbf"sv,  // overlong
                 "\xed\xa0\x80"sv, "\xed\xbf\xbf"sv,                                  // surrogates
                 "\xf4\x90\x80\x80"sv, "\xf5\x80\x80\x80"sv,                          // above U+10FFFF
                 "\xc3("sv, "\xe2\x82("sv, "\xe2("sv, "\xf0\x9f\x90("sv, "\xc3\xc3\xa9"sv);
    const Utf8Step step = next_utf8(text);
    CHECK_FALSE(step.valid);
    CHECK_FALSE(step.cut);
    CHECK(step.bytes == 1);
    CHECK(step.code_point == replacement_character);
}

TEST_CASE("a sequence that the end of the text cuts off is told from one that is wrong") {
    for (const auto text : {"\xc3"sv, "\xe2"sv, "\xe2\x82"sv, "\xf0"sv, "\xf0\x9f"sv, "\xf0\x9f\x90"sv,
                            "\xed\x9f"sv, "\xf4\x8f\xbf"sv}) {
        const Utf8Step step = next_utf8(text);
        CHECK_FALSE(step.valid);
        CHECK(step.cut);
        CHECK(step.bytes == 1);
    }
    // Nothing that could follow makes a character of these.
    for (const auto text : {"\xed\xa0"sv, "\xe0\x80"sv, "\xf4\x90"sv, "\xc0"sv})
        CHECK_FALSE(next_utf8(text).cut);
}

TEST_CASE("hexadecimal digits have the width that is asked for") {
    std::string out = "x";
    append_hex(out, 0xe9, 2);
    append_hex(out, 0x85, 4);
    append_hex(out, 0x12345, 4);
    CHECK(out == "xe900852345");
}
