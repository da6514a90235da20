// SPDX-License-Identifier: Apache-2.0
#include "run_facts.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>

namespace pyperf::tool {

OwnCost own_cost() {
    OwnCost cost;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    cost.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    std::ifstream status{"/proc/self/status"};
    std::string word;
    while (status >> word)
        if (word == "RssAnon:") status >> cost.rss_anon_kib;
    return cost;
}

bool read_run_facts(pyperf_session* session, const std::vector<uint32_t>& pids, RunFacts& facts) {
    facts.totals.sz = sizeof(facts.totals);
    if (pyperf_session_totals(session, &facts.totals) != 0) return false;
    const auto keep = [](void* context, const pyperf_process_info* process) {
        static_cast<std::vector<ProcessFacts>*>(context)->push_back(
            {process->pid, process->supported != 0, process->image, process->build_id, process->version,
             process->layout, process->evidence, process->reason});
        return 0;
    };
    if (pyperf_session_processes(session, keep, &facts.processes) != 0) return false;
    facts.python_processes = facts.totals.python_processes;
    if (!pids.empty()) {
        std::erase_if(facts.processes, [&pids](const ProcessFacts& process) {
            return std::find(pids.begin(), pids.end(), process.pid) == pids.end();
        });
        facts.python_processes = facts.processes.size();
    }
    return true;
}

}  // namespace pyperf::tool
