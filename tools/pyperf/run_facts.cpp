// SPDX-License-Identifier: Apache-2.0
#include "run_facts.h"

#include <algorithm>
#include <fstream>

namespace pyperf::tool {

double cpu_seconds_of(const rusage& usage) {
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

OwnCost own_cost() {
    OwnCost cost;
    rusage own{}, children{};
    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &children);
    cost.cpu_seconds = cpu_seconds_of(own) + cpu_seconds_of(children);
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
             process->layout, process->evidence, process->reason, process->candidate != 0,
             process->proven != 0});
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
