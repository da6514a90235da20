// SPDX-License-Identifier: Apache-2.0
// Is a layout complete and free of contradictions? Says what is wrong and in which structure and member, so
// that the reader of files can add the line.
#pragma once

#include <optional>
#include <string>

#include "layout/layout.h"

namespace pyperf {

inline constexpr uint32_t kMaxOffset = 1U << 20;  // no structure that a walker reads is larger

struct LayoutFault {
    std::string table;  // "versions", "rules", or the structure's name; empty: the layout as a whole
    std::string key;    // the member; empty: the table as a whole
    std::string what;
};

// The first fault, or nothing. Checks version range, names, provenance, members against structures.h, ranges,
// alignment, overlaps, and that the rules fit the members and the version.
std::optional<LayoutFault> find_fault(const Layout& layout);

// The first fault of one entry, with "provenance" for its table; find_fault(layout) asks this for each.
std::optional<LayoutFault> find_fault(const Provenance& entry);

}  // namespace pyperf
