// SPDX-License-Identifier: Apache-2.0
// Reads the memory of a running process. It is never stopped and never written to.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <type_traits>

#include "process/ids.h"
#include "result.h"

namespace pyperf {

// The process may end or change at any time: a read is a snapshot of its own bytes only. Whoever reads again
// and again checks with identity.h that the pid is still the same process. Cheap to copy; may be used from
// several threads.
class ProcessMemory {
  public:
    explicit ProcessMemory(HostPid pid) : pid_(pid) {}

    HostPid pid() const { return pid_; }

    // Fills `out` from `address` on, at most 64 MiB. Errors: -ESRCH, -EPERM, -EFAULT; part of the bytes is an
    // error too.
    Result<void> read(TargetAddress address, std::span<std::byte> out) const;

    template <typename T>
    Result<T> read(TargetAddress address) const {
        static_assert(std::is_trivially_copyable_v<T>);
        T value{};
        if (auto done = read(address, std::as_writable_bytes(std::span(&value, 1))); !done)
            return done.error();
        return value;
    }

    // The bytes up to a NUL, which must come within `limit` bytes (at most 1 MiB).
    Result<std::string> read_string(TargetAddress address, size_t limit) const;

  private:
    HostPid pid_;
};

}  // namespace pyperf
