// SPDX-License-Identifier: Apache-2.0
// Is what the user named there? Asked before anything is started.
#pragma once

#include <pyperf/pyperf.h>

#include <string>

#include "options.h"

namespace pyperf::tool {

// One line about a process or thread that is not there, or is not what it was named as; "": all are.
std::string missing_target(const Options& options);

// Says, in one line each, which of the named processes will give no Python stacks, and why.
void warn_about_targets(pyperf_db* db, const Options& options);

// One line if standard output cannot be written to (closed, or open for reading only); "": it can.
std::string unwritable_stdout();

// Descriptors 0 to 2 are open afterwards: else a file or map opened later would become standard output.
void open_standard_descriptors();

}  // namespace pyperf::tool
