// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "result.h"

namespace pyperf {

// The numbers of the CPUs that are online, from /sys/devices/system/cpu/online.
Result<std::vector<int>> online_cpus();

}  // namespace pyperf
