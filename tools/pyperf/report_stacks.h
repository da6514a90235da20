// SPDX-License-Identifier: Apache-2.0
// The form of profile(8) for people: each stack leaf first, then process and count; the hottest stack comes
// last.
#pragma once

#include <cstdio>

#include "stack_counts.h"

namespace pyperf::tool {

// False, with errno: not all of it could be written.
bool write_stacks(const StackCounts& stacks, std::FILE* out);

}  // namespace pyperf::tool
