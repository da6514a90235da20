// SPDX-License-Identifier: Apache-2.0
// Type objects in an ELF file: the layout that an interpreter states itself. Part of interpreter_image.cpp.
#pragma once

#include <optional>
#include <string_view>

#include "elf/interpreter_image.h"

namespace pyperf {

struct TypeObject {
    uint64_t basicsize = 0;
    std::map<std::string, uint32_t, std::less<>> members;
    uint32_t header_bytes = 16;  // of every object: 32 with free threading or trace-refs
};

// vaddr: of a static type object. tp_name: what its name must be, which also tells how large the object
// header is. Nothing if the bytes there are no such type.
std::optional<TypeObject> read_type_object(const ElfImage& image, uint64_t vaddr, std::string_view tp_name);

}  // namespace pyperf
