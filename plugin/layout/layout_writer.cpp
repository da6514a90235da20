// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "decode/utf8.h"
#include "layout/layout_file.h"
#include "layout/structures.h"

namespace pyperf {
namespace {

// All but printable ASCII as \uXXXX, what is no UTF-8 as U+FFFD.
std::string quoted(std::string_view text) {
    std::string out = "\"";
    while (!text.empty()) {
        const Utf8Step step = next_utf8(text);
        text.remove_prefix(step.bytes);
        const uint32_t point = step.code_point;
        if (point == '"' || point == '\\') out += '\\';
        if (point > 0xffff)
            out += fmt::format("\\U{:08x}", point);
        else if (point < 0x20 || point >= 0x7f)
            out += fmt::format("\\u{:04x}", point);
        else
            out += static_cast<char>(point);
    }
    return out + "\"";
}

// A bare key if TOML allows it, else quoted: "threads.head" would be two keys.
std::string key(std::string_view name) {
    const bool bare = std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
               c == '-';
    });
    return bare ? std::string(name) : quoted(name);
}

std::string list(const std::vector<std::string>& items) {
    std::string out = "[";
    for (const std::string& item : items) out += (out.size() > 1 ? ", " : "") + quoted(item);
    return out + "]";
}

void append_structure(std::string& out, const KnownStructure& known, const StructLayout& structure) {
    out += fmt::format("\n[{}]\n", known.name);
    if (structure.size) out += fmt::format("sizeof = {}\n", *structure.size);
    for (const KnownMember& member : known.members) {
        const auto entry = structure.members.find(member.name);
        if (entry != structure.members.end())
            out += fmt::format("{} = {}\n", key(member.name), entry->second);
    }
}

}  // namespace

std::string format_layout(const Layout& layout, std::string_view comment) {
    std::string out;
    while (!comment.empty()) {
        const size_t end = std::min(comment.find('\n'), comment.size());
        out += fmt::format("# {}\n", comment.substr(0, end));
        comment.remove_prefix(std::min(end + 1, comment.size()));
    }
    out += fmt::format("schema = {}\nname = {}\n", kLayoutFileSchema, quoted(layout.name));
    out += fmt::format("\n[versions]  # final releases, both ends included\nfirst = \"{}\"\nlast = \"{}\"\n",
                       layout.first.to_string(), layout.last.to_string());
    out += fmt::format("\n[abi]\narchitectures = {}\nc_libraries = {}\nfree_threaded = {}\ntrace_refs = {}\n",
                       list(layout.architectures), list(layout.c_libraries), layout.free_threaded,
                       layout.trace_refs);
    out +=
        fmt::format("\n[rules]\nframe_chain = {}\nline_table = {}\nthread_binding = {}\nstring_kind = {}\n",
                    quoted(to_string(layout.frame_chain)), quoted(to_string(layout.line_table)),
                    quoted(to_string(layout.thread_binding)), quoted(to_string(layout.string_kind)));
    out += fmt::format("instruction_unit = {}  # bytes per step of f_lasti\n", layout.instruction_unit);
    out += fmt::format("executable_tag_mask = {}\n", layout.executable_tag_mask);
    if (layout.first_shim_owner) out += fmt::format("first_shim_owner = {}\n", *layout.first_shim_owner);
    for (const Provenance& entry : layout.provenance)
        out +=
            fmt::format("\n[[provenance]]\nsource = {}\nversion = {}\ndetail = {}\ncommand = {}\ndate = {}\n",
                        quoted(entry.source), quoted(entry.version), quoted(entry.detail),
                        quoted(entry.command), quoted(entry.date));
    for (const KnownStructure& known : known_structures())
        if (const auto found = layout.structs.find(known.name); found != layout.structs.end())
            append_structure(out, known, found->second);
    return out;
}

}  // namespace pyperf
