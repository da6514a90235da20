// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace pyperf {

// The finalizer of MurmurHash3 over two words: ids are hashes or addresses, instructions small even numbers.
inline uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t hash = a * 0x9e3779b97f4a7c15u + b;
    hash ^= hash >> 33;
    hash *= 0xff51afd7ed558ccdu;
    hash ^= hash >> 33;
    return hash;
}

}  // namespace pyperf
