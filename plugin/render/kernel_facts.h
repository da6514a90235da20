// SPDX-License-Identifier: Apache-2.0
// The few member offsets of the running kernel that the BPF programs need. They go into the text as
// constants, so no kernel headers are needed.
#pragma once

#include <cstdint>

namespace pyperf {

// Offsets in bytes.
struct KernelFacts {
    uint32_t task_pid = 0;
    uint32_t task_tgid = 0;
    uint32_t task_group_leader = 0;
    uint32_t task_start_boottime = 0;
    uint32_t task_thread_pointer = 0;  // x86_64: thread.fsbase; aarch64: thread.uw.tp_value
    uint32_t task_signal = 0;
    uint32_t signal_live = 0;
    uint32_t task_nsproxy = 0;
    uint32_t nsproxy_mnt_ns = 0;
    uint32_t mnt_ns_inum = 0;
    bool has_ring_buffer = false;  // BPF_MAP_TYPE_RINGBUF, Linux 5.8
};

}  // namespace pyperf
