// SPDX-License-Identifier: Apache-2.0
// From a layout and the options of a session to the BPF C text that BCC compiles. Pure: no descriptors, no
// clock, no kernel; the same input gives the same text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "layout/layout.h"
#include "render/kernel_facts.h"
#include "result.h"

namespace pyperf {

struct RenderOptions {
    bool user_only = false;
    bool kernel_only = false;
    bool include_idle = false;
    bool show_gil_state = false;
    bool show_thread_state = false;
    bool show_pthread_id = false;
    bool perf_buffer = false;
    std::vector<uint32_t> pids;  // none: all
    std::vector<uint32_t> tids;
    std::string cgroup_map;  // path of a pinned map, or ""
    std::string mntns_map;
    uint32_t stack_storage_size = 16384;
    uint32_t hash_storage_size = 40960;
    uint32_t ring_bytes = 8 << 20;
};

// How many layouts one session can hold (size of the program arrays).
inline constexpr uint32_t max_session_layouts = 64;
// How many Python processes it can hold at a time.
inline constexpr uint32_t max_session_processes = 16384;

// The module that defines the maps: the program on every tick (on_tick), and on_fork, on_exec, on_exit.
std::string render_entry(const RenderOptions& options, const KernelFacts& kernel);

// The module of one layout: the programs walk, identify and send. Fails if the layout lacks a member the
// walker needs.
Result<std::string> render_walker(const RenderOptions& options, const KernelFacts& kernel,
                                  const Layout& layout);

// A string as a C literal that the compiler reads back as the same bytes.
std::string c_literal(std::string_view bytes);

}  // namespace pyperf
