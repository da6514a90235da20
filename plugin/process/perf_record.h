// SPDX-License-Identifier: Apache-2.0
// One record of a perf event as bytes (perf_event_open(2), "The layout of each record"), and what it says
// about a process. Pure: no descriptors, no clock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "process/ids.h"
#include "result.h"

namespace pyperf {

// A process runs another program from now on.
struct ExecRecord {
    HostPid pid;
    std::string comm;  // at most 15 bytes; any but NUL
};

// A process (pid != parent_pid) or a thread of one (pid == parent_pid) was started.
struct ForkRecord {
    HostPid parent_pid;
    HostPid pid;
    HostPid tid;
};

// A thread ended. The process ends with its last one, which need not be the one with tid == pid.
struct ExitRecord {
    HostPid pid;
    HostPid tid;
};

// A file was mapped, or made, executable.
struct MappingRecord {
    HostPid pid;
    TargetAddress address;
    uint64_t bytes = 0;
    uint64_t file_offset = 0;
    std::string path;  // as the process's mount namespace names it; any bytes but NUL
    // What the file says it is, as hex. Empty: it says nothing, its first page was not in memory, or the
    // kernel does not report it; then the kernel's own numbers of the file are here.
    std::string build_id;
    uint32_t device_major = 0;
    uint32_t device_minor = 0;
    uint64_t inode = 0;
    uint64_t inode_generation = 0;

    // The same for every mapping of this content. A build-id is the word of whoever made the file: take it
    // for a hint, not for a proof.
    std::string file_key() const;
};

// Records that found no room in the kernel's buffer.
struct LostRecord {
    uint64_t lost = 0;  // 0: some, how many is not known
};

// monostate: nothing of interest here (a renamed thread, memory without a file, a type that was not asked
// for).
using KernelRecord =
    std::variant<std::monostate, ExecRecord, ForkRecord, ExitRecord, MappingRecord, LostRecord>;

struct TimedRecord {
    uint64_t time_ns = 0;  // CLOCK_MONOTONIC
    uint32_t cpu = 0;
    KernelRecord record;
};

// record: header to end, of an event with sample_id_all and a sample_type of exactly TIME and CPU.
// Errors: shorter than its type needs, or a string without an end.
Result<TimedRecord> parse_perf_record(std::span<const std::byte> record);

}  // namespace pyperf
