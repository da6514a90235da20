// SPDX-License-Identifier: Apache-2.0
// The reader of layout files. What is bad about a file is said in one line that begins with FILE:LINE.
#include <array>
#include <cstdint>

#include "layout/layout_check.h"
#include "layout/layout_file.h"
#include "layout/shipped_layouts.h"

using namespace pyperf;
using namespace pyperf_test;

namespace {

// The only `from` in the file is replaced by `to`; the error is on the line with `line` and says `what`.
struct Bad {
    const char* from;
    const char* to;
    const char* line;  // a part of the changed text; "" is the file's first line
    const char* what;
};

void check_all(const std::string& name, const std::vector<Bad>& all) {
    const std::string good = shipped_text(name);
    REQUIRE(parse_layout(good, name + ".toml"));
    for (const Bad& bad : all) {
        INFO("instead of:\n" << bad.from << "\nthere is:\n" << bad.to);
        const std::string text = replaced(good, bad.from, bad.to);
        const auto layout = parse_layout(text, name + ".toml");
        if (layout) {
            FAIL_CHECK("it is taken");
            continue;
        }
        const std::string& message = layout.error().message;
        INFO(message);
        CHECK(message.starts_with(name + ".toml:" + std::to_string(line_of(text, bad.line)) + ": "));
        CHECK(contains(message, bad.what));
        CHECK_FALSE(contains(message, "\n"));
        CHECK(layout.error().code == -EINVAL);
    }
}

constexpr const char* kProvenance311 =
    "[[provenance]]\nsource = \"headers\"\nversion = \"3.11.7\"\ndetail = \"headers as installed by the "
    "release\"\n"
    "command = \"pyoffsets generate --headers include/python3.11 --first 3.11.0 --last 3.11.14 --target "
    "x86_64-glibc --target x86_64-musl\"\ndate = \"2026-12-02\"\n";

// Whatever is wrong with it, it is said in one line that begins with the file's name.
void check_refused_in_one_line(std::string_view text) {
    const auto layout = parse_layout(text, "some.toml");
    REQUIRE_FALSE(layout);
    const std::string& message = layout.error().message;
    INFO(message);
    CHECK(message.starts_with("some.toml:"));
    CHECK(message.size() < 6000);
    CHECK(std::none_of(message.begin(), message.end(),
                       [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }));
}

}  // namespace

TEST_CASE("every value of a layout file is read") {
    const Layout layout = shipped("cpython-3.14t");
    CHECK(layout.name == "cpython-3.14t");
    CHECK(layout.first == PythonVersion{3, 14, 0, 0xf, 0});
    CHECK(layout.last == PythonVersion{3, 14, 10, 0xf, 0});
    CHECK(layout.architectures == std::vector<std::string>{"x86_64", "aarch64"});
    CHECK(layout.c_libraries == std::vector<std::string>{"glibc", "musl"});
    CHECK(layout.free_threaded);
    CHECK_FALSE(layout.trace_refs);
    CHECK(layout.frame_chain == FrameChain::current_frame);
    CHECK(layout.line_table == LineTable::locations);
    CHECK(layout.thread_binding == ThreadBinding::runtime_key);
    CHECK(layout.string_kind == StringKind::unicode);
    CHECK(layout.instruction_unit == 1);
    CHECK(layout.executable_tag_mask == 3);
    CHECK(layout.first_shim_owner == 3);
    REQUIRE(layout.provenance.size() == 1);
    CHECK(layout.provenance[0].source == "headers");
    CHECK(layout.provenance[0].version == "3.14.8");
    CHECK(layout.provenance[0].detail == "headers of Debian's package libpython3.14-dev 3.14.8-1");
    CHECK(layout.provenance[0].command.starts_with("pyoffsets generate --headers include/python3.14 "));
    CHECK(layout.provenance[0].date == "2026-12-02");
    CHECK(layout.size_of("PyCodeObject") == 240);
    CHECK(layout.offset("PyCodeObject", "co_tlbc") == 224);
    CHECK(layout.offset("PyInterpreterState", "threads.head") == 7344);
    CHECK(layout.offset("PyASCIIObject", "state.kind_bits") == 3);
    CHECK_FALSE(layout.size_of("PyThreadState"));
    CHECK_FALSE(layout.offset("PyCodeObject", "co_lnotab"));
    CHECK_FALSE(layout.offset("PyDictObject", "ma_keys"));

    const Layout older = shipped("cpython-3.10");
    CHECK(older.instruction_unit == 2);
    CHECK_FALSE(older.first_shim_owner);
    CHECK(shipped("cpython-2.7").string_kind == StringKind::bytes);
}

TEST_CASE("what is wrong with the head of a layout file is said with its line") {
    check_all(
        "cpython-3.11",
        {{"schema = 1\n", "", "", "schema is missing: is this a layout file?"},
         {"schema = 1\n", "schema = 2\n", "schema = 2", "schema has to be 1"},
         {"schema = 1\n", "schema = \"1\"\n", "schema =", "schema has to be 1"},
         {"name = \"cpython-3.11\"\n", "", "", "name is missing"},
         {"name = \"cpython-3.11\"\n", "name = 3.11\n", "name = 3.11", "name has to be a string"},
         {"name = \"cpython-3.11\"\n", "name = \"\"\n", "name = \"\"", "name is empty"},
         {"name = \"cpython-3.11\"\n", "name = \"cpython-3.12\"\n", "name = \"cpython-3.12\"",
          "name is \"cpython-3.12\", but the file is called cpython-3.11"},
         {"name = \"cpython-3.11\"\n", "name = \"cpython-3.11\"\ncolour = 1\n", "colour",
          "there is no key \"colour\""},

         {"[versions]", "[version]", "", "[versions] is missing"},
         {"[versions]  # final releases, both ends included\nfirst = \"3.11.0\"\nlast = \"3.11.14\"\n",
          "versions = 3\n", "versions = 3", "versions has to be a table"},
         {"first = \"3.11.0\"\n", "", "[versions]", "first is missing"},
         {"first = \"3.11.0\"\n", "first = 3.11\n", "first = 3.11", "first has to be a string"},
         {"first = \"3.11.0\"\n", "first = \"3.11\"\n", "first =", "is no CPython version like 3.13.0"},
         {"first = \"3.11.0\"\n", "first = \"3.11.0rc1\"\n", "first =", "3.11.0rc1 is a pre-release"},
         {"last = \"3.11.14\"\n", "last = \"3.11.300\"\n", "last =", "is no CPython version"},
         {"last = \"3.11.14\"\n", "last = \"3.10.14\"\n", "last =", "3.10.14 is before first (3.11.0)"},
         {"last = \"3.11.14\"\n", "last = \"3.12.0\"\n", "last =", "different minor versions"},
         {"last = \"3.11.14\"\n", "last = \"3.11.14\"\nonly = \"3.11.9\"\n",
          "only =", "[versions] has no key \"only\"; known: first, last"},

         {"[abi]", "[api]", "", "[abi] is missing"},
         {"architectures = [\"x86_64\"]", "", "[abi]", "architectures is missing"},
         {"architectures = [\"x86_64\"]", "architectures = \"x86_64\"", "architectures",
          "architectures has to be a list of strings"},
         {"architectures = [\"x86_64\"]", "architectures = [\"x86_64\", 64]", "architectures",
          "architectures has to be a list of strings"},
         {"architectures = [\"x86_64\"]", "architectures = []", "architectures", "is empty"},
         {"architectures = [\"x86_64\"]", "architectures = [\"amd64\"]", "architectures",
          "\"amd64\" is not known; one of: x86_64, aarch64"},
         {"architectures = [\"x86_64\"]", "architectures = [\"x86_64\", \"x86_64\"]", "architectures",
          "\"x86_64\" is there twice"},
         {"c_libraries = [\"glibc\", \"musl\"]", "", "[abi]", "c_libraries is missing"},
         {"c_libraries = [\"glibc\", \"musl\"]", "c_libraries = [\"libc\"]", "c_libraries",
          "\"libc\" is not known; one of: glibc, musl"},
         {"free_threaded = false", "", "[abi]", "free_threaded is missing"},
         {"free_threaded = false", "free_threaded = 0", "free_threaded",
          "free_threaded has to be true or false"},
         {"free_threaded = false", "free_threaded = true", "free_threaded",
          "there are no free-threaded builds before 3.13"},
         {"trace_refs = false", "trace_refs = \"no\"", "trace_refs", "trace_refs has to be true or false"},
         {"trace_refs = false", "trace_refs = false\nstatic = true", "static",
          "[abi] has no key \"static\""}});
}

TEST_CASE("what is wrong with the rules of a layout file is said with its line") {
    check_all(
        "cpython-3.11",
        {{"[rules]", "[rulez]", "", "[rules] is missing"},
         {"frame_chain = \"cframe\"\n", "", "[rules]", "frame_chain is missing"},
         {"frame_chain = \"cframe\"\n", "frame_chain = 1\n", "frame_chain", "frame_chain has to be a string"},
         {"frame_chain = \"cframe\"\n", "frame_chain = \"frames\"\n", "frame_chain",
          "\"frames\" is not known; one of: frame_object, cframe, current_frame"},
         {"frame_chain = \"cframe\"\n", "frame_chain = \"current_frame\"\n", "frame_chain",
          "\"current_frame\" does not fit: PyThreadState.current_frame is not in the layout"},
         {"frame_chain = \"cframe\"\n", "frame_chain = \"frame_object\"\n", "frame_chain",
          "PyThreadState.frame is not in the layout"},
         {"line_table = \"locations\"", "line_table = \"lines\"", "line_table",
          "one of: lnotab_unsigned, lnotab_signed, pep626_pairs, locations"},
         {"line_table = \"locations\"", "line_table = \"lnotab_signed\"", "line_table",
          "PyCodeObject.co_lnotab is not in the layout"},
         {"line_table = \"locations\"", "line_table = \"pep626_pairs\"", "line_table",
          "\"pep626_pairs\" does not fit: it is not that of 3.11"},
         {"thread_binding = \"runtime_key\"", "thread_binding = \"\"", "thread_binding",
          "thread_binding is empty"},
         {"thread_binding = \"runtime_key\"", "thread_binding = \"key\"", "thread_binding",
          "one of: key_list, pthread_key, runtime_key, thread_local"},
         {"thread_binding = \"runtime_key\"", "thread_binding = \"key_list\"", "thread_binding",
          "\"key_list\" does not fit: it is not that of 3.11"},
         {"thread_binding = \"runtime_key\"", "thread_binding = \"pthread_key\"", "thread_binding",
          "\"pthread_key\" does not fit: it is not that of 3.11"},
         {"thread_binding = \"runtime_key\"", "thread_binding = \"thread_local\"", "thread_binding",
          "PyThreadState.base_frame is not in the layout"},
         {"string_kind = \"unicode\"", "string_kind = \"text\"", "string_kind", "one of: bytes, unicode"},
         {"string_kind = \"unicode\"", "string_kind = \"bytes\"", "string_kind",
          "PyStringObject.ob_sval is not in the layout"},
         {"instruction_unit = 1", "", "[rules]", "instruction_unit is missing"},
         {"instruction_unit = 1", "instruction_unit = \"1\"", "instruction_unit",
          "instruction_unit has to be an integer"},
         {"instruction_unit = 1", "instruction_unit = 0", "instruction_unit", "has to be 1 or 2 bytes"},
         {"instruction_unit = 1", "instruction_unit = 2", "instruction_unit",
          "has to be 2 in 3.10, 1 in all others"},
         {"executable_tag_mask = 0", "", "[rules]", "executable_tag_mask is missing"},
         {"executable_tag_mask = 0", "executable_tag_mask = -1", "executable_tag_mask",
          "executable_tag_mask = -1 is out of range"},
         {"executable_tag_mask = 0", "executable_tag_mask = 8", "executable_tag_mask", "has to be 0 to 7"},
         {"executable_tag_mask = 0", "executable_tag_mask = 3", "executable_tag_mask",
          "before 3.14 the pointer has no tag"},
         {"executable_tag_mask = 0", "executable_tag_mask = 0\nfirst_shim_owner = 3", "first_shim_owner",
          "there are no shim frames before 3.12"},
         {"executable_tag_mask = 0", "executable_tag_mask = 0\ngil = \"one\"", "gil = \"one\"",
          "[rules] has no key \"gil\""}});
    check_all(
        "cpython-3.12",
        {{"first_shim_owner = 3\n", "", "[rules]", "first_shim_owner is missing"},
         {"first_shim_owner = 3\n", "first_shim_owner = \"3\"\n", "first_shim_owner",
          "first_shim_owner has to be an integer"},
         {"first_shim_owner = 3\n", "first_shim_owner = 0\n", "first_shim_owner", "has to be 1 to 127"},
         {"first_shim_owner = 3\n", "first_shim_owner = 128\n", "first_shim_owner", "has to be 1 to 127"}});
}

TEST_CASE("what is wrong with the provenance in a layout file is said with its line") {
    check_all(
        "cpython-3.11",
        {{kProvenance311, "", "", "[[provenance]] is missing: where do the numbers come from?"},
         {"[[provenance]]", "[provenance]", "[provenance]", "has to be written as [[provenance]]"},
         {"source = \"headers\"", "source = \"hearsay\"",
          "source =", "source has to be headers, dwarf or binary"},
         {"source = \"headers\"", "", "[[provenance]]", "source is missing"},
         {"source = \"headers\"", "source = \"headers\"\nauthor = \"me\"", "author",
          "[provenance] has no key \"author\"; known: source, version, detail, command, date"},
         {"version = \"3.11.7\"", "version = \"3\"", "version = \"3\"",
          "version \"3\" is no CPython version"},
         {"detail = \"headers as installed by the release\"", "detail = \"\"", "detail =", "detail is empty"},
         {"date = \"2026-12-02\"", "date = 2026-12-02", "date =", "date has to be a string"},
         {"date = \"2026-12-02\"", "date = \"2. 12. 2026\"", "date =", "date has to be YYYY-MM-DD"},
         {"date = \"2026-12-02\"", "date = \"yesterday.\"", "date =", "date has to be YYYY-MM-DD"}});
    const std::string list = replaced(replaced(shipped_text("cpython-3.11"), kProvenance311, ""),
                                      "schema = 1", "schema = 1\nprovenance = [1]");
    const auto layout = parse_layout(list, "cpython-3.11.toml");
    REQUIRE_FALSE(layout);
    CHECK(layout.error().message == "cpython-3.11.toml:3: provenance has to be written as [[provenance]]");
}

TEST_CASE("a bad offset is refused with its line") {
    check_all(
        "cpython-3.11",
        {{"ob_type = 8", "ob_type = \"8\"", "ob_type", "ob_type has to be an integer"},
         {"ob_type = 8", "ob_type = 8.0", "ob_type", "ob_type has to be an integer"},
         {"ob_type = 8", "ob_type = true", "ob_type", "ob_type has to be an integer"},
         {"ob_type = 8", "ob_type = [8]", "ob_type", "ob_type has to be an integer"},
         {"ob_type = 8", "ob_type = -8", "ob_type", "ob_type = -8 is out of range (0 to 1048576)"},
         {"ob_type = 8", "ob_type = 1048584", "ob_type", "ob_type = 1048584 is out of range"},
         {"ob_type = 8", "ob_type = 4294967304", "ob_type", "ob_type = 4294967304 is out of range"},
         {"ob_type = 8", "ob_type = 9223372036854775807", "ob_type", "is out of range"},
         {"ob_type = 8", "ob_type = 9223372036854775808", "ob_type", "not representable"},
         {"co_name = 120", "co_name = 122", "co_name", "122 is not a multiple of the member's 8 bytes"},
         {"co_flags = 48", "co_flags = 50", "co_flags", "50 is not a multiple of the member's 4 bytes"},
         {"\"threads.head\" = 16", "\"threads.head\" = 17", "threads.head", "17 is not a multiple"},
         {"co_name = 120", "co_name = 112", "co_name = 112", "overlaps co_filename (8 bytes at 112)"},
         {"co_flags = 48", "co_flags = 116", "co_flags", "overlaps co_filename (8 bytes at 112)"},
         {"owner = 69", "owner = 68", "owner = 68", "overlaps is_entry (1 bytes at 68)"},
         {"co_code_adaptive = 184", "co_code_adaptive = 24", "co_code_adaptive",
          "lies behind it, but it is what the structure ends with"},
         {"co_linetable = 136", "co_linetable = 192", "co_linetable",
          "ends behind the structure: 192 + 8 is more than sizeof = 192"},
         {"ob_item = 24", "ob_item = 33", "ob_item", "ends behind the structure"},
         {"co_flags = 48", "co_flags = 12", "co_flags", "lies inside the head of every object (16 bytes)"},
         {"ob_type = 8", "ob_type = 0", "ob_type", "is not the last member of PyObject"},
         {"\"state.kind_shift\" = 2", "\"state.kind_shift\" = 32", "kind_shift",
          "is the position of a bit: 0 to 31"},
         {"\"state.kind_bits\" = 3", "\"state.kind_bits\" = 0", "kind_bits", "is a width in bits: 1 to 32"},
         {"\"state.kind_bits\" = 3", "\"state.kind_bits\" = 33", "kind_bits", "is a width in bits: 1 to 32"},
         {"\"state.kind_bits\" = 3", "\"state.kind_bits\" = 4", "compact_shift",
          "is not the bit behind state.kind"},
         {"\"threads.head\" = 16", "threads.head = 16", "threads.head", "threads has to be an integer"}});
}

TEST_CASE("a structure or member that is missing, unknown or there twice is refused with its line") {
    check_all(
        "cpython-3.11",
        {{"co_flags = 48\n", "", "[PyCodeObject]", "PyCodeObject co_flags is missing"},
         {"co_flags = 48\n", "co_flags = 48\nco_consts = 24\n", "co_consts",
          "PyCodeObject.co_consts is no member that a layout has"},
         {"co_flags = 48\n", "co_flags = 48\nco_lnotab = 24\n", "co_lnotab",
          "PyCodeObject.co_lnotab does not exist in 3.11"},
         {"co_flags = 48\n", "co_flags = 48\nco_tlbc = 24\n", "co_tlbc", "does not exist in 3.11"},
         {"co_flags = 48\n", "co_flags = 48\nco_flags = 48\n", "co_flags = 48\nco_firstlineno", "co_flags"},
         {"[PyCellObject]", "[PyDictObject]", "[PyDictObject]",
          "PyDictObject is no structure that a layout has"},
         {"[PyCellObject]\n", "[PyFrameObject]\nsizeof = 24\n[PyCellObject]\n", "[PyFrameObject]",
          "a layout of 3.11 has no such structure"},
         {"[PyCellObject]\n", "[PyCellObject]\nsizeof = 24\n[PyCellObject]\n",
          "[PyCellObject]\nsizeof = 24\nob_ref", "PyCellObject"},
         {"[PyCellObject]\nsizeof = 24\nob_ref = 16\n", "", "", "[PyCellObject] is missing"},
         {"[PyCellObject]\nsizeof = 24\nob_ref = 16\n", "[PyCellObject]\n", "[PyCellObject]",
          "sizeof is missing"},
         {"[PyCellObject]\nsizeof = 24\n", "[PyCellObject]\nsizeof = 0\n", "sizeof = 0", "0 is out of range"},
         {"[PyCellObject]\nsizeof = 24\n", "[PyCellObject]\nsizeof = 2097152\n", "sizeof = 2097152",
          "is out of range"},
         {"[PyThreadState]\n", "[PyThreadState]\nsizeof = 360\n", "sizeof = 360", "is not part of a layout"},
         {"[PyObject]\n", "[PyObject]\nmore = {}\n", "more", "more has to be an integer"},
         {"[PyCellObject]", "[PyObject.more]\n[PyCellObject]", "[PyObject.more]",
          "more has to be an integer"},
         {"[PyCellObject]", "[[PyMore]]\n[PyCellObject]", "[[PyMore]]", "there is no key \"PyMore\""}});
    check_all("cpython-3.14", {{"co_flags = 48\n", "co_flags = 48\nco_tlbc = 24\n", "co_tlbc",
                                "PyCodeObject.co_tlbc does not exist in 3.14"}});
    check_all("cpython-3.14t", {{"co_tlbc = 224\n", "", "[PyCodeObject]", "co_tlbc is missing"}});
}

TEST_CASE("a slip in the TOML of a layout file is refused with its line") {
    check_all("cpython-3.11", {{"first = \"3.11.0\"", "first = \"3.11.0", "first = ", ""},
                               {"[abi]", "[abi", "[abi", ""},
                               {"trace_refs = false", "trace_refs", "trace_refs", ""},
                               {"ob_type = 8", "ob_type = 08", "ob_type", ""},
                               {"ob_type = 8", "ob_type = \x1b[2J", "ob_type", ""},
                               {"[abi]", "[!abi]", "[!abi]", ""},
                               {"[abi]", "[[[abi]", "[[[abi]", ""},
                               {"[abi]", "[=abi]", "[=abi]", ""},
                               {"[\"glibc\"", "[}\"glibc\"", "[}\"glibc\"", ""},
                               {"\"glibc\", \"musl\"", "\"glibc\", }\"musl\"", "}\"musl\"", ""},
                               {"ob_type = 8", "ob_type = {a = ]}", "ob_type = {", ""}});
}

// toml++ has undefined behaviour for some of them where they stand outside of strings.
TEST_CASE("characters that are no ASCII are refused, wherever they are") {
    for (const char* odd :
         {"\xc3\xa9", "\xe3\x80\x80", "\xef\xbb\xbf", "\xf0\x9f\x90\x8d", "\xff", "\xc2\x85"}) {
        const std::string character = odd;
        const std::string what = "has to be ASCII; in strings write other characters as \\uXXXX";
        check_all("cpython-3.11",
                  {{"# Made", ("# " + character + "Made").c_str(), "", what.c_str()},
                   {"[abi]", ("[abi" + character + "]").c_str(), "[abi", what.c_str()},
                   {"ob_type = 8", ("ob_type" + character + " = 8").c_str(), "ob_type", what.c_str()},
                   {"ob_type = 8", ("ob_type = 8" + character).c_str(), "ob_type", what.c_str()},
                   {"ob_type = 8", ("\"ob" + character + "type\" = 8").c_str(), "type\" = 8", what.c_str()},
                   {"detail = \"headers", ("detail = \"" + character).c_str(), "detail =", what.c_str()}});
    }
    const auto escaped = parse_layout(
        replaced(shipped_text("cpython-3.11"), "detail = \"headers", "detail = \"\\u00e9\\U0001f40d headers"),
        "cpython-3.11.toml");
    REQUIRE(escaped);
    CHECK(escaped->provenance[0].detail == "\xc3\xa9\xf0\x9f\x90\x8d headers as installed by the release");
}

TEST_CASE("bytes that are no layout file are refused in one line") {
    check_refused_in_one_line("");
    check_refused_in_one_line("\n\n\n");
    check_refused_in_one_line(std::string_view("a = 1\n\0b = 1", 13));
    check_refused_in_one_line("a = 1\n\xff\xfe = 1");
    check_refused_in_one_line(
        "\x7f"
        "ELF\x02\x01\x01");
    check_refused_in_one_line(std::string(kLayoutFileMaxBytes, '\n'));
    check_refused_in_one_line(std::string(kLayoutFileMaxBytes, '\xff'));

    uint64_t state = 1;  // the same bytes on every run
    for (int run = 0; run < 500; run++) {
        std::string garbage(static_cast<size_t>(run), '\0');
        for (char& c : garbage) {
            state = state * 6364136223846793005U + 1442695040888963407U;
            c = static_cast<char>(state >> 56);
        }
        check_refused_in_one_line(garbage);
    }
}

TEST_CASE("a layout file that is cut off is refused") {
    const std::string good = shipped_text("cpython-3.12");
    for (size_t bytes = 0; bytes < good.size() - 1; bytes++) {
        INFO(bytes);
        const auto layout = parse_layout(good.substr(0, bytes), "cpython-3.12.toml");
        REQUIRE_FALSE(layout);
        REQUIRE(layout.error().message.starts_with("cpython-3.12.toml:"));
    }
    CHECK(parse_layout(good.substr(0, good.size() - 1), "cpython-3.12.toml"));
}

TEST_CASE("one wrong byte in a layout file is refused or still a layout without contradictions") {
    const std::string good = shipped_text("cpython-3.12");
    size_t refused = 0;
    for (size_t at = 0; at < good.size(); at++) {
        for (const char wrong : {'"', '9'}) {
            std::string text = good;
            text[at] = wrong;
            const auto layout = parse_layout(text, "cpython-3.12.toml");
            if (!layout)
                refused++;
            else
                REQUIRE(check_layout(*layout));
        }
    }
    CHECK(refused > good.size());
}

TEST_CASE("text that nests deeply is refused, and the stack is not used up") {
    const auto repeated = [](std::string_view piece, size_t times) {
        std::string text;
        for (size_t i = 0; i < times; i++) text += piece;
        return text;
    };
    check_refused_in_one_line("a" + repeated(".a", 120000) + " = 1");
    check_refused_in_one_line("[a" + repeated(".a", 120000) + "]");
    check_refused_in_one_line("[[a" + repeated(".a", 120000) + "]]");
    check_refused_in_one_line("a = " + repeated("[", 200000));
    check_refused_in_one_line("a = " + repeated("{a = ", 50000));
    check_refused_in_one_line("a = " + repeated("{a.a.a.a = [", 20000));
    // As many dots as are taken.
    check_refused_in_one_line("a" + repeated(".a", 1024) + " = 1");
}

TEST_CASE("names in a layout file cannot break the line of its error") {
    const std::string good = shipped_text("cpython-3.11");
    const auto broken = [&](const std::string& text, const std::string& name) {
        const auto layout = parse_layout(text, name);
        REQUIRE_FALSE(layout);
        return layout.error().message;
    };
    CHECK(broken(replaced(good, "[abi]\n", "[abi]\n\"a\\nb\\u001b[2J\" = 1\n"), "cpython-3.11.toml") ==
          "cpython-3.11.toml:10: [abi] has no key \"a\\x0ab\\x1b[2J\"; known: architectures, c_libraries, "
          "free_threaded, trace_refs");
    CHECK(broken("", "two\nlines.toml") == "two\\x0alines.toml:1: schema is missing: is this a layout file?");
    const std::string long_key(100000, 'k');
    CHECK(broken(replaced(good, "[abi]\n", "[abi]\n" + long_key + " = 1\n"), "cpython-3.11.toml").size() <
          6000);
}

TEST_CASE("what TOML allows besides is read: comments, line ends, order, number formats") {
    const std::string good = shipped_text("cpython-3.11");
    std::string windows;
    for (const char c : good) windows += c == '\n' ? "\r\n" : std::string(1, c);
    const std::string reference = format_layout(shipped("cpython-3.11"));
    for (const std::string& text :
         {windows, replaced(good, "ob_type = 8", "ob_type = 0x8  # eight"), "\xef\xbb\xbf" + good,
          replaced(good, "[PyCellObject]\nsizeof = 24\nob_ref = 16\n",
                   "[PyCellObject]\nob_ref = 16\nsizeof = 24"),
          replaced(good, "\"threads.head\" = 16", "'threads.head' = 16"),
          replaced(good, "[PyObject]\nsizeof = 16\nob_type = 8\n", "") +
              "[PyObject]\nsizeof = 16\nob_type = 8\n"}) {
        const auto layout = parse_layout(text, "cpython-3.11.toml");
        if (!layout) FAIL(layout.error().message);
        CHECK(format_layout(*layout) == reference);
    }
}

TEST_CASE("the layout's name is that of its file, in whatever folder") {
    const std::string good = shipped_text("cpython-3.11");
    CHECK(parse_layout(good, "cpython-3.11.toml"));
    CHECK(parse_layout(good, "/a/folder.toml/cpython-3.11.toml"));
    CHECK_FALSE(parse_layout(good, "cpython-3.11.toml/other.toml"));
    CHECK_FALSE(
        parse_layout(replaced(good, "name = \"cpython-3.11\"", "name = \"my layout\""), "my layout.toml"));
    CHECK_FALSE(
        parse_layout(replaced(good, "name = \"cpython-3.11\"", "name = \".hidden\""), ".hidden.toml"));
}
