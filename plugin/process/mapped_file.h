// SPDX-License-Identifier: Apache-2.0
// Opens the very file that a process has mapped, also when it was deleted, replaced, or lies in a container.
#pragma once

#include <sys/stat.h>

#include "elf/owned_fd.h"
#include "process/ids.h"
#include "process/maps.h"
#include "result.h"

namespace pyperf {

// A file's contents are the same as long as all of this is.
struct FileIdentity {
    uint64_t device = 0;
    uint64_t inode = 0;
    uint64_t size = 0;
    int64_t modified_ns = 0;
    int64_t changed_ns = 0;
    auto operator<=>(const FileIdentity&) const = default;
};
FileIdentity file_identity(const struct stat& status);

// Without opening it. Errors: as for open_mapped_file.
Result<FileIdentity> identify_mapped_file(HostPid pid, const Mapping& mapping);

// mapping: of a file (inode != 0). Only regular files are opened: opening a device can do things.
// By /proc/PID/map_files; where that cannot be used, by /proc/PID/root and the path, and then only if device
// and inode are those of the mapping. The caller owns the descriptor.
Result<OwnedFd> open_mapped_file(HostPid pid, const Mapping& mapping);

}  // namespace pyperf
