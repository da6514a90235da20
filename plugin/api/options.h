// SPDX-License-Identifier: Apache-2.0
// Structures of the C interface begin with the size that the caller knows them by.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace pyperf::api {

// The caller's options with zeros for the members that it does not have; all zeros for NULL.
template <typename Options>
Options copy_options(const Options* given) {
    Options options{};
    if (given) std::memcpy(&options, given, std::min(given->sz, sizeof(Options)));
    return options;
}

// Fills the caller's structure as far as it goes; its sz stays.
template <typename Output>
void copy_out(Output* out, Output filled) {
    filled.sz = std::min(out->sz, sizeof(Output));
    std::memcpy(out, &filled, filled.sz);
}

}  // namespace pyperf::api
