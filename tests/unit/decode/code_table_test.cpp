// SPDX-License-Identifier: Apache-2.0
#include "decode/code_table.h"

#include <string>

#include "catch2_header.h"

using namespace pyperf;

namespace {

// A code object of lnotab_signed: its first line is 10, and from byte 4 on it is line 12.
CodeObject made_code(uint64_t id, const std::string& name, const std::string& qualname = "") {
    CodeObject code;
    code.id = id;
    code.pid = 77;
    code.name = name;
    code.qualname = qualname;
    code.filename = "/srv/app.py";
    code.first_line = 10;
    code.line_format = LineTable::lnotab_signed;
    code.lines = {4, 2};
    return code;
}

ClassName made_class(uint64_t id, const std::string& name, bool cut = false) {
    return {id, 77, name, cut};
}

pyperf_frame at(uint64_t code_id, int32_t instruction = 0, uint64_t class_id = 0, uint32_t flags = 0) {
    return {code_id, class_id, instruction, flags};
}

std::vector<std::string> names(const std::vector<Frame>& frames) {
    std::vector<std::string> out;
    for (const Frame& frame : frames) out.emplace_back(frame.name);
    return out;
}

}  // namespace

TEST_CASE("a frame has its code object's name, file and line") {
    CodeTable table;
    REQUIRE(table.add(made_code(1, "run", "Server.run")));
    CHECK(table.has_code(1));
    CHECK_FALSE(table.has_code(2));
    const Frame frame = table.resolve(at(1, 2, 0, PYPERF_FRAME_ENTRY));
    CHECK(frame.code_id == 1);
    CHECK(frame.known);
    CHECK(frame.entry);
    CHECK(frame.name == "Server.run");
    CHECK(frame.file == "/srv/app.py");
    CHECK(frame.line == 10);
    CHECK(table.resolve(at(1, 4)).line == 12);
    CHECK(table.resolve(at(1, 4)).line == 12);  // remembered
    CHECK(table.resolve(at(1, -1)).line == 10);
    CHECK_FALSE(table.resolve(at(1)).entry);
}

TEST_CASE("a code object that did not come has a placeholder, until it comes") {
    CodeTable table;
    const Frame unknown = table.resolve(at(1, 4, 0, PYPERF_FRAME_ENTRY));
    CHECK_FALSE(unknown.known);
    CHECK(unknown.entry);
    CHECK(unknown.name == "[unknown code object]");
    CHECK(unknown.file.empty());
    CHECK_FALSE(unknown.line);
    table.add(made_code(1, "run"));
    CHECK(table.resolve(at(1, 4)).name == "run");
    CHECK(table.resolve(at(1, 4)).line == 12);
}

TEST_CASE("the name is the qualified one, else with the class, else alone; and never empty") {
    CodeTable table;
    table.add(made_code(1, "run"));
    table.add(made_code(2, "run", "Server.run"));
    table.add(made_code(3, ""));
    CHECK(table.resolve(at(1, 0, 50)).name == "run");  // the class did not come yet
    REQUIRE(table.add(made_class(50, "Worker")));
    CHECK(table.resolve(at(1, 0, 50)).name == "Worker.run");
    CHECK(table.resolve(at(1, 0, 50)).name == "Worker.run");  // remembered
    CHECK(table.resolve(at(1, 0, 51)).name == "run");
    CHECK(table.resolve(at(1)).name == "run");
    CHECK(table.resolve(at(2, 0, 50)).name == "Server.run");
    CHECK(table.resolve(at(3)).name == "[empty name]");
    // The same function as a method of another class.
    table.add(made_class(51, "Other"));
    CHECK(table.resolve(at(1, 0, 51)).name == "Other.run");
    CHECK(table.resolve(at(1, 0, 50)).name == "Worker.run");
}

TEST_CASE("a class id of 0 is no class") {
    CodeTable table;
    table.add(made_code(1, "run"));
    table.add(made_class(0, "Nothing"));
    CHECK(table.resolve(at(1, 0, 0)).name == "run");
}

TEST_CASE("a class whose name is empty is none, and one that is there stays") {
    CodeTable table;
    table.add(made_code(1, "run"));
    CHECK(table.add(made_class(50, "", true)));
    CHECK(table.resolve(at(1, 0, 50)).name == "run");
    CHECK(table.add(made_class(50, "Worker")));
    CHECK(table.add(made_class(50, "Late")));
    CHECK(table.resolve(at(1, 0, 50)).name == "Worker.run");
}

TEST_CASE("a cut name says so") {
    CodeTable table;
    CodeObject code = made_code(1, "na", "Class.na");
    code.qualname_cut = true;
    code.filename_cut = true;
    code.filename = "/dir";
    table.add(code);
    CHECK(table.resolve(at(1)).name == "Class.na...");
    CHECK(table.resolve(at(1)).file == "/dir...");

    code = made_code(2, "na");
    code.name_cut = true;
    table.add(code);
    table.add(made_class(50, "Long", true));
    CHECK(table.resolve(at(2)).name == "na...");
    CHECK(table.resolve(at(2, 0, 50)).name == "Long....na...");

    // Nothing of the qualified name could be read: the plain one is better.
    code = made_code(3, "name");
    code.qualname_cut = true;
    table.add(code);
    CHECK(table.resolve(at(3)).name == "name");
    code = made_code(4, "");
    code.name_cut = true;
    table.add(code);
    CHECK(table.resolve(at(4)).name == "...");
}

TEST_CASE("a cut line table answers only for what it has") {
    CodeTable table;
    CodeObject code = made_code(1, "run");
    code.lines_cut = true;
    table.add(code);
    CHECK(table.resolve(at(1, 2)).line == 10);
    CHECK_FALSE(table.resolve(at(1, 4)).line);
}

TEST_CASE("of two records of a code object the one with more pieces counts") {
    CodeTable table;
    CodeObject worse = made_code(1, "ru");
    worse.name_cut = true;
    worse.lines_cut = true;
    REQUIRE(table.add(worse));
    table.add(made_class(50, "Worker"));
    const Frame before = table.resolve(at(1, 4, 50));
    CHECK(before.name == "Worker.ru...");
    CHECK_FALSE(before.line);

    CodeObject as_bad = made_code(1, "other");
    as_bad.filename_cut = true;
    as_bad.qualname_cut = true;
    CHECK(table.add(as_bad));
    CHECK(table.resolve(at(1)).name == "ru...");

    REQUIRE(table.add(made_code(1, "run")));
    CHECK(table.codes() == 1);
    CHECK(table.resolve(at(1, 4, 50)).name == "Worker.run");  // nothing is remembered of the worse one
    CHECK(table.resolve(at(1, 4, 50)).line == 12);
    CHECK(table.resolve(at(1)).name == "run");
    CHECK(before.name == "Worker.ru...");  // a frame's texts live as long as the table

    CHECK(table.add(worse));
    CHECK(table.add(made_code(1, "third")));
    CHECK(table.resolve(at(1)).name == "run");
    CHECK(table.refused() == 0);
}

TEST_CASE("a text that is there is not counted twice") {
    CodeTable table;
    table.add(made_code(1, "run"));
    const size_t once = table.bytes();
    CHECK(once == std::string("run/srv/app.py").size() + 2);
    table.add(made_code(2, "run"));
    CHECK(table.bytes() == once + 2);  // its line table
    CHECK(table.resolve(at(1)).name.data() == table.resolve(at(2)).name.data());
    CHECK(table.resolve(at(1)).file.data() == table.resolve(at(2)).file.data());
    // A better record's line table is counted in place of the worse one's.
    CodeObject cut = made_code(3, "run");
    cut.lines_cut = true;
    cut.lines.assign(100, 0);
    table.add(cut);
    table.add(made_code(3, "run"));
    CHECK(table.bytes() == once + 4);
}

TEST_CASE("a full table refuses what is new, and says so") {
    CodeTable table(2);
    CHECK(table.add(made_code(1, "one")));
    CodeObject cut = made_code(2, "tw");
    cut.name_cut = true;
    CHECK(table.add(cut));
    CHECK_FALSE(table.add(made_code(3, "three")));
    CHECK(table.refused() == 1);
    CHECK(table.codes() == 2);
    CHECK_FALSE(table.resolve(at(3)).known);
    Stack stack;
    stack.frames = {at(1), at(2)};
    CHECK(table.has_codes(stack));
    stack.frames.push_back(at(3));
    CHECK_FALSE(table.has_codes(stack));
    CHECK(table.add(made_code(1, "one")));  // is there
    CHECK(table.add(made_code(2, "two")));  // takes no further entry
    CHECK(table.resolve(at(2)).name == "two");
    CHECK(table.refused() == 1);

    // Classes have room for as many.
    CHECK(table.add(made_class(50, "A")));
    CHECK(table.add(made_class(51, "B")));
    CHECK_FALSE(table.add(made_class(52, "C")));
    CHECK(table.refused() == 2);
    CHECK(table.resolve(at(1, 0, 51)).name == "B.one");
    CHECK(table.resolve(at(1, 0, 52)).name == "one");
}

TEST_CASE("a table that has its bytes grows by nothing, not by a better record either") {
    CodeTable table(100, 200);
    CodeObject cut = made_code(1, "run");
    cut.lines_cut = true;
    REQUIRE(table.add(cut));
    REQUIRE(table.add(made_class(50, "Worker")));
    CodeObject long_one = made_code(2, std::string(300, 'n'));
    REQUIRE(table.add(long_one));  // there was room when it came
    const size_t full = table.bytes();
    CHECK(full > 200);

    CHECK_FALSE(table.add(made_code(3, "three")));
    CHECK_FALSE(table.add(made_class(51, "Other")));
    CodeObject better = made_code(1, "a longer name");
    better.lines.assign(1000, 0);
    CHECK_FALSE(table.add(better));
    CHECK(table.refused() == 3);
    CHECK(table.resolve(at(1)).name == "run");
    CHECK(table.resolve(at(1, 0, 50)).name == "run");  // no room for the name with the class
    CHECK(table.bytes() == full);
    CHECK(table.add(cut));  // is there
}

TEST_CASE("what is remembered is thrown away when it is too much, and made again") {
    CodeTable table;
    table.add(made_code(1, "run"));
    table.add(made_class(50, "Worker"));
    const Frame first = table.resolve(at(1, 0, 50));
    size_t wrong = 0;
    // More positions and more pairs than are kept.
    for (int32_t i = 0; i < 300'000; ++i) {
        const Frame frame = table.resolve(at(1, i, 50));
        wrong += frame.line != (i < 4 ? 10 : 12) || frame.name != "Worker.run";
    }
    CHECK(wrong == 0);
    CHECK(table.remembered() < 200'000);
    CHECK(table.resolve(at(1, 0, 50)).line == 10);
    CHECK(table.resolve(at(1, 4, 50)).line == 12);
    CHECK(table.resolve(at(1, 0, 50)).name.data() == first.name.data());
}

TEST_CASE("names with classes are thrown away when they are too many, and frames keep theirs") {
    CodeTable table;
    table.add(made_class(1 << 20, "Worker"));
    table.add(made_code(1 << 20, "first"));
    const Frame first = table.resolve(at(1 << 20, 0, 1 << 20));
    size_t wrong = 0;
    for (uint64_t id = 1; id <= 270'000; ++id) {
        table.add(made_code(id, "run"));
        wrong += table.resolve(at(id, 0, 1 << 20)).name != "Worker.run";
    }
    CHECK(wrong == 0);
    CHECK(table.remembered() < 200'000);
    CHECK(first.name == "Worker.first");
    CHECK(table.resolve(at(1 << 20, 0, 1 << 20)).name.data() == first.name.data());
}

TEST_CASE("a frame of 3.11 and later that has not begun is not shown") {
    CodeTable table;
    CodeObject code = made_code(1, "caller", "caller");
    code.first_traceable = 4;
    table.add(code);
    code.id = 2;
    code.qualname = "callee";
    table.add(code);
    table.add(made_code(3, "older", "older"));  // no such beginning

    CHECK(table.is_incomplete(at(1, 2)));
    CHECK(table.is_incomplete(at(1, -2)));
    CHECK_FALSE(table.is_incomplete(at(1, 4)));
    // A generator that was not started is at its beginning, and its frame is shown once it runs.
    CHECK_FALSE(table.is_incomplete(at(1, 2, 0, PYPERF_FRAME_GENERATOR)));
    CHECK_FALSE(table.is_incomplete(at(3, -1)));
    CHECK_FALSE(table.is_incomplete(at(9, -1)));  // nothing is known of it

    Stack stack;
    stack.frames = {at(2, 2), at(9, 0), at(1, 0), at(3, -1), at(1, 6)};
    CHECK(names(table.resolve(stack)) ==
          std::vector<std::string>{"[unknown code object]", "older", "caller"});
}

TEST_CASE("where a C call's outermost frame is not shown, the one that it called is the outermost") {
    CodeTable table;
    CodeObject code = made_code(1, "run", "run");
    code.first_traceable = 4;
    table.add(code);
    const auto entries = [&table](std::vector<pyperf_frame> frames) {
        Stack stack;
        stack.frames = std::move(frames);
        std::vector<bool> out;
        for (const Frame& frame : table.resolve(stack)) out.push_back(frame.entry);
        return out;
    };
    const uint32_t entry = PYPERF_FRAME_ENTRY;
    using Entries = std::vector<bool>;
    CHECK(entries({at(1, 8), at(1, 6), at(1, 0, 0, entry), at(1, 6, 0, entry)}) ==
          Entries{false, true, true});
    CHECK(entries({at(1, 8), at(1, 0), at(1, 6, 0, entry)}) == Entries{false, true});
    // Two that are not shown, one behind the other.
    CHECK(entries({at(1, 8), at(1, 0), at(1, 0, 0, entry)}) == Entries{true});
    // The leaf itself: its C call has no frame to show.
    CHECK(entries({at(1, 0, 0, entry), at(1, 6)}) == Entries{false});
    CHECK(entries({}).empty());
}
