// SPDX-License-Identifier: Apache-2.0
// One run of the tool: profile, then report.
#pragma once

#include "options.h"

namespace pyperf::tool {

// Returns the exit code.
int run(const Options& options);

}  // namespace pyperf::tool
