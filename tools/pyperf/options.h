// SPDX-License-Identifier: Apache-2.0
// What the user asked for, checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pyperf::tool {

struct Options {
    std::optional<uint64_t> duration_seconds;
    std::optional<uint32_t> frequency_hz;
    std::optional<uint64_t> period_ns;
    std::vector<uint32_t> pids;  // ascending, each once
    std::vector<uint32_t> tids;
    bool user_only = false;
    bool kernel_only = false;
    bool include_idle = false;
    bool delimited = false;
    bool annotate = false;
    bool raw_addresses = false;
    bool folded = false;  // by -f or by the ending of `output`
    std::optional<uint32_t> cpu;
    std::string cgroup_map;
    std::string mntns_map;
    uint32_t stack_storage_size = 16384;
    uint32_t hash_storage_size = 40960;
    bool show_gil_state = false;
    bool show_thread_state = false;
    bool show_pthread_id_state = false;
    std::vector<std::string> offsets;  // directories
    std::string output;                // file; "": standard output
    std::string summary_json;          // file; "": none
    bool print_text = false;
    bool verbose = false;
    std::vector<std::string> command;  // what stands behind "--"
};

// Reads the command line. Nothing: the program is to end with `exit_code` (help and version were printed, or
// one line about what is wrong with the words).
std::optional<Options> parse_options(int argc, char** argv, int& exit_code);

}  // namespace pyperf::tool
