// SPDX-License-Identifier: Apache-2.0
#include "catch2_header.h"
#include "layout/layout_file.h"

using namespace pyperf;

TEST_CASE("text that is no TOML is refused with its line") {
    for (const char* text : {"[[[", "[[[1]]]", "[[[a]]]", "\n[[=", "[=", "[", "a", "a = [[", "\xff",
                             "a = 1\xc8\x80", "a = \"\n\""}) {
        INFO(text);
        const auto layout = parse_layout(text, "bad.toml");
        REQUIRE_FALSE(layout);
        const std::string line = *text == '\n' ? "bad.toml:2: " : "bad.toml:1: ";
        CHECK(layout.error().message.starts_with(line));
    }
}

TEST_CASE("a file is ASCII, and its strings hold any text") {
    auto layout = read_layout_file(PYPERF_SOURCE_DIR "/offsets/cpython-3.11.toml");
    REQUIRE(layout);
    layout->provenance[0].command = "lib\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8d \x7f\t\"\\";
    layout->provenance[0].detail = "\xff";
    const std::string text = format_layout(*layout);
    for (const char c : text) CHECK((c == '\n' || (c >= 0x20 && c < 0x7f)));
    const auto again = parse_layout(text, "cpython-3.11.toml");
    REQUIRE(again);
    CHECK(again->provenance[0].command == layout->provenance[0].command);
    CHECK(again->provenance[0].detail == "\xef\xbf\xbd");
    CHECK(parse_layout("\xef\xbb\xbf" + text, "cpython-3.11.toml"));
    const auto refused = parse_layout(text + "# \xc3\xa9\n", "cpython-3.11.toml");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("ASCII") != std::string::npos);
}
