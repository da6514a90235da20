// SPDX-License-Identifier: Apache-2.0
#include "decode/escape.h"

#include <cctype>
#include <random>
#include <string>
#include <string_view>

#include "catch2_header.h"
#include "decode/utf8.h"

using namespace pyperf;
using namespace std::string_literals;

namespace {

// What the header says of the escapes, read the other way. Fails the test for a backslash that begins none.
std::string unescape(std::string_view text) {
    std::string out;
    for (size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '\\') {
            out += text[at];
            continue;
        }
        REQUIRE(at + 1 < text.size());
        const char kind = text[++at];
        const size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : 0;
        if (digits == 0) {
            const size_t which = std::string_view("\\ntr").find(kind);
            REQUIRE(which != std::string_view::npos);
            out += "\\\n\t\r"[which];
            continue;
        }
        const std::string hex(text.substr(at + 1, digits));
        REQUIRE(hex.size() == digits);
        REQUIRE(hex.find_first_not_of("0123456789abcdef") == std::string::npos);
        const auto value = static_cast<uint32_t>(std::stoul(hex, nullptr, 16));
        if (kind == 'x') {
            out += static_cast<char>(value);
        } else {
            append_utf8(out, value);
        }
        at += digits;
    }
    return out;
}

// One line that no terminal obeys, and valid UTF-8.
bool is_one_plain_line(std::string_view text) {
    while (!text.empty()) {
        const Utf8Step step = next_utf8(text);
        const uint32_t c = step.code_point;
        if (!step.valid || c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x2028 || c == 0x2029) return false;
        text.remove_prefix(step.bytes);
    }
    return true;
}

std::string utf8(uint32_t code_point) {
    std::string out;
    append_utf8(out, code_point);
    return out;
}

}  // namespace

TEST_CASE("what can break a line or a terminal is spelled out") {
    CHECK(escape_for_line("a\nb\tc\rd") == "a\\nb\\tc\\rd");
    CHECK(escape_for_line("C:\\new") == "C:\\\\new");
    CHECK(escape_for_line("\x1b[31mred\x1b[0m\x07\x7f") == "\\x1b[31mred\\x1b[0m\\x07\\x7f");
    CHECK(escape_for_line("nul\0inside"s) == "nul\\x00inside");
    CHECK(escape_for_line("c1 \xc2\x85\xc2\x9b") == "c1 \\u0085\\u009b");
    CHECK(escape_for_line("\xe2\x80\xa8\xe2\x80\xa9") == "\\u2028\\u2029");
    CHECK(escape_for_line("").empty());
}

TEST_CASE("every bidirectional control is spelled out, and its neighbours are not") {
    // Bidi_Control in The Unicode Standard's PropList.txt.
    for (uint32_t code_point = 0x80; code_point <= 0x10ffff; ++code_point) {
        if (is_surrogate(code_point)) continue;
        const bool bidirectional = code_point == 0x61c || code_point == 0x200e || code_point == 0x200f ||
                                   (code_point >= 0x202a && code_point <= 0x202e) ||
                                   (code_point >= 0x2066 && code_point <= 0x2069);
        const bool breaks = code_point <= 0x9f || code_point == 0x2028 || code_point == 0x2029;
        const bool escaped = escape_for_line(utf8(code_point)) != utf8(code_point);
        if (escaped != (bidirectional || breaks)) FAIL("U+" << std::hex << code_point);
    }
}

TEST_CASE("what is harmless stays as it is") {
    for (const std::string text : {" ~!\"'#$%&()*+,-./:<=>?@[]^_`{|}", "n <module> (/a b:1)", "caf\xc3\xa9",
                                   "\xe5\x87\xbd\xe6\x95\xb0", "\xf0\x9f\x90\x8d", "\xef\xbf\xbd"})
        CHECK(escape_for_line(text) == text);
}

TEST_CASE("a semicolon is spelled out only where it parts frames") {
    CHECK(escape_for_line("a;b") == "a;b");
    CHECK(escape_for_line("a;b", Semicolon::escape) == "a\\x3bb");
    CHECK(escape_string_for_line("a;b") == "a;b");
    CHECK(escape_string_for_line("a;b", Semicolon::escape) == "a\\x3bb");
}

TEST_CASE("bytes that are no UTF-8 are spelled out one by one") {
    CHECK(escape_for_line("caf\xe9") == "caf\\xe9");
    CHECK(escape_for_line("\xff\xc3\xa9\x80") == "\\xff\xc3\xa9\\x80");
    CHECK(escape_for_line("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // a surrogate
    CHECK(escape_for_line("\xc0\xbb") == "\\xc0\\xbb");           // an overlong semicolon
    CHECK(escape_for_line("\xe2\x80") == "\\xe2\\x80");           // cut off
}

TEST_CASE("whatever comes in, one plain line comes out, and it can be read back") {
    std::mt19937 random(1);
    const std::string pieces[] = {
        "\\",   "x41",      "u0041", "\n",           ";", "\x1b", "\xc2",
        "\x85", "\xe2\x80", "\xa8",  "\xef\xbf\xbd", "n", "\xff", "\xf0\x9f\x90\x8d"};
    for (int round = 0; round < 20000; ++round) {
        std::string text;
        for (auto length = random() % 12; length > 0; --length) {
            if (random() % 2 == 0)
                text += static_cast<char>(random() & 0xff);
            else
                text += pieces[random() % std::size(pieces)];
        }
        for (const Semicolon semicolon : {Semicolon::keep, Semicolon::escape}) {
            const std::string escaped = escape_for_line(text, semicolon);
            REQUIRE(unescape(escaped) == text);
            REQUIRE(is_one_plain_line(escaped));
            REQUIRE(is_one_plain_line(escape_string_for_line(text, semicolon)));
            if (semicolon == Semicolon::escape) {
                REQUIRE(escaped.find(';') == std::string::npos);
                REQUIRE(escape_string_for_line(text, semicolon).find(';') == std::string::npos);
            }
        }
    }
}

TEST_CASE("the escapes of a target's string become those of the line") {
    const std::string mark = "\xef\xbf\xbd";
    CHECK(escape_string_for_line("/caf" + mark + "xe9.py") == "/caf\\xe9.py");
    CHECK(escape_string_for_line(mark + "xff" + mark + "x80") == "\\xff\\x80");
    CHECK(escape_string_for_line("a" + mark + "ud83db") == "a\\ud83db");
    // A name with the same letters is another name.
    CHECK(escape_string_for_line("/caf\\xe9.py") == "/caf\\\\xe9.py");
    CHECK(escape_string_for_line(mark + mark + "xe9") == mark + "xe9");
    CHECK(escape_string_for_line(mark + mark + mark + "xe9") == mark + "\\xe9");
    CHECK(escape_string_for_line(mark + mark + mark + mark) == mark + mark);
    // The rest is as ever.
    CHECK(escape_string_for_line("a\n\\\xc2\x85;", Semicolon::escape) == "a\\n\\\\\\u0085\\x3b");
    // No string is so; nothing is lost, and nothing of it is taken for an escape.
    for (const std::string behind : {"", "x", "xe", "xg0", "xE9", "ud83", "u", "y"})
        CHECK(escape_string_for_line(mark + behind) == mark + behind);
    CHECK(escape_string_for_line(mark + "x\n1") == mark + "x\\n1");
}
