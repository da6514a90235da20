// SPDX-License-Identifier: Apache-2.0
#include "report_summary_json.h"

#include <nlohmann/json.hpp>

#include "decode/escape.h"

namespace pyperf::tool {

std::string summary_json(const RunFacts& facts) {
    using Json = nlohmann::ordered_json;
    const auto& totals = facts.totals;
    Json json;
    json["pyperf_version"] = pyperf_version_string();
    json["duration_seconds"] = static_cast<double>(totals.duration_ns) / 1e9;
    json["ticks"] = totals.ticks;
    json["expected_ticks"] = totals.expected_ticks;
    for (unsigned int i = 0; i < PYPERF_CLASS_COUNT; ++i)
        json["classes"][pyperf_class_name(i)] = totals.classes[i];
    json["stacks"] = totals.stacks;
    json["code_objects"] = totals.code_objects;
    json["records"] = {{"stacks", totals.stack_records}, {"code_objects", totals.code_records}};
    json["bpf_ns_per_sample"] =
        totals.runs ? static_cast<double>(totals.run_ns) / static_cast<double>(totals.runs) : 0.0;
    json["frames_per_sample"] =
        totals.runs ? static_cast<double>(totals.frames) / static_cast<double>(totals.runs) : 0.0;
    json["cpu_seconds"] = facts.cost.cpu_seconds;
    json["rss_anon_kib"] = facts.cost.rss_anon_kib;
    json["limits"] = {{"stack_storage_size", facts.stack_storage_size},
                      {"hash_storage_size", facts.hash_storage_size},
                      {"stacks_resent", totals.stacks_resent},
                      {"counts_full", totals.counts_full},
                      {"kernel_stacks_missed", totals.kernel_stacks_missed},
                      {"records_dropped", totals.records_dropped}};
    static constexpr const char* routes[] = {"attached", "bound", "listed", "remembered", "unproven"};
    for (size_t i = 0; i < std::size(routes); ++i) json["thread_state_routes"][routes[i]] = totals.routes[i];
    json["python_processes"] = facts.python_processes;
    json["processes_not_examined"] = totals.processes_not_examined;
    json["processes"] = Json::array();
    for (const auto& process : facts.processes)
        json["processes"].push_back({{"pid", process.pid},
                                     {"supported", process.supported},
                                     {"version", escape_for_line(process.version)},
                                     {"layout", escape_for_line(process.layout)},
                                     {"evidence", escape_for_line(process.evidence)},
                                     {"in_database", process.supported && !process.candidate},
                                     {"proven", process.proven},
                                     {"reason", escape_for_line(process.reason)},
                                     {"build_id", escape_for_line(process.build_id)},
                                     {"image", escape_for_line(process.image)}});
    return json.dump(2) + "\n";
}

}  // namespace pyperf::tool
