// SPDX-License-Identifier: Apache-2.0
// The writer of layout files: what it writes is read as the same layout, and it writes the same file again.
#include "layout/layout_file.h"

#include <fmt/format.h>

#include "layout/shipped_layouts.h"

using namespace pyperf;
using namespace pyperf_test;

namespace {

constexpr std::string_view kComment =
    "Made by pyoffsets; do not edit, make it again (docs/offsets.md). Offsets and sizes in bytes.";

void check_equal(const Layout& a, const Layout& b) {
    CHECK(a.name == b.name);
    CHECK(a.first == b.first);
    CHECK(a.last == b.last);
    CHECK(a.architectures == b.architectures);
    CHECK(a.c_libraries == b.c_libraries);
    CHECK(a.free_threaded == b.free_threaded);
    CHECK(a.trace_refs == b.trace_refs);
    CHECK(a.frame_chain == b.frame_chain);
    CHECK(a.line_table == b.line_table);
    CHECK(a.thread_binding == b.thread_binding);
    CHECK(a.string_kind == b.string_kind);
    CHECK(a.instruction_unit == b.instruction_unit);
    CHECK(a.executable_tag_mask == b.executable_tag_mask);
    CHECK(a.first_shim_owner == b.first_shim_owner);
    CHECK(a.structs == b.structs);
    REQUIRE(a.provenance.size() == b.provenance.size());
    for (size_t i = 0; i < a.provenance.size(); i++) {
        CHECK(a.provenance[i].source == b.provenance[i].source);
        CHECK(a.provenance[i].version == b.provenance[i].version);
        CHECK(a.provenance[i].detail == b.provenance[i].detail);
        CHECK(a.provenance[i].command == b.provenance[i].command);
        CHECK(a.provenance[i].date == b.provenance[i].date);
    }
}

Layout read_back(const Layout& layout, std::string_view comment = "") {
    auto read = parse_layout(format_layout(layout, comment), layout.name + ".toml");
    if (!read) FAIL(read.error().message);
    return *read;
}

}  // namespace

TEST_CASE("every shipped layout is written as its file is, and read back equal") {
    for (const std::string& name : shipped_names()) {
        INFO(name);
        const Layout layout = shipped(name);
        CHECK(format_layout(layout, kComment) == shipped_text(name));
        check_equal(read_back(layout), layout);
        check_equal(read_back(layout, kComment), layout);
    }
}

TEST_CASE("whatever a provenance says, it is read back") {
    Layout layout = shipped("cpython-3.11");
    std::string controls;
    for (char c = 1; c < 0x20; c++) controls += c;
    layout.provenance[0].detail = "a \"b\" \\n \\ [c] # d = 'e'\n\t\x7f" + controls;
    layout.provenance[0].command = "pyoffsets generate --elf 'lib\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x8d.so'";
    layout.provenance.push_back({"dwarf", "3.11.8", "\"\"\"", "'''", "2027-01-31"});
    layout.provenance.push_back({"binary", "3.11.9", "detail", "command", "2027-02-01"});
    check_equal(read_back(layout), layout);
}

TEST_CASE("texts are written in ASCII, and bytes that are no UTF-8 are replaced") {
    Layout layout = shipped("cpython-3.11");
    for (const auto& [bytes, read] :
         {std::pair<std::string, std::string>{"\xc3\xa9", "\xc3\xa9"},
          {"\xc2\x80|\xdf\xbf|\xe0\xa0\x80|\xef\xbf\xbf", "\xc2\x80|\xdf\xbf|\xe0\xa0\x80|\xef\xbf\xbf"},
          {"\xf0\x90\x80\x80|\xf4\x8f\xbf\xbf", "\xf0\x90\x80\x80|\xf4\x8f\xbf\xbf"},
          {"\xff.", "\xef\xbf\xbd."},
          {"\xc3", "\xef\xbf\xbd"},
          {"\xc3(", "\xef\xbf\xbd("},
          {"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},
          {"\x80", "\xef\xbf\xbd"},
          {"\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd"},
          {"\xe0\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
          {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
          {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
          {"\xf8\x88\x80\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}}) {
        layout.provenance[0].detail = bytes;
        const std::string text = format_layout(layout);
        CHECK(std::none_of(text.begin(), text.end(), [](char c) { return (c & 0x80) != 0; }));
        CHECK(read_back(layout).provenance[0].detail == read);
    }
}

TEST_CASE("flags, lists and what may be absent are read back") {
    Layout layout = shipped("cpython-3.15t");
    layout.architectures = {"aarch64"};
    layout.c_libraries = {"musl"};
    layout.first_shim_owner = 127;
    layout.trace_refs = true;  // from 3.13 on it changes no structure
    layout.first = layout.last = {3, 15, 255, 0xf, 0};
    check_equal(read_back(layout), layout);
}

TEST_CASE("a comment of several lines stands before everything, each line a comment") {
    const std::string text = format_layout(shipped("cpython-3.9"), "one\n\nname = \"other\"");
    CHECK(text.starts_with("# one\n# \n# name = \"other\"\nschema = 1\nname = \"cpython-3.9\"\n"));
    CHECK(parse_layout(text, "cpython-3.9.toml"));
    CHECK(format_layout(shipped("cpython-3.9")).starts_with("schema = 1\n"));
}

TEST_CASE("structures and members are written in the order of structures.h, whatever order they came in") {
    const std::string text = format_layout(shipped("cpython-3.6"));
    const std::vector<std::string_view> order{
        "schema = ",       "name = ",         "[versions]",      "[abi]",          "[rules]",
        "[[provenance]]",  "[PyObject]",      "[PyVarObject]",   "[PyCodeObject]", "co_argcount = ",
        "co_filename = ",  "co_lnotab = ",    "[PyFrameObject]", "f_back = ",      "f_localsplus = ",
        "[PyThreadState]", "[PyASCIIObject]", "length = ",       "[PyCellObject]"};
    size_t at = 0;
    for (const std::string_view part : order) {
        INFO(part);
        const size_t next = text.find(part, at);
        REQUIRE(next != std::string::npos);
        at = next;
    }
}
