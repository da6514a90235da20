// SPDX-License-Identifier: Apache-2.0
#include "layout/structures.h"

#include <algorithm>
#include <array>

namespace pyperf {
namespace {

using Kind = KnownMember::Kind;
using Build = KnownMember::Build;

constexpr uint16_t v27 = version_key(2, 7);
constexpr uint16_t v30 = version_key(3, 0);
constexpr uint16_t v33 = version_key(3, 3);
constexpr uint16_t v37 = version_key(3, 7);
constexpr uint16_t v38 = version_key(3, 8);
constexpr uint16_t v39 = version_key(3, 9);
constexpr uint16_t v310 = version_key(3, 10);
constexpr uint16_t v311 = version_key(3, 11);
constexpr uint16_t v312 = version_key(3, 12);
constexpr uint16_t v313 = version_key(3, 13);
constexpr uint16_t v314 = version_key(3, 14);
constexpr uint16_t v315 = version_key(3, 15);
constexpr uint16_t newest = 0xffff;

constexpr KnownMember kObject[] = {{"ob_type"}};
constexpr KnownMember kVarObject[] = {{"ob_size"}};
constexpr KnownMember kTypeObject[] = {{"tp_name"}, {"tp_basicsize"}, {"tp_flags"}, {"tp_members"}};
constexpr KnownMember kCodeObject[] = {
    {"co_argcount", 4},
    {"co_nlocals", 4},
    {"co_flags", 4},
    {"co_firstlineno", 4},
    {"co_version", 4, v312},
    {"co_varnames", 8, 0, v310},
    {"co_cellvars", 8, 0, v310},
    {"co_cell2arg", 8, v33, v310},
    {"co_filename"},
    {"co_name"},
    {"co_qualname", 8, v311},
    {"co_lnotab", 8, 0, v39},
    {"co_linetable", 8, v310},
    {"_co_firsttraceable", 4, v311},
    {"co_tlbc", 8, v314, newest, Kind::offset, Build::free_threaded},
    {"co_code_adaptive", 0, v311, newest, Kind::flexible},
};
constexpr KnownMember kCodeArray[] = {
    {"size", 8, v314, newest, Kind::offset, Build::free_threaded},
    {"entries", 0, v314, newest, Kind::flexible, Build::free_threaded},
};
constexpr KnownMember kFrameObject[] = {
    {"f_back", 8, 0, v310},
    {"f_code", 8, 0, v310},
    {"f_lasti", 4, 0, v310},
    {"f_localsplus", 0, 0, v310, Kind::flexible},
};
constexpr KnownMember kInterpreterFrame[] = {
    {"previous", 8, v311},
    {"f_code", 8, v311, v312},
    {"f_executable", 8, v313},
    {"frame_obj", 8, v311},
    {"prev_instr", 8, v311, v312},
    {"instr_ptr", 8, v313},
    {"tlbc_index", 4, v314, newest, Kind::offset, Build::free_threaded},
    {"is_entry", 1, v311, v311},
    {"owner", 1, v311},
    {"localsplus", 0, v311, newest, Kind::flexible},
};
constexpr KnownMember kCFrame[] = {{"current_frame", 8, v311, v312}};
constexpr KnownMember kThreadState[] = {
    {"next"},
    {"interp"},
    {"frame", 8, 0, v310},
    {"cframe", 8, v311, v312},
    {"current_frame", 8, v313},
    {"base_frame", 8, v315},
    {"thread_id"},
    {"native_thread_id", 8, v311},
    {"_status", 4, v312},
    {"state", 4, v313},
    {"holds_gil", 4, v314},
};
constexpr KnownMember kInterpreterState[] = {
    {"next"},
    {"id", 8, v37},
    {"tstate_head", 8, 0, v310},
    {"threads.head", 8, v311},
    {"ceval.gil", 8, v312},
    {"_code_object_generation", 8, v315},
};
constexpr KnownMember kRuntimeState[] = {
    {"finalizing", 8, v37, v38},
    {"_finalizing", 8, v39},
    {"interpreters.head", 8, v37},
    {"interpreters.main", 8, v37},
    {"ceval.gil.last_holder", 8, v37, v311},
    {"ceval.gil.locked", 4, v37, v311},
    {"gilstate.tstate_current", 8, v37, v311},
    {"gilstate.autoTSSkey", 8, v37, v311},
    {"autoTSSkey", 8, v312, v314},
};
constexpr KnownMember kGil[] = {
    {"enabled", 4, v313, newest, Kind::offset, Build::free_threaded},
    {"last_holder", 8, v37},
    {"locked", 4, v37},
};
constexpr KnownMember kTss[] = {
    {"_is_initialized", 4, v37, v314},
    {"_key", 4, v37, v314},
};
constexpr KnownMember kAsciiObject[] = {
    {"length", 8, v33},
    {"state", 4, v33},
    {"state.kind_shift", 0, v33, newest, Kind::shift},
    {"state.kind_bits", 0, v33, newest, Kind::bits},
    {"state.compact_shift", 0, v33, newest, Kind::shift},
    {"state.ascii_shift", 0, v33, newest, Kind::shift},
};
constexpr KnownMember kCompactUnicode[] = {{"utf8_length", 8, v33}};
constexpr KnownMember kBytesObject[] = {{"ob_size", 8, v30}, {"ob_sval", 0, v30, newest, Kind::flexible}};
constexpr KnownMember kStringObject[] = {{"ob_size", 8, v27, v27}, {"ob_sval", 0, v27, v27, Kind::flexible}};
constexpr KnownMember kTupleObject[] = {{"ob_item", 0, 0, newest, Kind::flexible}};
constexpr KnownMember kCellObject[] = {{"ob_ref"}};
constexpr KnownMember kInstanceObject[] = {{"in_class", 8, v27, v27}};
constexpr KnownMember kClassObject[] = {{"cl_name", 8, v27, v27}};

// C names: the typedef first, then the tag that debug information of C has for the same structure.
constexpr std::string_view kObjectNames[] = {"PyObject", "_object"};
constexpr std::string_view kVarObjectNames[] = {"PyVarObject"};
constexpr std::string_view kTypeObjectNames[] = {"PyTypeObject", "_typeobject"};
constexpr std::string_view kCodeObjectNames[] = {"PyCodeObject"};
constexpr std::string_view kCodeArrayNames[] = {"_PyCodeArray"};
constexpr std::string_view kFrameObjectNames[] = {"PyFrameObject", "_frame"};
constexpr std::string_view kInterpreterFrameNames[] = {"_PyInterpreterFrame"};
constexpr std::string_view kCFrameNames[] = {"_PyCFrame"};
constexpr std::string_view kThreadStateNames[] = {"PyThreadState", "_ts"};
constexpr std::string_view kInterpreterStateNames[] = {"PyInterpreterState", "_is"};
constexpr std::string_view kRuntimeStateNames[] = {"_PyRuntimeState", "pyruntimestate"};
constexpr std::string_view kGilNames[] = {"_gil_runtime_state"};
constexpr std::string_view kTssNames[] = {"Py_tss_t", "_Py_tss_t"};
constexpr std::string_view kAsciiNames[] = {"PyASCIIObject"};
constexpr std::string_view kCompactNames[] = {"PyCompactUnicodeObject"};
constexpr std::string_view kBytesNames[] = {"PyBytesObject"};
constexpr std::string_view kStringNames[] = {"PyStringObject"};
constexpr std::string_view kTupleNames[] = {"PyTupleObject"};
constexpr std::string_view kCellNames[] = {"PyCellObject"};
constexpr std::string_view kInstanceNames[] = {"PyInstanceObject"};
constexpr std::string_view kClassNames[] = {"PyClassObject"};

// The thread, interpreter and runtime states have no size here: micro releases append to them
// (3.13.x, 3.14.x), which concerns no walker and would need a layout file for each. The GIL has none because
// it ends with a mutex, whose size is the C library's.
constexpr KnownStructure kStructures[] = {
    {"PyObject", kObjectNames, true, kObject},
    {"PyVarObject", kVarObjectNames, true, kVarObject},
    {"PyTypeObject", kTypeObjectNames, true, kTypeObject},
    {"PyCodeObject", kCodeObjectNames, true, kCodeObject},
    {"_PyCodeArray", kCodeArrayNames, true, kCodeArray},
    {"PyFrameObject", kFrameObjectNames, true, kFrameObject},
    {"_PyInterpreterFrame", kInterpreterFrameNames, true, kInterpreterFrame},
    {"_PyCFrame", kCFrameNames, true, kCFrame},
    {"PyThreadState", kThreadStateNames, false, kThreadState},
    {"PyInterpreterState", kInterpreterStateNames, false, kInterpreterState},
    {"_PyRuntimeState", kRuntimeStateNames, false, kRuntimeState},
    {"_gil_runtime_state", kGilNames, false, kGil},
    {"Py_tss_t", kTssNames, true, kTss},
    {"PyASCIIObject", kAsciiNames, true, kAsciiObject},
    {"PyCompactUnicodeObject", kCompactNames, true, kCompactUnicode},
    {"PyBytesObject", kBytesNames, true, kBytesObject},
    {"PyStringObject", kStringNames, true, kStringObject},
    {"PyTupleObject", kTupleNames, true, kTupleObject},
    {"PyCellObject", kCellNames, true, kCellObject},
    {"PyInstanceObject", kInstanceNames, true, kInstanceObject},
    {"PyClassObject", kClassNames, true, kClassObject},
};

}  // namespace

std::span<const KnownStructure> known_structures() {
    return kStructures;
}

const KnownStructure* known_structure(std::string_view name) {
    const auto* found = std::ranges::find(kStructures, name, &KnownStructure::name);
    return found == std::end(kStructures) ? nullptr : found;
}

bool exists_in(const KnownMember& member, const PythonVersion& version, bool free_threaded) {
    const uint16_t key = version_key(version.major, version.minor);
    return member.first <= key && key <= member.last && (member.build == Build::any || free_threaded);
}

bool exists_in(const KnownStructure& structure, const PythonVersion& version, bool free_threaded) {
    return std::ranges::any_of(structure.members, [&](const KnownMember& member) {
        return exists_in(member, version, free_threaded);
    });
}

}  // namespace pyperf
