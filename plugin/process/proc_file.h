// SPDX-License-Identifier: Apache-2.0
// Files and folders of /proc/PID: read whole, with a limit.
#pragma once

#include <string>

#include "process/ids.h"
#include "result.h"

namespace pyperf {

// "/proc/PID/name"
std::string proc_path(HostPid pid, const std::string& name);

// Reads /proc/PID/name whole. Errors: no such process (-ESRCH), no right, more than `limit` bytes.
Result<std::string> read_proc_file(HostPid pid, const std::string& name, size_t limit);

// The error of a failed system call on something in /proc/PID. A process that is gone is -ESRCH.
Error proc_error(HostPid pid, const std::string& what, int errno_value);

}  // namespace pyperf
