// SPDX-License-Identifier: Apache-2.0
// What a process has mapped: /proc/PID/maps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "process/ids.h"
#include "result.h"

namespace pyperf {

struct Mapping {
    uint64_t start = 0;
    uint64_t end = 0;
    uint64_t offset = 0;  // in the file, bytes
    uint32_t device_major = 0;
    uint32_t device_minor = 0;
    uint64_t inode = 0;  // 0: no file
    bool readable = false;
    bool writable = false;
    bool executable = false;
    bool shared = false;
    // The kernel says that the file's name is gone. (A file whose name ends in " (deleted)" looks the same.)
    bool deleted = false;
    std::string
        path;  // as the target's mount namespace names it; "[heap]" and the like; empty: none. Any bytes.
};

// Errors: a line that is not as proc(5) describes it.
Result<std::vector<Mapping>> parse_maps(std::string_view text);

// Errors: no such process (-ESRCH), no right, more than 64 MiB of text.
Result<std::vector<Mapping>> read_maps(HostPid pid);

}  // namespace pyperf
