// SPDX-License-Identifier: Apache-2.0
// Folded stacks: `comm;root;...;leaf COUNT`, one line each, sorted by their text.
#pragma once

#include <cstdio>

#include "stack_counts.h"

namespace pyperf::tool {

// False, with errno: not all of it could be written.
bool write_folded(const StackCounts& stacks, std::FILE* out);

}  // namespace pyperf::tool
