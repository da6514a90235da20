// SPDX-License-Identifier: Apache-2.0
// Which process is this? From /proc. A pid alone is not an identity: it is used again; with the start time it
// is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "process/ids.h"
#include "result.h"

namespace pyperf {

struct ProcessStat {
    std::string comm;  // at most 15 bytes (threads' own names count, too); any bytes but NUL
    HostPid parent;
    uint64_t start_time_ticks = 0;  // since boot, 1/100 s (USER_HZ)
    uint64_t cpu_ticks = 0;         // used by all its threads so far, 1/100 s
};

// Parses /proc/PID/stat; a comm with ')' and newlines in it does not confuse it.
Result<ProcessStat> parse_stat(std::string_view text);
// pid: of a process, or of a thread. Errors: -ESRCH, or not in the kernel's format.
Result<ProcessStat> read_stat(HostPid pid);
Result<uint64_t> read_start_time(HostPid pid);

// The ids in the innermost namespace: the last number of NSpid in /proc/PID/status.
Result<NamespacePid> read_namespace_pid(HostPid pid);

// Where /proc/PID/exe points to, as the target's mount namespace names it. Any bytes; for people.
Result<std::string> read_executable_path(HostPid pid);

// All processes (thread group leaders) of /proc, ascending.
Result<std::vector<HostPid>> list_processes();
// All threads of a process.
Result<std::vector<HostPid>> list_threads(HostPid pid);

}  // namespace pyperf
