// SPDX-License-Identifier: Apache-2.0
// The figures of a finished run, which the summary shows in its two forms.
#pragma once

#include <pyperf/pyperf.h>
#include <sys/resource.h>

#include <cstdint>
#include <string>
#include <vector>

namespace pyperf::tool {

// What pyperf itself used.
struct OwnCost {
    double cpu_seconds = 0;
    uint64_t rss_anon_kib = 0;
};

// A Python process that was seen.
struct ProcessFacts {
    uint32_t pid = 0;
    bool supported = false;
    std::string image;
    std::string build_id;
    std::string version;
    std::string layout;
    std::string evidence;
    std::string reason;      // why its stacks are not shown
    bool candidate = false;  // its build is not in the database: shown only if its layout is proven
    bool proven = false;     // by a running process in this session
};

struct RunFacts {
    pyperf_totals totals{};
    OwnCost cost;
    std::vector<ProcessFacts> processes;
    uint64_t python_processes = 0;  // more than `processes`, if a pid was used again
    bool kernel_only = false;       // no Python stack was looked for
    uint32_t stack_storage_size = 0;
    uint32_t hash_storage_size = 0;
};

// User and system time of a process.
double cpu_seconds_of(const rusage& usage);
// Of this process and those children of it that have ended (compilers; a profiled command, too), now.
OwnCost own_cost();
// Of a session that is stopped, about these processes only unless there are none. False: pyperf_last_error()
// says why.
bool read_run_facts(pyperf_session* session, const std::vector<uint32_t>& pids, RunFacts& facts);

}  // namespace pyperf::tool
