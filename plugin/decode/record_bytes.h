// SPDX-License-Identifier: Apache-2.0
// Reading a fixed structure out of a record's bytes, which carry no alignment and no promise about their
// number.
#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

namespace pyperf {

// The T at byte `offset` of `bytes`; nothing if it does not lie in them.
template <typename T>
std::optional<T> read_record_bytes(std::span<const std::byte> bytes, size_t offset) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return {};
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

}  // namespace pyperf
