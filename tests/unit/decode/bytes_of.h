// SPDX-License-Identifier: Apache-2.0
// The bytes of a text or of characters, as a target has them in its memory.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace pyperf_test {

using Bytes = std::vector<std::byte>;

template <typename Unit>
Bytes bytes_of(std::basic_string_view<Unit> text) {
    Bytes bytes(text.size() * sizeof(Unit));
    if (!bytes.empty()) std::memcpy(bytes.data(), text.data(), bytes.size());
    return bytes;
}
inline Bytes bytes_of(std::string_view text) {
    return bytes_of<char>(text);
}
inline Bytes bytes_of(std::u16string_view text) {
    return bytes_of<char16_t>(text);
}
inline Bytes bytes_of(std::u32string_view text) {
    return bytes_of<char32_t>(text);
}

}  // namespace pyperf_test
