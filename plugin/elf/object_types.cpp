// SPDX-License-Identifier: Apache-2.0
#include "elf/object_types.h"

#include <cstring>

namespace pyperf {
namespace {

// PyTypeObject, Include/cpython/object.h (object.h in 2.7), with a plain object header; the same in 2.7
// - 3.15.
constexpr uint64_t kTpName = 24;
constexpr uint64_t kTpBasicsize = 32;
constexpr uint64_t kTpMembers = 240;
constexpr uint64_t kLargerHeader = 16;  // Py_GIL_DISABLED or Py_TRACE_REFS: everything lies so much farther
// PyMemberDef, Include/structmember.h (descrobject.h from 3.12 on).
constexpr uint64_t kMemberBytes = 40;
constexpr uint64_t kMemberOffset = 16;
constexpr size_t kMaxMembers = 64;
constexpr size_t kMaxMemberName = 64;
constexpr uint64_t kMaxMemberOffset = 65536;
constexpr uint64_t kMaxBasicsize = 1 << 20;

bool has_name(const ElfImage& image, uint64_t vaddr, std::string_view tp_name) {
    const auto pointer = image.read_pointer(vaddr);
    if (!pointer) return false;
    const auto name = image.read_string(*pointer, kMaxMemberName);
    return name && *name == tp_name;
}

}  // namespace

std::optional<TypeObject> read_type_object(const ElfImage& image, uint64_t vaddr, std::string_view tp_name) {
    TypeObject type;
    uint64_t shift = 0;
    if (!has_name(image, vaddr + kTpName, tp_name)) {
        shift = kLargerHeader;
        if (!has_name(image, vaddr + shift + kTpName, tp_name)) return std::nullopt;
        type.header_bytes = 32;
    }
    const auto basicsize = image.read_u64(vaddr + shift + kTpBasicsize);
    if (!basicsize || *basicsize == 0 || *basicsize > kMaxBasicsize) return std::nullopt;
    type.basicsize = *basicsize;

    const auto table = image.read_pointer(vaddr + shift + kTpMembers);
    if (!table || *table == 0) return type;
    for (size_t i = 0; i < kMaxMembers; ++i) {
        const uint64_t entry = *table + i * kMemberBytes;
        const auto name_at = image.read_pointer(entry);
        if (!name_at || *name_at == 0) break;
        const auto name = image.read_string(*name_at, kMaxMemberName);
        const auto offset = image.read_u64(entry + kMemberOffset);
        if (!name || !offset || *offset > kMaxMemberOffset) break;
        type.members.emplace(*name, static_cast<uint32_t>(*offset));
    }
    return type;
}

}  // namespace pyperf
