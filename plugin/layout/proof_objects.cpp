// SPDX-License-Identifier: Apache-2.0
#include "layout/proof_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "decode/escape.h"
#include "decode/line_table.h"
#include "decode/text.h"

namespace pyperf {
namespace {

// Bounds on what is read, far above anything real.
constexpr uint64_t kMaxStringBytes = 1 << 20;
constexpr uint64_t kMaxLinesBytes = 16 << 20;
constexpr uint64_t kMaxCodeUnits = 64 << 20;
// Real programs have shorter files; what is generated may have longer ones.
constexpr int32_t kUsualLines = 10'000'000;

// Flags of a type (Include/object.h): its instances are types; it is ready.
constexpr uint64_t kTypeSubclass = 1UL << 31;
constexpr uint64_t kReady = 1UL << 12;

// A target's text in a message.
std::string quoted(const std::string& text) {
    return escape_for_line(text.substr(0, 80));
}

std::string hex(uint64_t value) {
    return fmt::format("{:#x}", value);
}

std::vector<uint32_t> unit_values(std::span<const std::byte> data, uint32_t unit_bytes) {
    std::vector<uint32_t> units(data.size() / unit_bytes);
    for (size_t i = 0; i < units.size(); ++i)
        std::memcpy(&units[i], data.data() + i * unit_bytes, unit_bytes);
    return units;
}

bool ends_with_name(const std::string& qualname, const std::string& name) {
    return qualname == name || qualname.ends_with("." + name);
}

}  // namespace

uint64_t ProofObjects::type_of(uint64_t object) {
    return view_.pointer(object + offset("PyObject", "ob_type"));
}

const std::string& ProofObjects::type_name(uint64_t object) {
    const uint64_t type = type_of(object);
    const auto known = type_names_.find(type);
    if (known != type_names_.end()) return known->second;
    const std::string name = view_.c_string(view_.pointer(type + offset("PyTypeObject", "tp_name")));
    return type_names_.emplace(type, name).first->second;
}

bool ProofObjects::is_frame(uint64_t object) {
    const std::string& name = type_name(object);
    return name == "frame" || name.ends_with("_frame");
}

void ProofObjects::check_types() {
    const auto own_name = [this](uint64_t type) {
        return view_.c_string(view_.pointer(type + offset("PyTypeObject", "tp_name")));
    };
    if (const auto name = own_name(code_type_); name != "code")
        refuse("PyTypeObject.tp_name", fmt::format("PyCode_Type is called \"{}\"", name));
    if (const auto name = type_name(code_type_); name != "type")
        refuse("PyObject.ob_type", fmt::format("PyCode_Type's type is called \"{}\"", name));
    const uint64_t flags = view_.pointer(code_type_ + offset("PyTypeObject", "tp_flags"));
    const uint64_t meta_flags = view_.pointer(type_of(code_type_) + offset("PyTypeObject", "tp_flags"));
    if (!(meta_flags & kTypeSubclass) || (flags & kTypeSubclass))
        refuse("PyTypeObject.tp_flags",
               fmt::format("PyCode_Type has {}, its type has {}", hex(flags), hex(meta_flags)));
    else if (!(flags & kReady))
        findings_.types_ready = false;

    const auto basic_size = layout_.offset("PyTypeObject", "tp_basicsize");
    if (!basic_size) return;
    const uint64_t code_size = view_.pointer(code_type_ + *basic_size);
    // A code object ends with its bytecode from 3.11 on, and has nothing behind its fixed members before.
    const auto bytecode = layout_.offset("PyCodeObject", "co_code_adaptive");
    const auto fixed = bytecode ? bytecode : layout_.size_of("PyCodeObject");
    if (fixed && code_size != *fixed)
        refuse(bytecode ? "PyCodeObject.co_code_adaptive" : "PyCodeObject.sizeof",
               fmt::format("PyCode_Type.tp_basicsize is {}, not {}", code_size, *fixed));
    // Up to 3.10 a frame ends with an array of one that is counted in (Include/frameobject.h).
    const auto locals = layout_.offset("PyFrameObject", "f_localsplus");
    if (!locals || frame_type_ == 0) return;
    const uint64_t frame_size = view_.pointer(frame_type_ + *basic_size);
    if (frame_size != *locals + 8)
        refuse("PyFrameObject.f_localsplus",
               fmt::format("PyFrame_Type.tp_basicsize is {}, not {}", frame_size, *locals + 8));
}

// What a type says of its instances' fixed size. about: the member that follows from it.
bool ProofObjects::check_basic_size(uint64_t object, const std::string& about, uint64_t expected) {
    const auto basic_size = layout_.offset("PyTypeObject", "tp_basicsize");
    if (!basic_size) return true;
    const uint64_t size = view_.pointer(type_of(object) + *basic_size);
    if (size == expected) return true;
    return refuse(about,
                  fmt::format("tp_basicsize of \"{}\" is {}, not {}", type_name(object), size, expected));
}

bool ProofObjects::check_byte_string(uint64_t object, const std::string& member, const char* structure,
                                     std::string* text) {
    const auto size = view_.read<uint64_t>(object + offset(structure, "ob_size"));
    const std::string about = std::string(structure) + ".ob_size";
    // PyBytesObject_SIZE, PyStringObject_SIZE (Objects/bytesobject.c, stringobject.c): with the NUL.
    if (!check_basic_size(object, std::string(structure) + ".ob_sval",
                          offset(structure, "ob_sval") + uint64_t{1}))
        return false;
    if (!size || *size > kMaxLinesBytes)
        return refuse(about, fmt::format("{}: a string of {} bytes", member, size.value_or(0)));
    // With the NUL that every one ends with.
    const auto data = view_.bytes(object + offset(structure, "ob_sval"), *size + 1);
    if (!data || data->back() != std::byte{0})
        return refuse(about, fmt::format("{}: a string of {} bytes without its NUL", member, *size));
    text->assign(reinterpret_cast<const char*>(data->data()), *size);
    return true;
}

bool ProofObjects::check_unicode(uint64_t object, const std::string& member, std::string* text) {
    const auto length = view_.read<uint64_t>(object + offset("PyASCIIObject", "length"));
    const auto state = view_.read<uint32_t>(object + offset("PyASCIIObject", "state"));
    if (!length || *length > kMaxStringBytes)
        return refuse("PyASCIIObject.length",
                      fmt::format("{}: a str of {} characters", member, length.value_or(0)));
    // A str of any kind ends with one pointer behind what a compact one has (Include/unicodeobject.h).
    if (!check_basic_size(object, "PyCompactUnicodeObject.sizeof",
                          layout_.size_of("PyCompactUnicodeObject").value_or(0) + uint64_t{8}))
        return false;
    const auto bits = unicode_state_bits(layout_);
    const auto kind = read_unicode_state(state.value_or(0), bits);
    if (!kind) return refuse("PyASCIIObject.state", fmt::format("{}: {}", member, kind.error().message));
    const char* header = kind->ascii ? "PyASCIIObject" : "PyCompactUnicodeObject";
    const std::string about = std::string(header) + ".sizeof";
    const uint64_t bytes = *length * kind->char_bytes;
    const auto data = view_.bytes(object + layout_.size_of(header).value_or(0), bytes + kind->char_bytes);
    const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
    if (!data || !std::all_of(data->end() - kind->char_bytes, data->end(), is_zero))
        return refuse(about, fmt::format("{}: a str of {} characters without its NUL", member, *length));
    auto decoded = decode_unicode(*state, std::span(*data).first(bytes), bits);
    if (!decoded) return refuse(about, fmt::format("{}: {}", member, decoded.error().message));
    // A str has the narrowest kind that holds its characters (PyUnicode_New, Objects/unicodeobject.c).
    const bool is_narrowest =
        kind->ascii || std::ranges::any_of(unit_values(*data, kind->char_bytes), [&](uint32_t unit) {
            return unit > (kind->char_bytes == 1 ? 0x7f : kind->char_bytes == 2 ? 0xff : 0xffff);
        });
    if (!is_narrowest)
        return refuse("PyASCIIObject.state", fmt::format("{}: {} bytes for each character of \"{}\"", member,
                                                         kind->char_bytes, quoted(*decoded)));
    *text = std::move(*decoded);
    return true;
}

// text: of the string. One inside which a NUL is may be one that is read from the wrong place.
bool ProofObjects::check_string(uint64_t object, const std::string& member, std::string* text) {
    if (const auto& type = type_name(object); type != "str")
        return refuse(member, fmt::format("at {} is a \"{}\", not a str", hex(object), type));
    const bool is_bytes = layout_.string_kind == StringKind::bytes;
    const bool sound = is_bytes ? check_byte_string(object, member, "PyStringObject", text)
                                : check_unicode(object, member, text);
    if (!sound) return false;
    findings_.expect(text->find('\0') == std::string::npos,
                     is_bytes ? "PyStringObject.ob_sval" : "PyASCIIObject.sizeof",
                     fmt::format("{}: a NUL inside a string", member));
    return true;
}

bool ProofObjects::check_lines(uint64_t object, const std::string& member, CheckedCode& code) {
    const bool is_str = layout_.string_kind == StringKind::bytes;
    if (const auto& type = type_name(object); type != (is_str ? "str" : "bytes"))
        return refuse(member, fmt::format("at {} is a \"{}\", not a byte string", hex(object), type));
    std::string table;
    if (!check_byte_string(object, member, is_str ? "PyStringObject" : "PyBytesObject", &table)) return false;
    code.lines.assign(table.begin(), table.end());
    return true;
}

// Up to 3.10 the class of self is found through these.
bool ProofObjects::check_arguments(uint64_t address, const StructBytes& code) {
    const auto names_at = layout_.offset("PyCodeObject", "co_varnames");
    if (!names_at) return true;
    const auto names = code.at<uint64_t>(*names_at);
    if (const auto& type = type_name(names); type != "tuple")
        return refuse("PyCodeObject.co_varnames", fmt::format("{} has a \"{}\" there", hex(address), type));
    if (const auto cells = layout_.offset("PyCodeObject", "co_cellvars"))
        if (const auto& type = type_name(code.at<uint64_t>(*cells)); type != "tuple")
            return refuse("PyCodeObject.co_cellvars",
                          fmt::format("{} has a \"{}\" there", hex(address), type));
    // PyTuple_Type.tp_basicsize: without its one item (Objects/tupleobject.c).
    if (!check_basic_size(names, "PyTupleObject.ob_item", offset("PyTupleObject", "ob_item"))) return false;
    const auto count = view_.pointer(names + offset("PyVarObject", "ob_size"));
    const auto arguments = code.at<int32_t>(offset("PyCodeObject", "co_argcount"));
    if (count > kMaxCodeUnits)
        return refuse("PyVarObject.ob_size", fmt::format("{}: a tuple of {}", hex(address), count));
    if (arguments < 0 || static_cast<uint64_t>(arguments) > count)
        return refuse("PyCodeObject.co_argcount",
                      fmt::format("{}: {} arguments, {} variables", hex(address), arguments, count));
    if (count == 0) return true;
    const auto first = view_.pointer(names + offset("PyTupleObject", "ob_item"));
    if (const auto& type = type_name(first); type != "str")
        return refuse("PyTupleObject.ob_item", fmt::format("the first of co_varnames is a \"{}\"", type));
    return true;
}

bool ProofObjects::check_names(const StructBytes& code) {
    std::string name, qualname, filename;
    const auto member = [&](const char* which) { return code.at<uint64_t>(offset("PyCodeObject", which)); };
    if (!check_string(member("co_name"), "PyCodeObject.co_name", &name)) return false;
    if (!check_string(member("co_filename"), "PyCodeObject.co_filename", &filename)) return false;
    findings_.expect(
        !filename.empty() && (filename.find('/') != std::string::npos || filename.front() == '<' ||
                              filename.find('.') != std::string::npos),
        "PyCodeObject.co_filename", fmt::format("a file \"{}\"", quoted(filename)));
    findings_.expect(!name.empty() && name.find('/') == std::string::npos &&
                         (name.front() == '<' || name.find('.') == std::string::npos),
                     "PyCodeObject.co_name", fmt::format("a name \"{}\"", quoted(name)));
    if (!layout_.offset("PyCodeObject", "co_qualname")) return true;
    if (!check_string(member("co_qualname"), "PyCodeObject.co_qualname", &qualname)) return false;
    findings_.expect(ends_with_name(qualname, name), "PyCodeObject.co_qualname",
                     fmt::format("name \"{}\", qualified \"{}\"", quoted(name), quoted(qualname)));
    return true;
}

void ProofObjects::examine(uint64_t address, CheckedCode& code) {
    const auto bytecode = layout_.offset("PyCodeObject", "co_code_adaptive");
    uint32_t size = layout_.size_of("PyCodeObject").value_or(0);
    for (const auto& [name, offset_of] : layout_.structs.find("PyCodeObject")->second.members)
        size = std::max(size, offset_of + 8);
    auto bytes = view_.bytes(address, size);
    if (!bytes) {
        refuse("PyCodeObject", fmt::format("no code object can be read at {}", hex(address)));
        return;
    }
    const StructBytes object(std::move(*bytes));
    if (const auto type = type_of(address); type != code_type_) {
        refuse("a frame's code object", fmt::format("what is at {} has the type {} (\"{}\"), not PyCode_Type",
                                                    hex(address), hex(type), type_name(address)));
        return;
    }
    if (!check_names(object) || !check_arguments(address, object)) return;
    const char* const table =
        layout_.line_table == LineTable::lnotab_unsigned || layout_.line_table == LineTable::lnotab_signed
            ? "co_lnotab"
            : "co_linetable";
    if (!check_lines(object.at<uint64_t>(offset("PyCodeObject", table)), std::string("PyCodeObject.") + table,
                     code))
        return;
    code.first_line = object.at<int32_t>(offset("PyCodeObject", "co_firstlineno"));
    findings_.expect(code.first_line >= 0 && code.first_line < kUsualLines, "PyCodeObject.co_firstlineno",
                     fmt::format("first line {}", code.first_line));
    if (bytecode) {
        const auto units = object.at<uint64_t>(offset("PyVarObject", "ob_size"));
        if (units == 0 || units > kMaxCodeUnits) {
            refuse("PyVarObject.ob_size", fmt::format("{}: bytecode of {} units", hex(address), units));
            return;
        }
        const auto traceable = layout_.offset("PyCodeObject", "_co_firsttraceable");
        if (traceable && object.at<uint32_t>(*traceable) > units) {
            refuse("PyCodeObject._co_firsttraceable",
                   fmt::format("{}: {} of {} units", hex(address), object.at<uint32_t>(*traceable), units));
            return;
        }
        code.bytecode = address + *bytecode;
        code.bytecode_bytes = static_cast<int64_t>(units) * 2;
        // The table has an entry for every unit, and none beyond.
        const LineTableBytes lines{code.lines, true};
        const auto end = static_cast<int32_t>(std::min<int64_t>(code.bytecode_bytes, INT32_MAX));
        findings_.expect(line_of(layout_.line_table, lines, code.first_line, end - 2) &&
                             !line_of(layout_.line_table, lines, code.first_line, end),
                         "PyCodeObject.co_linetable", "a line table that does not end with the bytecode");
    }
    code.sound = true;
}

const CheckedCode& ProofObjects::check_code(uint64_t address) {
    const auto known = codes_.find(address);
    if (known != codes_.end()) return known->second;
    CheckedCode& code = codes_[address];
    ++findings_.code_objects;
    examine(address, code);
    return code;
}

}  // namespace pyperf
