// SPDX-License-Identifier: Apache-2.0
#include "collect.h"

#include <algorithm>

#include <fmt/format.h>

#include "layout/layout_check.h"
#include "layout/structures.h"
#include "rules.h"

namespace pyperf::offsets {
namespace {

using Kind = KnownMember::Kind;

struct Place {
    uint64_t bit_offset = 0;
    Field field;
};

// A field by its name, also in anonymous structures and in the one that begins the structure: CPython's
// "inheritance" (ob_base, _base, base).
std::optional<Place> find_field(const StructureSource& source, StructureId id, std::string_view name) {
    const std::vector<Field> fields = source.fields(id);
    for (const Field& field : fields)
        if (field.name == name) return Place{field.bit_offset, field};
    const auto inside = [&](const Field& field) -> std::optional<Place> {
        if (!field.structure) return std::nullopt;
        auto found = find_field(source, *field.structure, name);
        if (found) found->bit_offset += field.bit_offset;
        return found;
    };
    for (const Field& field : fields)
        if (field.name.empty())
            if (auto found = inside(field)) return found;
    if (!fields.empty() && !fields.front().name.empty() && fields.front().bit_offset == 0)
        return inside(fields.front());
    return std::nullopt;
}

// "threads.head": each name in the structure that the one before it is.
std::optional<Place> find_path(const StructureSource& source, StructureId id, std::string_view path) {
    Place place;
    while (true) {
        const size_t dot = std::min(path.find('.'), path.size());
        auto found = find_field(source, id, path.substr(0, dot));
        if (!found) return std::nullopt;
        place = {place.bit_offset + found->bit_offset, std::move(found->field)};
        if (dot == path.size()) return place;
        if (!place.field.structure) return std::nullopt;
        id = *place.field.structure;
        path.remove_prefix(dot + 1);
    }
}

std::string_view without_suffix(std::string_view name, Kind kind) {
    if (kind == Kind::shift) name.remove_suffix(std::string_view("_shift").size());
    if (kind == Kind::bits) name.remove_suffix(std::string_view("_bits").size());
    return name;
}

Result<uint32_t> value_of(const StructureSource& source, StructureId id, const KnownMember& member) {
    const std::string_view path = without_suffix(member.name, member.kind);
    const auto place = find_path(source, id, path);
    if (!place) return Error{"has no such member"};
    if (is_byte_offset(member.kind)) {
        if (place->field.bit_width || place->bit_offset % 8 != 0) return Error{"is a bitfield now"};
        if (member.kind == Kind::offset && place->field.bytes != member.bytes)
            return Error{
                fmt::format("has {} bytes, not {} as in other versions: readers have to learn that first",
                            place->field.bytes, member.bytes)};
        if (place->bit_offset / 8 > kMaxOffset) return Error{"is out of range"};
        return static_cast<uint32_t>(place->bit_offset / 8);
    }
    if (!place->field.bit_width) return Error{"is no bitfield"};
    if (member.kind == Kind::bits) return *place->field.bit_width;
    const auto word = find_path(source, id, path.substr(0, path.rfind('.')));
    if (!word || place->bit_offset - word->bit_offset > 31) return Error{"is outside its 32-bit word"};
    return static_cast<uint32_t>(place->bit_offset - word->bit_offset);
}

std::optional<StructureId> find_structure(const StructureSource& source, const KnownStructure& known) {
    for (const std::string_view name : known.c_names)
        if (const auto id = source.find(name)) return id;
    return std::nullopt;
}

// Frames of an owner that is no thread, generator or frame object are shims. The enumerators are those of
// pycore_frame.h (3.12, 3.13) and pycore_interpframe_structs.h (3.14 and later).
Result<std::optional<uint32_t>> first_shim_owner(const StructureSource& source,
                                                 const PythonVersion& version) {
    std::optional<uint32_t> first;
    if (version.major == 3 && version.minor < 12) return first;
    if (version.major < 3) return first;
    for (const std::string_view name : {"FRAME_OWNED_BY_CSTACK", "FRAME_OWNED_BY_INTERPRETER"}) {
        const auto value = source.enumerator(name);
        if (value && *value > 0 && *value < 128)
            first = std::min(first.value_or(127), static_cast<uint32_t>(*value));
    }
    if (!first) return Error{"neither FRAME_OWNED_BY_CSTACK nor FRAME_OWNED_BY_INTERPRETER is there"};
    for (const std::string_view name :
         {"FRAME_OWNED_BY_THREAD", "FRAME_OWNED_BY_GENERATOR", "FRAME_OWNED_BY_FRAME_OBJECT"}) {
        const auto value = source.enumerator(name);
        if (!value || *value < 0 || *value >= int64_t{*first})
            return Error{fmt::format("{} is missing or not below the owners of shim frames", name)};
    }
    return first;
}

}  // namespace

Result<Layout> collect_layout(const StructureSource& source, const PythonVersion& version) {
    if (!version.is_final())
        return Error{
            fmt::format("{} is a pre-release; layouts are made of final releases only", version.to_string())};
    Layout layout;
    layout.first = layout.last = version;

    const auto object = source.find("PyObject") ? source.find("PyObject") : source.find("_object");
    if (!object) return Error{"there is no PyObject: is this CPython?"};
    // What the build options do to a layout is seen in every object's head.
    layout.free_threaded = find_field(source, *object, "ob_tid").has_value();
    layout.trace_refs = find_field(source, *object, "_ob_next").has_value();

    for (const KnownStructure& known : known_structures()) {
        if (!exists_in(known, version, layout.free_threaded)) continue;
        const auto id = find_structure(source, known);
        if (!id) return Error{fmt::format("{} has no structure {}", version.to_string(), known.name)};
        StructLayout structure;
        if (known.has_size)
            structure.size =
                static_cast<uint32_t>(std::min<uint64_t>(source.size_bytes(*id), kMaxOffset + 1));
        for (const KnownMember& member : known.members) {
            if (!exists_in(member, version, layout.free_threaded)) continue;
            const auto value = value_of(source, *id, member);
            if (!value)
                return value.error().within(
                    fmt::format("{}: {}.{}", version.to_string(), known.name, member.name));
            structure.members.emplace(member.name, *value);
        }
        layout.structs.emplace(known.name, std::move(structure));
    }

    const auto rules = rules_for(version);
    if (!rules) return rules.error();
    layout.frame_chain = rules->frame_chain;
    layout.line_table = rules->line_table;
    layout.thread_binding = rules->thread_binding;
    layout.string_kind = rules->string_kind;
    layout.instruction_unit = rules->instruction_unit;
    layout.executable_tag_mask = rules->executable_tag_mask;
    const auto shim = first_shim_owner(source, version);
    if (!shim) return shim.error().within(version.to_string());
    layout.first_shim_owner = *shim;
    return layout;
}

}  // namespace pyperf::offsets
