// SPDX-License-Identifier: Apache-2.0
// The table of structures and members that layouts have.
#include "layout/structures.h"

#include <set>

#include "layout/shipped_layouts.h"

using namespace pyperf;
using namespace pyperf_test;

namespace {

using Kind = KnownMember::Kind;

const KnownMember& member(std::string_view structure, std::string_view name) {
    const KnownStructure* known = known_structure(structure);
    REQUIRE(known);
    for (const KnownMember& one : known->members)
        if (one.name == name) return one;
    FAIL(structure << "." << name);
    std::abort();
}

bool exists(std::string_view structure, std::string_view name, uint8_t major, uint8_t minor,
            bool free_threaded = false) {
    return exists_in(member(structure, name), PythonVersion{major, minor, 0, 0xf, 0}, free_threaded);
}

}  // namespace

TEST_CASE("every structure and member is known once, with what its kind needs") {
    std::set<std::string_view> structures;
    std::set<std::string_view> c_names;
    for (const KnownStructure& known : known_structures()) {
        INFO(known.name);
        CHECK(structures.insert(known.name).second);
        CHECK(known_structure(known.name) == &known);
        CHECK_FALSE(known.c_names.empty());
        for (const auto name : known.c_names) CHECK(c_names.insert(name).second);
        std::set<std::string_view> members;
        for (const KnownMember& one : known.members) {
            INFO(one.name);
            CHECK(members.insert(one.name).second);
            CHECK(one.name != "sizeof");
            CHECK(one.first <= one.last);
            if (one.kind == Kind::offset)
                CHECK((one.bytes == 1 || one.bytes == 2 || one.bytes == 4 || one.bytes == 8));
            else
                CHECK(one.bytes == 0);
            if (one.kind == Kind::shift) CHECK(one.name.ends_with("_shift"));
            if (one.kind == Kind::bits) CHECK(one.name.ends_with("_bits"));
            CHECK(is_byte_offset(one.kind) == (one.kind == Kind::offset || one.kind == Kind::flexible));
        }
        CHECK_FALSE(members.empty());
    }
    CHECK(known_structure("PyDictObject") == nullptr);
    CHECK(known_structure("") == nullptr);
    CHECK(known_structure("PyObjec") == nullptr);
}

TEST_CASE("a member exists from its first to its last minor version, and in its build") {
    CHECK(exists("PyCodeObject", "co_lnotab", 2, 7));
    CHECK(exists("PyCodeObject", "co_lnotab", 3, 9));
    CHECK_FALSE(exists("PyCodeObject", "co_lnotab", 3, 10));
    CHECK_FALSE(exists("PyCodeObject", "co_linetable", 3, 9));
    CHECK(exists("PyCodeObject", "co_linetable", 3, 10));
    CHECK(exists("PyCodeObject", "co_linetable", 3, 99));
    CHECK(exists("_PyInterpreterFrame", "is_entry", 3, 11));
    CHECK_FALSE(exists("_PyInterpreterFrame", "is_entry", 3, 12));
    CHECK_FALSE(exists("_PyInterpreterFrame", "is_entry", 3, 10));
    CHECK_FALSE(exists("_PyInterpreterFrame", "tlbc_index", 3, 14));
    CHECK(exists("_PyInterpreterFrame", "tlbc_index", 3, 14, true));
    CHECK_FALSE(exists("_PyInterpreterFrame", "tlbc_index", 3, 13, true));
    CHECK(exists("PyObject", "ob_type", 2, 7));
}

TEST_CASE("a structure exists where a member of it does") {
    const auto there = [](std::string_view name, uint8_t major, uint8_t minor, bool free_threaded = false) {
        return exists_in(*known_structure(name), PythonVersion{major, minor, 0, 0xf, 0}, free_threaded);
    };
    CHECK(there("PyStringObject", 2, 7));
    CHECK_FALSE(there("PyStringObject", 3, 6));
    CHECK_FALSE(there("PyASCIIObject", 2, 7));
    CHECK_FALSE(there("_PyRuntimeState", 3, 6));
    CHECK(there("_PyRuntimeState", 3, 7));
    CHECK(there("PyFrameObject", 3, 10));
    CHECK_FALSE(there("PyFrameObject", 3, 11));
    CHECK(there("Py_tss_t", 3, 14));
    CHECK_FALSE(there("Py_tss_t", 3, 15));
    CHECK_FALSE(there("_PyCodeArray", 3, 14));
    CHECK(there("_PyCodeArray", 3, 14, true));
}

TEST_CASE("minor versions are ordered as numbers") {
    CHECK(version_key(3, 9) < version_key(3, 10));
    CHECK(version_key(2, 99) < version_key(3, 0));
    CHECK(version_key(3, 11) == 0x030b);
}

TEST_CASE("the shipped layouts have exactly the members of their version") {
    for (const std::string& name : shipped_names()) {
        INFO(name);
        const Layout layout = shipped(name);
        size_t members = 0;
        for (const KnownStructure& known : known_structures())
            for (const KnownMember& one : known.members) {
                INFO(known.name << "." << one.name);
                const bool wanted = exists_in(one, layout.first, layout.free_threaded);
                CHECK(layout.offset(known.name, one.name).has_value() == wanted);
                members += wanted;
            }
        size_t there = 0;
        for (const auto& [structure, content] : layout.structs) there += content.members.size();
        CHECK(there == members);
        CHECK(members >= 31);
    }
}
