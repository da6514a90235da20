// SPDX-License-Identifier: Apache-2.0
// Which of CPython's structures and members a layout holds, for which versions and builds. The one table
// behind the reader of layout files (what is unknown, what is missing), their writer (the order) and
// pyoffsets (what to look up in headers and debug information). Data and questions about it; it knows no
// offset.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "layout/layout.h"

namespace pyperf {

struct KnownMember {
    enum class Kind : uint8_t {
        offset,    // byte offset of a member of `bytes` bytes
        flexible,  // byte offset of what the structure ends with: an array of unknown length
        shift,     // position of a bitfield's lowest bit in the word that holds it
        bits,      // width of a bitfield in bits
    };
    enum class Build : uint8_t { any, free_threaded };

    std::string_view name;  // as in the file: nested members with dots, bitfields end in _shift or _bits
    uint8_t bytes = 8;      // its size; 0 for the kinds that have none
    uint16_t first = 0;     // version_key() of the first and the last minor version that has it
    uint16_t last = 0xffff;
    Kind kind = Kind::offset;
    Build build = Build::any;
};

struct KnownStructure {
    std::string_view name;                      // table name in the file
    std::span<const std::string_view> c_names;  // what C calls it in one version or another: typedef or tag
    bool has_size;                              // `sizeof` is part of the layout
    std::span<const KnownMember> members;
};

// Orders minor versions: 3.11 is 0x030b.
constexpr uint16_t version_key(unsigned major, unsigned minor) {
    return static_cast<uint16_t>(major << 8 | minor);
}

// All known structures in the order of the files.
std::span<const KnownStructure> known_structures();
const KnownStructure* known_structure(std::string_view name);
// Does the member exist in this minor version and build?
bool exists_in(const KnownMember& member, const PythonVersion& version, bool free_threaded);
// Does the structure have a member in it?
bool exists_in(const KnownStructure& structure, const PythonVersion& version, bool free_threaded);
// Where does a member whose offset is a byte offset lie? Bitfields have none.
constexpr bool is_byte_offset(KnownMember::Kind kind) {
    return kind == KnownMember::Kind::offset || kind == KnownMember::Kind::flexible;
}

}  // namespace pyperf
