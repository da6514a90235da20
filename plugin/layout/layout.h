// SPDX-License-Identifier: Apache-2.0
// A layout: where the members that a stack walker needs lie inside CPython's structures, for one range of
// exact versions. Data, nothing else: it is read from a file of the offset database (layout_file.h) or from
// an interpreter's own _Py_DebugOffsets, and rendered into the BPF text (render/). No file descriptors, no
// clock, no globals.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "result.h"

namespace pyperf {

// An exact CPython version, as PY_VERSION_HEX orders it. level: 0xa alpha, 0xb beta, 0xc candidate, 0xf
// final.
struct PythonVersion {
    uint8_t major = 0;
    uint8_t minor = 0;
    uint8_t micro = 0;
    uint8_t level = 0xf;
    uint8_t serial = 0;

    static PythonVersion from_hex(uint32_t hex);
    // "3.13.0", "3.14.0rc2", "2.7.18+" (a '+' marks a build from a repository and is read over). Anything
    // else fails.
    static Result<PythonVersion> parse(std::string_view text);
    uint32_t hex() const;
    bool is_final() const { return level == 0xf; }
    std::string to_string() const;
    auto operator<=>(const PythonVersion&) const = default;
};

// What headers cannot say in numbers: which of the known ways an interpreter goes about it. The names are
// those of the layout file. (Sources: CPYTHON facts in docs/design.md.)
enum class FrameChain {
    frame_object,   // 2.7 - 3.10: PyThreadState.frame, PyFrameObject.f_back
    cframe,         // 3.11, 3.12: PyThreadState.cframe -> current_frame, _PyInterpreterFrame.previous
    current_frame,  // 3.13 and later: PyThreadState.current_frame
};
enum class LineTable {
    lnotab_unsigned,  // up to 3.5: pairs (bytecode delta u8, line delta u8)
    lnotab_signed,    // 3.6 - 3.9: pairs (u8, s8)
    pep626_pairs,     // 3.10: pairs (length u8, delta s8, -128: no line)
    locations,        // 3.11 and later: entries with a code byte, varints
};
enum class ThreadBinding {
    key_list,       // 2.7: an index into CPython's own list that starts at keyhead
    pthread_key,    // 3.6: a pthread key in a static int (autoTLSkey)
    runtime_key,    // 3.7 - 3.14: a pthread key inside _PyRuntime (Py_tss_t)
    thread_local_,  // 3.15: the thread-local _Py_tss_gilstate. In files: "thread_local"
};
enum class StringKind {
    bytes,    // 2.7: names are byte strings
    unicode,  // 3.3 and later: PyASCIIObject / PyCompactUnicodeObject
};

struct Provenance {
    std::string source;   // "headers", "dwarf", "binary"
    std::string version;  // exact version of what was read: "3.11.7"
    std::string detail;   // which package or file
    std::string command;  // that makes this file again
    std::string date;     // YYYY-MM-DD
};

// One structure: its size and the offsets of its members, all in bytes, named as CPython writes them; a
// member of a nested structure with dots ("gilstate.tstate_current").
struct StructLayout {
    std::optional<uint32_t> size;
    std::map<std::string, uint32_t, std::less<>> members;
    bool operator==(const StructLayout&) const = default;
};

struct Layout {
    std::string name;     // "cpython-3.11"
    PythonVersion first;  // the range of verified versions, both ends in it
    PythonVersion last;
    std::vector<std::string> architectures;  // "x86_64", "aarch64"
    std::vector<std::string> c_libraries;    // "glibc", "musl": their pthread_mutex_t differs on aarch64
    bool free_threaded = false;
    bool trace_refs = false;

    FrameChain frame_chain{};
    LineTable line_table{};
    ThreadBinding thread_binding{};
    StringKind string_kind{};
    uint32_t instruction_unit = 1;     // bytes that one step of f_lasti means (3.10: 2)
    uint32_t executable_tag_mask = 0;  // bits to clear in f_executable (3.14 and later: 3)
    std::optional<uint32_t>
        first_shim_owner;  // frames with this owner or a higher one are no Python frames (3.12+)

    std::map<std::string, StructLayout, std::less<>> structs;
    std::vector<Provenance> provenance;

    // The offset of a member; nothing if this version has no such member.
    std::optional<uint32_t> offset(std::string_view structure, std::string_view member) const;
    // The size of a structure; nothing if it is not known.
    std::optional<uint32_t> size_of(std::string_view structure) const;
    // Is this version (a final one), architecture and C library ("" for any) in the verified range?
    bool covers(const PythonVersion& version, std::string_view architecture,
                std::string_view c_library = "") const;
};

// The names used in files, both ways; parsing an unknown name fails and lists the known ones.
template <typename Rule>
Result<Rule> parse_rule(std::string_view name);
template <>
Result<FrameChain> parse_rule(std::string_view name);
template <>
Result<LineTable> parse_rule(std::string_view name);
template <>
Result<ThreadBinding> parse_rule(std::string_view name);
template <>
Result<StringKind> parse_rule(std::string_view name);

std::string_view to_string(FrameChain value);
std::string_view to_string(LineTable value);
std::string_view to_string(ThreadBinding value);
std::string_view to_string(StringKind value);

}  // namespace pyperf
