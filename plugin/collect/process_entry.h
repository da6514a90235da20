// SPDX-License-Identifier: Apache-2.0
// What the BPF programs get to know of a process: what was found in it, and what only a layout can place.
#pragma once

#include "layout/layout.h"
#include "process/discover.h"
#include "records.h"

namespace pyperf {

// state and layout (the walker's index) are left for the caller.
pyperf_process make_process_entry(const PythonProcess& process, const Layout& layout);

}  // namespace pyperf
