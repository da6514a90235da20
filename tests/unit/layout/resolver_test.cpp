// SPDX-License-Identifier: Apache-2.0
// Which layout an interpreter gets, and by which words it is refused. Every refusal names the version.
#include "layout/resolver.h"

#include "elf/temporary_folder.h"
#include "layout/shipped_layouts.h"

using namespace pyperf;
using namespace pyperf_test;

namespace {

// As examine_interpreter() describes a file of this version on x86_64.
InterpreterImage image(const char* version, bool free_threaded = false) {
    InterpreterImage made;
    made.name = "python";
    made.architecture = "x86_64";
    made.version = *PythonVersion::parse(version);
    made.version_source = "Py_Version";
    made.free_threaded = free_threaded;
    made.trace_refs = false;
    return made;
}

// With the tables that the file of a layout's version has.
InterpreterImage with_tables(InterpreterImage made, const Layout& layout) {
    for (const char* name : {"co_flags", "co_name", "co_filename", "co_firstlineno"})
        made.code_members[name] = *layout.offset("PyCodeObject", name);
    made.code_members["co_freevars"] = 4242;  // no layout has it
    if (const auto back = layout.offset("PyFrameObject", "f_back")) made.frame_members["f_back"] = *back;
    made.code_type_basicsize = layout.offset("PyCodeObject", "co_code_adaptive");
    return made;
}

Database shipped_database() {
    return Database::open({shipped_folder});
}

std::string refusal(const InterpreterImage& made, std::string_view c_library = "glibc") {
    const Database database = shipped_database();
    const Resolution resolution = resolve_layout(database, made, c_library);
    CHECK(resolution.layout == nullptr);
    CHECK(resolution.evidence.empty());
    CHECK_FALSE(contains(resolution.refusal, "\n"));
    return resolution.refusal;
}

std::string chosen(const InterpreterImage& made, std::string_view c_library = "glibc") {
    const Database database = shipped_database();
    const Resolution resolution = resolve_layout(database, made, c_library);
    INFO(resolution.refusal);
    REQUIRE(resolution.layout);
    CHECK(resolution.refusal.empty());
    CHECK(resolution.layout == database.find(resolution.layout->name));
    CHECK_FALSE(resolution.candidate);
    CHECK(resolution.layout->covers(made.version, made.architecture, c_library));
    return resolution.layout->name;
}

}  // namespace

TEST_CASE("an interpreter gets the layout of exactly its version") {
    CHECK(chosen(image("2.7.18")) == "cpython-2.7");
    CHECK(chosen(image("3.6.0")) == "cpython-3.6");
    CHECK(chosen(image("3.7.3")) == "cpython-3.7.0");
    CHECK(chosen(image("3.7.4")) == "cpython-3.7");
    CHECK(chosen(image("3.11.7")) == "cpython-3.11");
    CHECK(chosen(image("3.14.8")) == "cpython-3.14");
    CHECK(chosen(image("3.15.0")) == "cpython-3.15");
}

TEST_CASE("the evidence says how the version was found and what confirmed the layout") {
    const Database database = shipped_database();
    InterpreterImage made = image("3.11.7");
    CHECK(resolve_layout(database, made, "glibc").evidence == "version 3.11.7 (Py_Version)");
    made.code_members["co_freevars"] = 96;  // nothing of it is in the layout, so it confirms nothing
    CHECK(resolve_layout(database, made, "glibc").evidence == "version 3.11.7 (Py_Version)");
    made = with_tables(made, *database.find("cpython-3.11"));
    CHECK(resolve_layout(database, made, "glibc").evidence ==
          "version 3.11.7 (Py_Version), confirmed by the file's own tables");
    made = image("3.12.1");
    made.code_type_basicsize = database.find("cpython-3.12")->offset("PyCodeObject", "co_code_adaptive");
    CHECK(contains(resolve_layout(database, made, "glibc").evidence, "confirmed by the file's own tables"));
}

TEST_CASE("free-threaded and default builds get their own layouts") {
    CHECK(chosen(image("3.13.0")) == "cpython-3.13");
    CHECK(chosen(image("3.13.0", true)) == "cpython-3.13t");
    CHECK(chosen(image("3.15.2", true)) == "cpython-3.15t");
    CHECK(refusal(image("3.12.1", true)) ==
          "no layout for CPython 3.12.1t x86_64 glibc in the database: add one with pyoffsets generate");

    // From 3.13 on a file that does not tell may be either; before there was one kind only.
    InterpreterImage silent = image("3.13.0");
    silent.free_threaded.reset();
    CHECK(contains(refusal(silent),
                   "CPython 3.13.0 x86_64 glibc: the file does not tell whether it is a "
                   "free-threaded build"));
    silent = image("3.12.1");
    silent.free_threaded.reset();
    CHECK(chosen(silent) == "cpython-3.12");
}

TEST_CASE("a version that is not in the database is refused by name") {
    const auto no_layout = [](const std::string& what) {
        return "no layout for CPython " + what + " in the database: add one with pyoffsets generate";
    };
    // Never a neighbour's offsets on trust: older micro releases, other minor versions.
    CHECK(refusal(image("3.9.1")) == no_layout("3.9.1 x86_64 glibc"));
    CHECK(refusal(image("3.16.0")) == no_layout("3.16.0 x86_64 glibc"));
    CHECK(refusal(image("3.5.10")) == no_layout("3.5.10 x86_64 glibc"));
    CHECK(refusal(image("4.11.7")) == no_layout("4.11.7 x86_64 glibc"));
    InterpreterImage other = image("3.11.7");
    other.architecture = "riscv64";
    CHECK(refusal(other) == no_layout("3.11.7 riscv64 glibc"));
    other = image("3.11.7");
    other.trace_refs = true;
    CHECK(refusal(other) == no_layout("3.11.7 x86_64 glibc (a build with trace-refs)"));
}

TEST_CASE("a newer micro release has its minor version's layout as a candidate, if the file agrees") {
    const Database database = shipped_database();
    const Layout& layout = *database.find("cpython-3.11");
    const InterpreterImage newer = with_tables(image("3.11.99"), layout);
    const Resolution found = resolve_layout(database, newer, "glibc");
    INFO(found.refusal);
    REQUIRE(found.layout);
    CHECK(found.layout->name == "cpython-3.11");
    CHECK(found.candidate);
    CHECK(found.evidence == "version 3.11.99 (Py_Version), newer than cpython-3.11 " +
                                layout.last.to_string() + ", confirmed by the file's own tables");
    CHECK(resolve_layout(database, newer, "").candidate);
    CHECK_FALSE(resolve_layout(database, with_tables(image("3.11.7"), layout), "glibc").candidate);

    // Without tables nothing speaks for it; with others they speak against it.
    CHECK(refusal(image("3.11.99")) ==
          "no layout for CPython 3.11.99 x86_64 glibc in the database, and the file has no tables of its own "
          "to "
          "compare layout cpython-3.11 with; add one with pyoffsets generate");
    InterpreterImage changed = newer;
    changed.code_members["co_flags"] += 8;
    CHECK(
        refusal(changed) ==
        "no layout for CPython 3.11.99 x86_64 glibc in the database, and its own tables are not what layout "
        "cpython-3.11 describes: PyCodeObject.co_flags is 56 in the file and 48 in the layout; add one with "
        "pyoffsets generate");
    // Nothing for other builds, older releases, or other minor versions.
    CHECK(contains(refusal(with_tables(image("3.11.99", true), layout)), "no layout for CPython 3.11.99t"));
    CHECK(contains(refusal(with_tables(image("3.16.0"), layout)), "no layout for CPython 3.16.0"));
    CHECK(contains(refusal(with_tables(image("3.9.1"), *database.find("cpython-3.9"))), "CPython 3.9.1 "));
    InterpreterImage arm = with_tables(image("3.11.99"), layout);
    arm.architecture = "aarch64";
    CHECK(contains(refusal(arm, ""),
                   "its C library is not known, and layout cpython-3.11-aarch64 is for glibc"));
}

TEST_CASE("pre-releases are refused, whatever the database has") {
    for (const char* version : {"3.14.0a1", "3.14.0b4", "3.14.0rc2", "3.11.8rc1"}) {
        const std::string text = refusal(image(version));
        INFO(text);
        CHECK(contains(text, std::string("CPython ") + version + " x86_64 glibc is a pre-release"));
        CHECK(contains(text, "use a final release"));
    }
}

TEST_CASE("where the C library matters it decides, and is not guessed") {
    InterpreterImage made = image("3.11.7");
    made.architecture = "aarch64";
    CHECK(chosen(made, "glibc") == "cpython-3.11-aarch64");
    CHECK(chosen(made, "musl") == "cpython-3.11-aarch64-musl");
    CHECK(refusal(made, "") ==
          "CPython 3.11.7 aarch64: its C library is not known, and layout cpython-3.11-aarch64 "
          "is for glibc, cpython-3.11-aarch64-musl for musl");
    // Where it does not, it need not be known.
    made.version = *PythonVersion::parse("3.12.1");
    CHECK(chosen(made, "") == "cpython-3.12");
    CHECK(chosen(image("3.11.7"), "") == "cpython-3.11");
    CHECK(chosen(image("3.11.7"), "musl") == "cpython-3.11");
    CHECK(contains(refusal(image("3.11.7"), "bionic"), "no layout for CPython 3.11.7 x86_64 bionic"));
    CHECK(refusal(image("3.16.0"), "") ==
          "no layout for CPython 3.16.0 x86_64 in the database: add one with pyoffsets generate");

    // A layout for one C library alone.
    const TemporaryFolder own;
    Layout layout = shipped("cpython-3.11");
    for (const auto& [has, lacks] : {std::pair{"glibc", "musl"}, std::pair{"musl", "glibc"}}) {
        layout.name = "one";
        layout.c_libraries = {has};
        write_file(own.file("one.toml"), format_layout(layout));
        const Database one = Database::open({own.file("")});
        CHECK(resolve_layout(one, image("3.11.7"), has).layout);
        CHECK_FALSE(resolve_layout(one, image("3.11.7"), lacks).layout);
        CHECK(resolve_layout(one, image("3.11.7"), "").refusal ==
              std::string("CPython 3.11.7 x86_64: its C library is not known, and layout one is for ") + has +
                  " only");
        const Database both = Database::open({shipped_folder, own.file("")});
        CHECK(resolve_layout(both, image("3.11.7"), has).layout->name == "one");
        CHECK(resolve_layout(both, image("3.11.7"), lacks).layout->name == "cpython-3.11");
        CHECK(resolve_layout(both, image("3.11.7"), "").layout == nullptr);
    }
}

TEST_CASE("an administrator's layout wins over the shipped one") {
    const TemporaryFolder own;
    Layout layout = shipped("cpython-3.11");
    layout.name = "a-company-3.11";
    layout.first = layout.last = *PythonVersion::parse("3.11.7");
    write_file(own.file("a-company-3.11.toml"), format_layout(layout));
    const Database database = Database::open({shipped_folder, own.file("")});
    CHECK(resolve_layout(database, image("3.11.7"), "glibc").layout->name == "a-company-3.11");
    CHECK(resolve_layout(database, image("3.11.8"), "glibc").layout->name == "cpython-3.11");
}

TEST_CASE("a file whose own tables say something else is refused, member by member") {
    const Layout layout = shipped("cpython-3.11");
    InterpreterImage made = with_tables(image("3.11.7"), layout);
    CHECK(contradictions(made, layout).empty());

    made.code_members["co_flags"] = 52;
    CHECK(contradictions(made, layout) == "PyCodeObject.co_flags is 52 in the file and 48 in the layout");
    made.code_members["co_name"] = 124;
    made.code_type_basicsize = 192;
    CHECK(contradictions(made, layout) ==
          "PyCodeObject.co_flags is 52 in the file and 48 in the layout, PyCodeObject.co_name is 124 in the "
          "file and "
          "120 in the layout, PyCode_Type.tp_basicsize is 192 in the file and 184 in the layout");
    const std::string text = refusal(made);
    CHECK(text.starts_with(
        "CPython 3.11.7 x86_64 glibc is not what layout cpython-3.11 describes: PyCodeObject"));
    CHECK(text.ends_with("; add its own with pyoffsets generate --elf"));

    const Layout older = shipped("cpython-3.9");
    made = with_tables(image("3.9.18"), older);
    CHECK(contradictions(made, older).empty());
    made.frame_members["f_back"] += 16;
    CHECK(contradictions(made, older) == "PyFrameObject.f_back is 40 in the file and 24 in the layout");
    CHECK(contains(refusal(made), "CPython 3.9.18"));
}

TEST_CASE("an empty database refuses everything by name") {
    const Database nothing = Database::open({});
    const Resolution resolution = resolve_layout(nothing, image("3.11.7"), "glibc");
    CHECK(resolution.layout == nullptr);
    CHECK(contains(resolution.refusal, "no layout for CPython 3.11.7 x86_64 glibc"));
    CHECK(contains(resolution.refusal, "pyoffsets generate"));
}
