// SPDX-License-Identifier: Apache-2.0
// The check of layouts: each rule fails when it is broken, and names the place.
#include "layout/layout_check.h"

#include <functional>

#include "layout/shipped_layouts.h"
#include "layout/structures.h"

using namespace pyperf;
using namespace pyperf_test;

namespace {

using Kind = KnownMember::Kind;

uint32_t& member(Layout& layout, std::string_view structure, std::string_view name) {
    const auto found = layout.structs.find(structure);
    REQUIRE(found != layout.structs.end());
    const auto entry = found->second.members.find(name);
    REQUIRE(entry != found->second.members.end());
    return entry->second;
}

StructLayout& structure(Layout& layout, std::string_view name) {
    const auto found = layout.structs.find(name);
    REQUIRE(found != layout.structs.end());
    return found->second;
}

struct Broken {
    const char* layout;
    std::function<void(Layout&)> change;
    const char* table;
    const char* key;
    const char* what;  // a part of it
};

void check_all(const std::vector<Broken>& all) {
    for (const Broken& broken : all) {
        INFO(broken.layout << ": expected " << broken.table << "." << broken.key << " " << broken.what);
        Layout layout = shipped(broken.layout);
        REQUIRE_FALSE(find_fault(layout));
        broken.change(layout);
        const auto found = find_fault(layout);
        if (!found) {
            FAIL_CHECK("no fault is found");
            continue;
        }
        INFO("found: " << found->table << "." << found->key << " " << found->what);
        CHECK(found->table == broken.table);
        CHECK(found->key == broken.key);
        CHECK(contains(found->what, broken.what));
        CHECK_FALSE(check_layout(layout));
    }
}

}  // namespace

TEST_CASE("the shipped layouts are without fault") {
    for (const std::string& name : shipped_names()) {
        INFO(name);
        CHECK_FALSE(find_fault(shipped(name)));
        CHECK(check_layout(shipped(name)));
    }
}

TEST_CASE("faults in name, versions, builds and provenance are found") {
    check_all({
        {"cpython-3.11", [](Layout& l) { l.name = ""; }, "", "name", "has to be 1 to 64"},
        {"cpython-3.11", [](Layout& l) { l.name = "../3.11"; }, "", "name", "has to be"},
        {"cpython-3.11", [](Layout& l) { l.name = ".3.11"; }, "", "name", "has to be"},
        {"cpython-3.11", [](Layout& l) { l.name = "a b"; }, "", "name", "has to be"},
        {"cpython-3.11", [](Layout& l) { l.name = std::string(65, 'a'); }, "", "name", "has to be"},
        {"cpython-3.11", [](Layout& l) { l.first.level = 0xc; }, "versions", "first", "is no final release"},
        {"cpython-3.11", [](Layout& l) { l.last.level = 0xa; }, "versions", "last", "is no final release"},
        {"cpython-3.11", [](Layout& l) { std::swap(l.first, l.last); }, "versions", "last",
         "is before first"},
        {"cpython-3.11", [](Layout& l) { l.last.minor = 12; }, "versions", "last",
         "different minor versions"},
        {"cpython-3.11", [](Layout& l) { l.first.major = 2; }, "versions", "last",
         "different minor versions"},
        {"cpython-3.11", [](Layout& l) { l.architectures.clear(); }, "abi", "architectures", "is empty"},
        {"cpython-3.11", [](Layout& l) { l.architectures = {"x86-64"}; }, "abi", "architectures",
         "is not known"},
        {"cpython-3.11", [](Layout& l) { l.c_libraries.clear(); }, "abi", "c_libraries", "is empty"},
        {"cpython-3.11",
         [](Layout& l) {
             l.c_libraries = {"musl", "musl"};
         },
         "abi", "c_libraries", "there twice"},
        {"cpython-3.12", [](Layout& l) { l.free_threaded = true; }, "abi", "free_threaded", "before 3.13"},
        {"cpython-3.11", [](Layout& l) { l.provenance.clear(); }, "", "provenance", "is missing"},
        {"cpython-3.11", [](Layout& l) { l.provenance[0].source = "a guess"; }, "provenance", "source",
         "dwarf"},
        {"cpython-3.11", [](Layout& l) { l.provenance[0].version = "3"; }, "provenance", "version",
         "no CPython"},
        {"cpython-3.11", [](Layout& l) { l.provenance[0].detail = ""; }, "provenance", "detail", "is empty"},
        {"cpython-3.11", [](Layout& l) { l.provenance[0].command = ""; }, "provenance", "command",
         "is empty"},
        {"cpython-3.11", [](Layout& l) { l.provenance[0].date = "2026-12-2"; }, "provenance", "date",
         "YYYY-MM-DD"},
        {"cpython-3.11",
         [](Layout& l) {
             l.provenance.push_back(l.provenance[0]);
             l.provenance[1].date = "2026/12/02";
         },
         "provenance", "date", "YYYY-MM-DD"},
    });
}

TEST_CASE("rules that do not fit the version or the members are found") {
    check_all({
        {"cpython-3.10", [](Layout& l) { l.frame_chain = FrameChain::cframe; }, "rules", "frame_chain",
         "cframe"},
        {"cpython-3.12", [](Layout& l) { l.frame_chain = FrameChain::current_frame; }, "rules", "frame_chain",
         "PyThreadState.current_frame"},
        {"cpython-3.13", [](Layout& l) { l.frame_chain = FrameChain::frame_object; }, "rules", "frame_chain",
         "PyThreadState.frame"},
        {"cpython-2.7", [](Layout& l) { l.line_table = LineTable::lnotab_signed; }, "rules", "line_table",
         "not that of 2.7"},
        {"cpython-3.6", [](Layout& l) { l.line_table = LineTable::lnotab_unsigned; }, "rules", "line_table",
         "not that of 3.6"},
        {"cpython-3.9", [](Layout& l) { l.line_table = LineTable::pep626_pairs; }, "rules", "line_table",
         "PyCodeObject.co_linetable"},
        {"cpython-3.10", [](Layout& l) { l.line_table = LineTable::locations; }, "rules", "line_table",
         "PyCodeObject.co_code_adaptive"},
        {"cpython-3.11", [](Layout& l) { l.line_table = LineTable::pep626_pairs; }, "rules", "line_table",
         "not that of 3.11"},
        {"cpython-3.15", [](Layout& l) { l.line_table = LineTable::lnotab_signed; }, "rules", "line_table",
         "PyCodeObject.co_lnotab"},
        {"cpython-2.7", [](Layout& l) { l.thread_binding = ThreadBinding::pthread_key; }, "rules",
         "thread_binding", "not that of 2.7"},
        {"cpython-3.6", [](Layout& l) { l.thread_binding = ThreadBinding::key_list; }, "rules",
         "thread_binding", "not that of 3.6"},
        {"cpython-3.6", [](Layout& l) { l.thread_binding = ThreadBinding::runtime_key; }, "rules",
         "thread_binding", "Py_tss_t._key"},
        {"cpython-3.7", [](Layout& l) { l.thread_binding = ThreadBinding::pthread_key; }, "rules",
         "thread_binding", "not that of 3.7"},
        {"cpython-3.14", [](Layout& l) { l.thread_binding = ThreadBinding::thread_local_; }, "rules",
         "thread_binding", "PyThreadState.base_frame"},
        {"cpython-3.15", [](Layout& l) { l.thread_binding = ThreadBinding::pthread_key; }, "rules",
         "thread_binding", "not that of 3.15"},
        {"cpython-2.7", [](Layout& l) { l.string_kind = StringKind::unicode; }, "rules", "string_kind",
         "PyASCIIObject.state"},
        {"cpython-3.8", [](Layout& l) { l.string_kind = StringKind::bytes; }, "rules", "string_kind",
         "PyStringObject.ob_sval"},
        {"cpython-3.10", [](Layout& l) { l.instruction_unit = 1; }, "rules", "instruction_unit", "2 in 3.10"},
        {"cpython-3.9", [](Layout& l) { l.instruction_unit = 2; }, "rules", "instruction_unit", "2 in 3.10"},
        {"cpython-3.10", [](Layout& l) { l.instruction_unit = 4; }, "rules", "instruction_unit", "1 or 2"},
        {"cpython-3.14", [](Layout& l) { l.executable_tag_mask = 8; }, "rules", "executable_tag_mask",
         "0 to 7"},
        {"cpython-3.14", [](Layout& l) { l.executable_tag_mask = 0; }, "rules", "executable_tag_mask",
         "from 3.14 on"},
        {"cpython-3.13", [](Layout& l) { l.executable_tag_mask = 3; }, "rules", "executable_tag_mask",
         "before 3.14"},
        {"cpython-3.12", [](Layout& l) { l.first_shim_owner.reset(); }, "rules", "first_shim_owner",
         "is missing"},
        {"cpython-3.11", [](Layout& l) { l.first_shim_owner = 3; }, "rules", "first_shim_owner",
         "before 3.12"},
        {"cpython-3.15t", [](Layout& l) { l.first_shim_owner = 0; }, "rules", "first_shim_owner", "1 to 127"},
        {"cpython-3.15t", [](Layout& l) { l.first_shim_owner = 128; }, "rules", "first_shim_owner",
         "1 to 127"},
    });
}

TEST_CASE("faults between structures are found") {
    check_all({
        {"cpython-3.9",
         [](Layout& l) {
             structure(l, "PyTupleObject").size = 8;
             member(l, "PyTupleObject", "ob_item") = 8;
         },
         "PyTupleObject", "sizeof", "is less than the head of every object"},
        {"cpython-3.11", [](Layout& l) { member(l, "PyVarObject", "ob_size") = 8; }, "PyVarObject", "ob_size",
         "lies inside PyObject"},
        {"cpython-3.11", [](Layout& l) { member(l, "PyObject", "ob_type") = 0; }, "PyObject", "ob_type",
         "is not the last member"},
        {"cpython-3.12", [](Layout& l) { l.trace_refs = true; }, "PyObject", "sizeof",
         "16 does not fit abi.free_threaded = false and abi.trace_refs = true"},
        {"cpython-3.13",
         [](Layout& l) {
             // All of it is a default build's but the head.
             structure(l, "PyObject").size = 32;
             member(l, "PyObject", "ob_type") = 24;
             structure(l, "PyVarObject").size = 40;
             member(l, "PyVarObject", "ob_size") = 32;
         },
         "PyObject", "sizeof", "32 does not fit abi.free_threaded = false"},
        {"cpython-3.13t",
         [](Layout& l) {
             structure(l, "PyObject").size = 16;
             member(l, "PyObject", "ob_type") = 8;
         },
         "PyObject", "sizeof", "16 does not fit abi.free_threaded = true"},
        {"cpython-3.11", [](Layout& l) { member(l, "PyCodeObject", "co_flags") = 8; }, "PyCodeObject",
         "co_flags", "lies inside the head"},
        {"cpython-3.13t", [](Layout& l) { member(l, "PyCodeObject", "co_flags") = 28; }, "PyCodeObject",
         "co_flags", "lies inside the head of every object (32 bytes)"},
        {"cpython-3.9", [](Layout& l) { member(l, "PyCellObject", "ob_ref") = 0; }, "PyCellObject", "ob_ref",
         "lies inside the head"},
        {"cpython-3.9", [](Layout& l) { member(l, "PyBytesObject", "ob_size") = 24; }, "PyBytesObject",
         "ob_size", "is not where PyVarObject has it (16)"},
        {"cpython-2.7", [](Layout& l) { member(l, "PyStringObject", "ob_size") = 24; }, "PyStringObject",
         "ob_size", "is not where PyVarObject has it (16)"},
        {"cpython-3.9",
         [](Layout& l) {
             structure(l, "PyCompactUnicodeObject").size = 56;
             structure(l, "PyASCIIObject").size = 56;
         },
         "PyCompactUnicodeObject", "sizeof", "is not larger than PyASCIIObject"},
        {"cpython-3.9", [](Layout& l) { member(l, "PyASCIIObject", "state.ascii_shift") = 3; },
         "PyASCIIObject", "state.ascii_shift", "is not the bit behind state.compact"},
        {"cpython-3.9", [](Layout& l) { member(l, "PyASCIIObject", "state.compact_shift") = 3; },
         "PyASCIIObject", "state.compact_shift", "is not the bit behind state.kind"},
        {"cpython-3.9",
         [](Layout& l) {
             member(l, "PyASCIIObject", "state.kind_shift") = 27;
             member(l, "PyASCIIObject", "state.kind_bits") = 3;
             member(l, "PyASCIIObject", "state.compact_shift") = 30;
             member(l, "PyASCIIObject", "state.ascii_shift") = 32;
         },
         "PyASCIIObject", "state.ascii_shift", "is the position of a bit"},
    });
}

// Whatever is done to one member of one layout is found, and said of its structure.
TEST_CASE("each member of each shipped layout is checked") {
    size_t members = 0;
    for (const std::string& name : shipped_names()) {
        const Layout layout = shipped(name);
        for (const auto& [table, content] : layout.structs) {
            const KnownStructure& known = *known_structure(table);
            for (const auto& [key, value] : content.members) {
                INFO(name << ": " << table << "." << key);
                const auto fault_with = [&, &t = table, &k = key](uint32_t changed) {
                    Layout copy = layout;
                    member(copy, t, k) = changed;
                    return find_fault(copy);
                };
                members++;
                Layout without = layout;
                structure(without, table).members.erase(key);
                const auto missing = find_fault(without);
                REQUIRE(missing);
                CHECK(missing->table == table);
                CHECK(missing->what == key + " is missing");

                const auto one = std::ranges::find(known.members, std::string_view(key), &KnownMember::name);
                REQUIRE(one != known.members.end());
                if (!is_byte_offset(one->kind)) {
                    REQUIRE(fault_with(33));
                    CHECK(fault_with(33)->key == key);
                    continue;
                }
                const auto far = fault_with(kMaxOffset + 8);
                REQUIRE(far);
                CHECK(far->key == key);
                CHECK(contains(far->what, "out of range"));
                const auto farthest = fault_with(0xfffffff8);  // plus its bytes that is 0
                REQUIRE(farthest);
                CHECK(contains(farthest->what, "out of range"));
                if (one->bytes > 1) {
                    const auto unaligned = fault_with(value + 1);
                    REQUIRE(unaligned);
                    CHECK(unaligned->key == key);
                    CHECK(contains(unaligned->what, "is not a multiple of the member's"));
                }
                if (content.size) {
                    const auto behind = fault_with(*content.size + 8 - *content.size % 8);
                    REQUIRE(behind);
                    CHECK(behind->key == key);
                    CHECK(contains(behind->what, "ends behind the structure"));
                }
            }
        }
    }
    CHECK(members > 31 * 36);
}

TEST_CASE("no two members of a shipped layout can be in one place") {
    for (const char* name : {"cpython-2.7", "cpython-3.7", "cpython-3.11", "cpython-3.14t", "cpython-3.15"}) {
        const Layout layout = shipped(name);
        for (const auto& [table, content] : layout.structs) {
            for (const auto& [key, value] : content.members) {
                for (const auto& [other, place] : content.members) {
                    if (key == other || key.starts_with("state.") || other.starts_with("state.")) continue;
                    INFO(name << ": " << table << "." << key << " at that of " << other);
                    Layout copy = layout;
                    member(copy, table, key) = place;
                    CHECK(find_fault(copy));
                }
            }
        }
    }
}

TEST_CASE("each structure of each shipped layout is needed, with its size") {
    for (const std::string& name : shipped_names()) {
        const Layout layout = shipped(name);
        for (const auto& [table, content] : layout.structs) {
            INFO(name << ": " << table);
            Layout without = layout;
            without.structs.erase(without.structs.find(table));
            const auto missing = find_fault(without);
            REQUIRE(missing);
            CHECK(missing->what == "[" + table + "] is missing");

            Layout other_size = layout;
            StructLayout& changed = structure(other_size, table);
            if (content.size) {
                changed.size.reset();
                REQUIRE(find_fault(other_size));
                CHECK(find_fault(other_size)->what == "sizeof is missing");
                changed.size = 0;
                REQUIRE(find_fault(other_size));
                CHECK(contains(find_fault(other_size)->what, "0 is out of range"));
                changed.size = kMaxOffset + 1;
                REQUIRE(find_fault(other_size));
                CHECK(contains(find_fault(other_size)->what, "is out of range"));
            } else {
                changed.size = 4096;
                REQUIRE(find_fault(other_size));
                CHECK(find_fault(other_size)->what == "is not part of a layout");
            }
            CHECK(find_fault(other_size)->table == table);
        }
        Layout more = layout;
        more.structs["PyDictObject"].members["ma_keys"] = 32;
        REQUIRE(find_fault(more));
        CHECK(find_fault(more)->what == "is no structure that a layout has");
    }
}

TEST_CASE("a fault is told with the layout's name and the place") {
    Layout layout = shipped("cpython-3.11");
    member(layout, "PyCodeObject", "co_name") = 121;
    CHECK(check_layout(layout).error().message ==
          "layout cpython-3.11: PyCodeObject.co_name: 121 is not a multiple of the member's 8 bytes: no "
          "compiler "
          "puts it there");
    layout = shipped("cpython-3.11");
    layout.structs.erase("PyCellObject");
    CHECK(check_layout(layout).error().message == "layout cpython-3.11: [PyCellObject] is missing");
}
