// SPDX-License-Identifier: Apache-2.0
#include "decode/text.h"

#include <random>
#include <set>
#include <string>
#include <string_view>

#include "catch2_header.h"
#include "decode/escape.h"
#include "decode/utf8.h"
#include "layout/database.h"
#include "unit/decode/bytes_of.h"

using namespace pyperf;
using namespace pyperf_test;
using namespace std::string_literals;
using namespace std::string_view_literals;

namespace {

const std::string mark = "\xef\xbf\xbd";

// Where the fields are in CPython up to 3.13, and in the free-threaded build of 3.14 (unicodeobject.h).
const UnicodeStateBits usual_bits = {2, 5, 6};
const UnicodeStateBits bits_314t = {8, 11, 12};

uint32_t state(uint32_t kind, bool ascii, bool compact = true, const UnicodeStateBits& bits = usual_bits) {
    return kind << bits.kind_shift | uint32_t{compact} << bits.compact_bit |
           uint32_t{ascii} << bits.ascii_bit;
}

std::string decoded(uint32_t kind, bool ascii, const Bytes& data) {
    const auto text = decode_unicode(state(kind, ascii), data, usual_bits);
    INFO((text ? std::string() : text.error().message));
    REQUIRE(text);
    return *text;
}

bool is_valid_utf8(std::string_view text) {
    while (!text.empty()) {
        const Utf8Step step = next_utf8(text);
        if (!step.valid) return false;
        text.remove_prefix(step.bytes);
    }
    return true;
}

}  // namespace

TEST_CASE("a str of every kind becomes UTF-8") {
    CHECK(decoded(1, true, bytes_of("plain \x01~"sv)) == "plain \x01~");
    CHECK(decoded(1, false, bytes_of("caf\xe9 \x80\xff"sv)) == "caf\xc3\xa9 \xc2\x80\xc3\xbf");
    CHECK(decoded(2, false, bytes_of(u"a\u00e9\u0444\u51fd\uffff"sv)) ==
          "a\xc3\xa9\xd1\x84\xe5\x87\xbd\xef\xbf\xbf");
    CHECK(decoded(4, false, bytes_of(U"a\u00e9\u51fd\U0001f40d\U0010ffff"sv)) ==
          "a\xc3\xa9\xe5\x87\xbd\xf0\x9f\x90\x8d\xf4\x8f\xbf\xbf");
    CHECK(decoded(1, true, bytes_of("nul\0inside"sv)) == "nul\0inside"s);
    for (const uint32_t kind : {1u, 2u, 4u}) CHECK(decoded(kind, false, {}).empty());
    CHECK(decoded(1, true, {}).empty());
}

TEST_CASE("two code units of UCS-2 are two lone surrogates, not a character") {
    const char16_t pair[] = {0xd83d, 0xdc0d};
    CHECK(decoded(2, false, bytes_of(std::u16string_view(pair, 2))) == mark + "ud83d" + mark + "udc0d");
}

TEST_CASE("a file name that is no UTF-8 keeps its bytes, and is no other file's name") {
    const char16_t narrow[] = {'/', 0xdce9, 0xdcff, 0xdc80};
    CHECK(decoded(2, false, bytes_of(std::u16string_view(narrow, 4))) ==
          "/" + mark + "xe9" + mark + "xff" + mark + "x80");
    const char32_t wide[] = {0x1f40d, 0xdce9};
    CHECK(decoded(4, false, bytes_of(std::u32string_view(wide, 2))) == "\xf0\x9f\x90\x8d" + mark + "xe9");
    // Those beside the range stand for no byte (PEP 383).
    const char16_t beside[] = {0xdc7f, 0xdd00, 0xd800, 0xdfff};
    CHECK(decoded(2, false, bytes_of(std::u16string_view(beside, 4))) ==
          mark + "udc7f" + mark + "udd00" + mark + "ud800" + mark + "udfff");
    // The same letters in a name, and U+FFFD itself.
    CHECK(decoded(2, false, bytes_of(u"\ufffdxe9"sv)) == mark + mark + "xe9");
    CHECK(decoded(1, true, bytes_of("\\xe9"sv)) == "\\xe9");
}

TEST_CASE("different strings stay different, as text and as a line") {
    const std::u32string characters = {U'x', U'e', U'9', U'u', U'\\', 0xfffd, 0xd83d, 0xdce9, 0xdcff, 0xe9};
    std::set<std::string> texts;
    std::set<std::string> lines;
    size_t strings = 0;
    for (uint32_t number = 0; number < 10 * 10 * 10 * 10; ++number) {
        std::u32string text;
        for (uint32_t rest = number, i = 0; i < 4; ++i, rest /= 10) text += characters[rest % 10];
        const std::string utf8 = decoded(4, false, bytes_of(text));
        if (!is_valid_utf8(utf8)) FAIL("no UTF-8 of string " << number);
        texts.insert(utf8);
        lines.insert(escape_string_for_line(utf8));
        ++strings;
    }
    CHECK(texts.size() == strings);
    CHECK(lines.size() == strings);
}

TEST_CASE("values above U+10FFFF, which no str has, do not break the text") {
    const char32_t values[] = {0x110000, 0xffffffff, 'a'};
    CHECK(decoded(4, false, bytes_of(std::u32string_view(values, 3))) == mark + mark + mark + mark + "a");
}

TEST_CASE("an incomplete character at the end is left off") {
    Bytes data = bytes_of(u"ab"sv);
    data.pop_back();
    CHECK(decoded(2, false, data) == "a");
    data = bytes_of(U"ab"sv);
    for (int missing = 1; missing < 4; ++missing) {
        data.pop_back();
        CHECK(decoded(4, false, data) == "a");
    }
    CHECK(decoded(2, false, bytes_of("a"sv)).empty());
}

TEST_CASE("a str in a state that no name can have is refused") {
    const Bytes data = bytes_of("abcd"sv);
    for (const uint32_t kind : {0u, 3u, 5u, 6u, 7u})
        CHECK_FALSE(decode_unicode(state(kind, false), data, usual_bits));
    CHECK_FALSE(decode_unicode(state(2, true), data, usual_bits));
    CHECK_FALSE(decode_unicode(state(4, true), data, usual_bits));
    CHECK_FALSE(decode_unicode(state(1, true, false), data, usual_bits));
    CHECK_FALSE(decode_unicode(state(1, true), bytes_of("ab\x80"sv), usual_bits));
    CHECK(decode_unicode(state(1, true), bytes_of("ab\x7f"sv), usual_bits));
    // Bits of other fields mean nothing here: `interned` below, `ready` (up to 3.11) above.
    CHECK(decode_unicode(state(1, true) | 3 | 1 << 7, data, usual_bits));
}

TEST_CASE("the state's fields lie where the layout says") {
    const Database database = Database::open({PYPERF_SOURCE_DIR "/offsets"});
    size_t checked = 0;
    for (const auto& entry : database.entries()) {
        const Layout& layout = entry.layout;
        if (layout.string_kind == StringKind::bytes) continue;
        INFO(layout.name);
        const UnicodeStateBits expected =
            layout.free_threaded && layout.first >= PythonVersion{3, 14, 0} ? bits_314t : usual_bits;
        const UnicodeStateBits bits = unicode_state_bits(layout);
        CHECK(bits.kind_shift == expected.kind_shift);
        CHECK(bits.compact_bit == expected.compact_bit);
        CHECK(bits.ascii_bit == expected.ascii_bit);
        ++checked;
    }
    CHECK(checked > 10);
}

TEST_CASE("the free-threaded build of 3.14 has `interned` in the byte below") {
    const uint32_t latin1 = state(1, false, true, bits_314t) | 0xff;
    const auto text = decode_unicode(latin1, bytes_of("\xe9"sv), bits_314t);
    REQUIRE(text);
    CHECK(*text == "\xc3\xa9");
    const auto read = read_unicode_state(state(4, false, true, bits_314t) | 3, bits_314t);
    REQUIRE(read);
    CHECK(read->char_bytes == 4);
    CHECK_FALSE(read->ascii);
    // By the other's places it is no str, or not this one.
    CHECK_FALSE(read_unicode_state(state(1, false, true, bits_314t), usual_bits));
    CHECK_FALSE(read_unicode_state(state(1, true), bits_314t));
}

TEST_CASE("a byte string is taken for UTF-8, byte by byte where it is none") {
    CHECK(decode_byte_string(bytes_of("plain"sv), false) == "plain");
    CHECK(decode_byte_string(bytes_of("caf\xc3\xa9\xf0\x9f\x90\x8d"sv), false) ==
          "caf\xc3\xa9\xf0\x9f\x90\x8d");
    CHECK(decode_byte_string({}, false).empty());
    CHECK(decode_byte_string(bytes_of("/caf\xe9.py"sv), false) == "/caf" + mark + "xe9.py");
    // What is UTF-8 in it stays readable; and it is not the name of another file.
    CHECK(decode_byte_string(bytes_of("\xc3\xa9\xff\xc3"sv), false) ==
          "\xc3\xa9" + mark + "xff" + mark + "xc3");
    CHECK(decode_byte_string(bytes_of("\xc3\xa9"sv), false) != decode_byte_string(bytes_of("\xe9"sv), false));
    CHECK(decode_byte_string(bytes_of("\xef\xbf\xbdxe9"sv), false) == mark + mark + "xe9");
    CHECK(decode_byte_string(bytes_of("\xed\xb3\xa9"sv), false) ==
          mark + "xed" + mark + "xb3" + mark + "xa9");
}

TEST_CASE("of a byte string's beginning the sequence that its end cuts off is left off") {
    const auto whole = "ab\xf0\x9f\x90\x8d"sv;
    for (size_t bytes = 3; bytes < whole.size(); ++bytes)
        CHECK(decode_byte_string(bytes_of(whole.substr(0, bytes)), true) == "ab");
    CHECK(decode_byte_string(bytes_of(whole), true) == whole);
    CHECK(decode_byte_string(bytes_of("ab\xf0\x9f"sv), false) == "ab" + mark + "xf0" + mark + "x9f");
    // A byte that is wrong whatever follows stays.
    CHECK(decode_byte_string(bytes_of("ab\xff"sv), true) == "ab" + mark + "xff");
}

TEST_CASE("whatever bytes come in, UTF-8 goes out") {
    std::mt19937 random(7);
    for (int round = 0; round < 20000; ++round) {
        Bytes data(random() % 24);
        // High bytes of wide characters are mostly small, so that something is valid.
        for (auto& byte : data) byte = static_cast<std::byte>(random() % 2 ? random() & 0xff : random() & 3);
        const auto unicode = decode_unicode(static_cast<uint32_t>(random()), data, usual_bits);
        if (unicode) REQUIRE(is_valid_utf8(*unicode));
        REQUIRE(is_valid_utf8(decode_byte_string(data, round % 2 == 0)));
    }
}
