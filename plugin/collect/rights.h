// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "result.h"

namespace pyperf {

// Fails (-EPERM) unless this process may load BPF programs for perf events. Tried, not derived from
// capability sets: those say nothing about user namespaces and security modules. To be asked before libbcc
// compiles for nothing.
Result<void> check_right_to_load();

}  // namespace pyperf
