// SPDX-License-Identifier: Apache-2.0
#include "layout/layout_check.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "layout/layout_file.h"
#include "layout/structures.h"

namespace pyperf {
namespace {

using Kind = KnownMember::Kind;
using Fault = std::optional<LayoutFault>;

LayoutFault fault(std::string_view table, std::string_view key, std::string what) {
    return {std::string(table), std::string(key), std::move(what)};
}

bool is_plain_name(std::string_view name) {
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
               c == '-' || c == '_';
    };
    return !name.empty() && name.size() <= 64 && name.front() != '.' && std::ranges::all_of(name, allowed);
}

Fault check_list(const std::vector<std::string>& list, std::string_view key,
                 std::initializer_list<std::string_view> known) {
    if (list.empty()) return fault("abi", key, "is empty");
    for (const std::string& name : list) {
        if (std::ranges::find(known, std::string_view(name)) == known.end())
            return fault("abi", key,
                         fmt::format("\"{}\" is not known; one of: {}", name, fmt::join(known, ", ")));
        if (std::ranges::count(list, name) > 1)
            return fault("abi", key, fmt::format("\"{}\" is there twice", name));
    }
    return std::nullopt;
}

Fault check_head(const Layout& layout) {
    if (!is_plain_name(layout.name))
        return fault("", "name", "has to be 1 to 64 letters, digits, '.', '-' or '_'");
    if (!layout.first.is_final()) return fault("versions", "first", "is no final release");
    if (!layout.last.is_final()) return fault("versions", "last", "is no final release");
    if (layout.last < layout.first)
        return fault(
            "versions", "last",
            fmt::format("{} is before first ({})", layout.last.to_string(), layout.first.to_string()));
    if (layout.first.major != layout.last.major || layout.first.minor != layout.last.minor)
        return fault("versions", "last", "first and last are of different minor versions");
    if (const auto found = check_list(layout.architectures, "architectures", {"x86_64", "aarch64"}))
        return found;
    if (const auto found = check_list(layout.c_libraries, "c_libraries", {"glibc", "musl"})) return found;
    if (layout.free_threaded && layout.first < PythonVersion{3, 13, 0, 0xa, 0})
        return fault("abi", "free_threaded", "there are no free-threaded builds before 3.13");
    if (layout.provenance.empty())
        return fault("", "provenance", "is missing: where do the numbers come from?");
    for (const Provenance& entry : layout.provenance)
        if (auto found = find_fault(entry)) return found;
    return std::nullopt;
}

bool is_date(std::string_view text) {
    if (text.size() != 10) return false;
    for (size_t i = 0; i < text.size(); i++)
        if (i == 4 || i == 7 ? text[i] != '-' : text[i] < '0' || text[i] > '9') return false;
    return true;
}

// In which minor versions CPython goes about it like this (the sources are in layout.h). The members alone
// do not tell: a wrong line table would give wrong lines, silently.
struct MinorVersions {
    uint16_t first;
    uint16_t last;
};

MinorVersions versions_of(LineTable value) {
    switch (value) {
        case LineTable::lnotab_unsigned:
            return {0, version_key(3, 5)};
        case LineTable::lnotab_signed:
            return {version_key(3, 6), version_key(3, 9)};
        case LineTable::pep626_pairs:
            return {version_key(3, 10), version_key(3, 10)};
        case LineTable::locations:
            break;
    }
    return {version_key(3, 11), 0xffff};
}

MinorVersions versions_of(ThreadBinding value) {
    switch (value) {
        case ThreadBinding::key_list:
            return {0, version_key(2, 7)};
        case ThreadBinding::pthread_key:
            return {version_key(3, 0), version_key(3, 6)};
        case ThreadBinding::runtime_key:
            return {version_key(3, 7), version_key(3, 14)};
        case ThreadBinding::thread_local_:
            break;
    }
    return {version_key(3, 15), 0xffff};
}

template <typename Rule>
Fault check_version_of(const Layout& layout, std::string_view rule, Rule value) {
    const MinorVersions has = versions_of(value);
    const uint16_t version = version_key(layout.first.major, layout.first.minor);
    if (has.first <= version && version <= has.last) return std::nullopt;
    return fault("rules", rule,
                 fmt::format("\"{}\" does not fit: it is not that of {}.{}", to_string(value),
                             layout.first.major, layout.first.minor));
}

// A rule says which way the interpreter goes; the members for that way have to be there.
Fault check_rules(const Layout& layout) {
    const auto need = [&](std::string_view rule, std::string_view value, std::string_view structure,
                          std::string_view member) -> Fault {
        if (layout.offset(structure, member)) return std::nullopt;
        return fault(
            "rules", rule,
            fmt::format("\"{}\" does not fit: {}.{} is not in the layout", value, structure, member));
    };
    Fault found;
    switch (layout.frame_chain) {
        case FrameChain::frame_object:
            found = need("frame_chain", to_string(layout.frame_chain), "PyThreadState", "frame");
            break;
        case FrameChain::cframe:
            found = need("frame_chain", to_string(layout.frame_chain), "PyThreadState", "cframe");
            break;
        case FrameChain::current_frame:
            found = need("frame_chain", to_string(layout.frame_chain), "PyThreadState", "current_frame");
            break;
    }
    if (found) return found;
    const bool lnotab =
        layout.line_table == LineTable::lnotab_unsigned || layout.line_table == LineTable::lnotab_signed;
    found = need("line_table", to_string(layout.line_table), "PyCodeObject",
                 lnotab ? "co_lnotab" : "co_linetable");
    if (found) return found;
    if (layout.line_table == LineTable::locations &&
        (found = need("line_table", to_string(layout.line_table), "PyCodeObject", "co_code_adaptive")))
        return found;
    if (layout.thread_binding == ThreadBinding::runtime_key &&
        (found = need("thread_binding", to_string(layout.thread_binding), "Py_tss_t", "_key")))
        return found;
    if (layout.thread_binding == ThreadBinding::thread_local_ &&
        (found = need("thread_binding", to_string(layout.thread_binding), "PyThreadState", "base_frame")))
        return found;
    if ((found = check_version_of(layout, "line_table", layout.line_table))) return found;
    if ((found = check_version_of(layout, "thread_binding", layout.thread_binding))) return found;
    found = layout.string_kind == StringKind::bytes
                ? need("string_kind", to_string(layout.string_kind), "PyStringObject", "ob_sval")
                : need("string_kind", to_string(layout.string_kind), "PyASCIIObject", "state");
    if (found) return found;

    if (layout.instruction_unit != 1 && layout.instruction_unit != 2)
        return fault("rules", "instruction_unit", "has to be 1 or 2 bytes");
    if ((layout.instruction_unit == 2) != (layout.line_table == LineTable::pep626_pairs))
        return fault("rules", "instruction_unit", "has to be 2 in 3.10, 1 in all others");
    if (layout.executable_tag_mask > 7)
        return fault("rules", "executable_tag_mask",
                     "has to be 0 to 7: objects are aligned to 8 bytes or more");
    if (layout.executable_tag_mask != 0 && layout.first < PythonVersion{3, 14, 0, 0, 0})
        return fault("rules", "executable_tag_mask", "has to be 0: before 3.14 the pointer has no tag");
    if (layout.executable_tag_mask == 0 && layout.first >= PythonVersion{3, 14, 0, 0, 0})
        return fault("rules", "executable_tag_mask", "is 0, but from 3.14 on the pointer has a tag");
    const bool has_shims = layout.first >= PythonVersion{3, 12, 0, 0, 0};
    if (has_shims && !layout.first_shim_owner)
        return fault("rules", "first_shim_owner", "is missing (3.12 and later have shim frames)");
    if (!has_shims && layout.first_shim_owner)
        return fault("rules", "first_shim_owner", "there are no shim frames before 3.12");
    if (layout.first_shim_owner && (*layout.first_shim_owner == 0 || *layout.first_shim_owner > 127))
        return fault("rules", "first_shim_owner", "has to be 1 to 127");
    return std::nullopt;
}

Fault check_members(const KnownStructure& known, const StructLayout& structure, const Layout& layout) {
    for (const auto& [name, value] : structure.members) {
        const auto member = std::ranges::find(known.members, std::string_view(name), &KnownMember::name);
        if (member == known.members.end()) return fault(known.name, name, "is no member that a layout has");
        if (!exists_in(*member, layout.first, layout.free_threaded))
            return fault(known.name, name,
                         fmt::format("does not exist in {}.{}{}", layout.first.major, layout.first.minor,
                                     layout.free_threaded ? "t" : ""));
        if (member->kind == Kind::shift && value > 31)
            return fault(known.name, name, "is the position of a bit: 0 to 31");
        if (member->kind == Kind::bits && (value == 0 || value > 32))
            return fault(known.name, name, "is a width in bits: 1 to 32");
        if (is_byte_offset(member->kind) && value > kMaxOffset)
            return fault(known.name, name, fmt::format("{} is out of range (0 to {})", value, kMaxOffset));
        if (member->kind == Kind::offset && value % member->bytes != 0)
            return fault(
                known.name, name,
                fmt::format("{} is not a multiple of the member's {} bytes: no compiler puts it there", value,
                            member->bytes));
        if (structure.size && is_byte_offset(member->kind) && value + member->bytes > *structure.size)
            return fault(known.name, name,
                         fmt::format("ends behind the structure: {} + {} is more than sizeof = {}", value,
                                     member->bytes, *structure.size));
    }
    for (const KnownMember& member : known.members)
        if (exists_in(member, layout.first, layout.free_threaded) && !structure.members.contains(member.name))
            return fault(known.name, "", fmt::format("{} is missing", member.name));
    return std::nullopt;
}

// Two members cannot share a byte, and nothing lies behind the array that a structure ends with.
Fault check_overlaps(const KnownStructure& known, const StructLayout& structure) {
    struct Piece {
        uint32_t begin;
        const KnownMember* member;
    };
    std::vector<Piece> pieces;
    for (const KnownMember& member : known.members) {
        const auto entry = structure.members.find(member.name);
        if (entry != structure.members.end() && is_byte_offset(member.kind))
            pieces.push_back({entry->second, &member});
    }
    std::ranges::stable_sort(pieces, {}, &Piece::begin);
    for (size_t i = 1; i < pieces.size(); i++) {
        const Piece& before = pieces[i - 1];
        if (before.member->kind == Kind::flexible)
            return fault(known.name, before.member->name,
                         fmt::format("{} lies behind it, but it is what the structure ends with",
                                     pieces[i].member->name));
        if (before.begin + before.member->bytes > pieces[i].begin)
            return fault(known.name, pieces[i].member->name,
                         fmt::format("overlaps {} ({} bytes at {})", before.member->name,
                                     before.member->bytes, before.begin));
    }
    return std::nullopt;
}

Fault check_structures(const Layout& layout) {
    for (const auto& [name, structure] : layout.structs) {
        const KnownStructure* known = known_structure(name);
        if (!known) return fault(name, "", "is no structure that a layout has");
        if (!exists_in(*known, layout.first, layout.free_threaded))
            return fault(name, "",
                         fmt::format("a layout of {}.{}{} has no such structure", layout.first.major,
                                     layout.first.minor, layout.free_threaded ? "t" : ""));
        if (structure.size && !known->has_size) return fault(name, "sizeof", "is not part of a layout");
        if (!structure.size && known->has_size) return fault(name, "", "sizeof is missing");
        if (structure.size && (*structure.size == 0 || *structure.size > kMaxOffset))
            return fault(name, "sizeof",
                         fmt::format("{} is out of range (1 to {})", *structure.size, kMaxOffset));
        if (auto found = check_members(*known, structure, layout)) return found;
        if (auto found = check_overlaps(*known, structure)) return found;
    }
    for (const KnownStructure& known : known_structures())
        if (exists_in(known, layout.first, layout.free_threaded) && !layout.structs.contains(known.name))
            return fault("", "", fmt::format("[{}] is missing", known.name));
    return std::nullopt;
}

// Of a structure and member that check_structures() has found to be known.
Kind kind_of(std::string_view structure, std::string_view member) {
    return std::ranges::find(known_structure(structure)->members, member, &KnownMember::name)->kind;
}

// What holds between structures, in every version.
Fault check_relations(const Layout& layout) {
    const auto head = layout.size_of("PyObject");
    const auto var_head = layout.offset("PyVarObject", "ob_size");
    // Up to 3.12 trace-refs puts two pointers in front of every object; free threading has a larger head.
    const bool large_head =
        layout.free_threaded || (layout.trace_refs && layout.first < PythonVersion{3, 13, 0, 0xa, 0});
    if (head && (*head != 16) != large_head)
        return fault("PyObject", "sizeof",
                     fmt::format("{} does not fit abi.free_threaded = {} and abi.trace_refs = {}", *head,
                                 layout.free_threaded, layout.trace_refs));
    if (head && var_head && *var_head < *head)
        return fault("PyVarObject", "ob_size", "lies inside PyObject, which comes first");
    if (head && layout.offset("PyObject", "ob_type") != *head - 8)
        return fault("PyObject", "ob_type", "is not the last member of PyObject");
    for (const std::string_view name : {"PyBytesObject", "PyStringObject"})
        if (const auto at = layout.offset(name, "ob_size"); at && var_head && *at != *var_head)
            return fault(name, "ob_size", fmt::format("is not where PyVarObject has it ({})", *var_head));
    const auto ascii = layout.size_of("PyASCIIObject");
    const auto compact = layout.size_of("PyCompactUnicodeObject");
    if (ascii && compact && *compact <= *ascii)
        return fault("PyCompactUnicodeObject", "sizeof",
                     "is not larger than PyASCIIObject, which comes first");
    const auto shift = layout.offset("PyASCIIObject", "state.kind_shift");
    const auto bits = layout.offset("PyASCIIObject", "state.kind_bits");
    // kind, compact, ascii follow each other in every version (Include/cpython/unicodeobject.h, 3.6 to 3.15).
    const auto compact_at = layout.offset("PyASCIIObject", "state.compact_shift");
    const auto ascii_at = layout.offset("PyASCIIObject", "state.ascii_shift");
    if (shift && bits && compact_at && *compact_at != *shift + *bits)
        return fault("PyASCIIObject", "state.compact_shift", "is not the bit behind state.kind");
    if (compact_at && ascii_at && *ascii_at != *compact_at + 1)
        return fault("PyASCIIObject", "state.ascii_shift", "is not the bit behind state.compact");
    for (const auto& [name, structure] : layout.structs) {
        const bool is_object = structure.size && name.starts_with("Py") && name != "Py_tss_t";
        if (!head || !is_object) continue;
        if (*structure.size < *head) return fault(name, "sizeof", "is less than the head of every object");
        if (name == "PyObject") continue;
        for (const auto& [member, value] : structure.members)
            if (value < *head && is_byte_offset(kind_of(name, member)))
                return fault(name, member,
                             fmt::format("lies inside the head of every object ({} bytes)", *head));
    }
    return std::nullopt;
}

}  // namespace

std::optional<LayoutFault> find_fault(const Provenance& entry) {
    for (const auto& [key, text] : {std::pair<std::string_view, const std::string&>{"source", entry.source},
                                    {"version", entry.version},
                                    {"detail", entry.detail},
                                    {"command", entry.command},
                                    {"date", entry.date}})
        if (text.empty()) return fault("provenance", key, "is empty");
    if (entry.source != "headers" && entry.source != "dwarf" && entry.source != "binary")
        return fault("provenance", "source", "has to be headers, dwarf or binary");
    if (const auto parsed = PythonVersion::parse(entry.version); !parsed)
        return fault("provenance", "version", parsed.error().message);
    if (!is_date(entry.date)) return fault("provenance", "date", "has to be YYYY-MM-DD");
    return std::nullopt;
}

std::optional<LayoutFault> find_fault(const Layout& layout) {
    if (auto found = check_head(layout)) return found;
    if (auto found = check_structures(layout)) return found;
    if (auto found = check_rules(layout)) return found;
    return check_relations(layout);
}

Result<void> check_layout(const Layout& layout) {
    const auto found = find_fault(layout);
    if (!found) return {};
    std::string place = found->table.empty() || found->key.empty() ? found->table + found->key
                                                                   : found->table + "." + found->key;
    return Error{
        fmt::format("layout {}: {}{}{}", layout.name, place, place.empty() ? "" : ": ", found->what)};
}

}  // namespace pyperf
