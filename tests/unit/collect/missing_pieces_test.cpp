// SPDX-License-Identifier: Apache-2.0
// The target is this process: objects as CPython has them are made in its own memory.
#include "collect/missing_pieces.h"

#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "catch2_header.h"
#include "layout/layout_file.h"

using namespace pyperf;

namespace {

Layout layout_of(const std::string& name) {
    const auto layout = read_layout_file(PYPERF_SOURCE_DIR "/offsets/" + name + ".toml");
    REQUIRE(layout);
    return *layout;
}

struct Object {
    std::vector<std::byte> bytes = std::vector<std::byte>(300'000);

    uint64_t address() const { return reinterpret_cast<uint64_t>(bytes.data()); }
    template <typename T>
    void put(uint32_t at, T value) {
        std::memcpy(bytes.data() + at, &value, sizeof value);
    }
    void put_text(uint32_t at, std::string_view text) {
        std::memcpy(bytes.data() + at, text.data(), text.size());
    }
};

Object made_str(const Layout& layout, std::string_view data, uint64_t length, uint32_t char_bytes,
                bool ascii) {
    Object object;
    object.put(*layout.offset("PyASCIIObject", "length"), length);
    const auto shift = [&](const char* member) { return *layout.offset("PyASCIIObject", member); };
    object.put(*layout.offset("PyASCIIObject", "state"), char_bytes << shift("state.kind_shift") |
                                                             1u << shift("state.compact_shift") |
                                                             uint32_t{ascii} << shift("state.ascii_shift"));
    object.put_text(*layout.size_of(ascii ? "PyASCIIObject" : "PyCompactUnicodeObject"), data);
    return object;
}

CodeObject code_that_misses(CodePiece piece, uint64_t object) {
    CodeObject code;
    code.name_cut = piece == CodePiece::name;
    code.lines_cut = piece == CodePiece::lines;
    code.missing.push_back({piece, object, {}, 0, 0});
    return code;
}

const ProcessMemory own{HostPid{getpid()}};

}  // namespace

TEST_CASE("a str whose header could not be read is fetched whole, in every kind") {
    for (const char* name : {"cpython-3.6", "cpython-3.11", "cpython-3.14t"}) {
        INFO(name);
        const Layout layout = layout_of(name);
        const Object ascii = made_str(layout, "a_name", 6, 1, true);
        CodeObject code = code_that_misses(CodePiece::name, ascii.address());
        REQUIRE(fetch_missing_pieces(code, own, layout));
        CHECK(code.name == "a_name");
        CHECK_FALSE(code.name_cut);
        CHECK(code.missing.empty());

        const Object latin = made_str(layout, "\xe9t\xe9", 3, 1, false);
        code = code_that_misses(CodePiece::name, latin.address());
        REQUIRE(fetch_missing_pieces(code, own, layout));
        CHECK(code.name == "\xc3\xa9t\xc3\xa9");

        const Object wide = made_str(layout, std::string_view("\x2d\x4e\x87\x65", 4), 2, 2, false);
        code = code_that_misses(CodePiece::name, wide.address());
        REQUIRE(fetch_missing_pieces(code, own, layout));
        CHECK(code.name == "\xe4\xb8\xad\xe6\x96\x87");
    }
}

TEST_CASE("a byte string whose header could not be read is fetched whole") {
    const Layout layout = layout_of("cpython-3.12");
    Object table;
    table.put(*layout.offset("PyBytesObject", "ob_size"), uint64_t{200'000});
    table.put_text(*layout.offset("PyBytesObject", "ob_sval") + 199'999, "\x7f");
    CodeObject code = code_that_misses(CodePiece::lines, table.address());
    REQUIRE(fetch_missing_pieces(code, own, layout));
    CHECK(code.lines.size() == 200'000);
    CHECK(code.lines.back() == 0x7f);
    CHECK_FALSE(code.lines_cut);

    const Layout old = layout_of("cpython-2.7");
    Object name;
    name.put(*old.offset("PyStringObject", "ob_size"), uint64_t{3});
    name.put_text(*old.offset("PyStringObject", "ob_sval"), "old");
    code = code_that_misses(CodePiece::name, name.address());
    REQUIRE(fetch_missing_pieces(code, own, old));
    CHECK(code.name == "old");
}

TEST_CASE("what cannot be had stays listed, and says why") {
    const Layout layout = layout_of("cpython-3.11");
    Object huge = made_str(layout, "x", uint64_t{1} << 40, 1, true);
    Object no_kind = made_str(layout, "x", 1, 3, false);
    for (const uint64_t address : {huge.address(), no_kind.address(), uint64_t{16}}) {
        CodeObject code = code_that_misses(CodePiece::name, address);
        const auto fetched = fetch_missing_pieces(code, own, layout);
        CHECK_FALSE(fetched);
        CHECK_FALSE(fetched.error().message.empty());
        CHECK(code.missing.size() == 1);
        CHECK(code.name_cut);
    }
}
