// SPDX-License-Identifier: Apache-2.0
// What headers and debug information have in common: structures with fields that have positions. A source
// answers for one interpreter; collect.h asks it for what a layout needs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "layout/layout.h"

namespace pyperf::offsets {

using StructureId = size_t;

struct Field {
    std::string name;                      // empty: an anonymous structure or union
    uint64_t bit_offset = 0;               // in the structure that it is a field of
    uint64_t bytes = 0;                    // 0: not known (array without length)
    std::optional<uint32_t> bit_width;     // of a bitfield
    std::optional<StructureId> structure;  // if the field is a structure or union itself
};

class StructureSource {
  public:
    virtual ~StructureSource() = default;

    // The structure with this typedef name or tag; nothing if there is none that is complete.
    virtual std::optional<StructureId> find(std::string_view name) const = 0;
    // In the order of declaration. id: from find() or Field::structure.
    virtual std::vector<Field> fields(StructureId id) const = 0;
    virtual uint64_t size_bytes(StructureId id) const = 0;
    // The value of an enumerator; nothing if there is none of this name.
    virtual std::optional<int64_t> enumerator(std::string_view name) const = 0;
};

}  // namespace pyperf::offsets
