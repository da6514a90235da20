// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <pyperf/pyperf.h>

#include <charconv>
#include <cstring>
#include <iostream>

#include "exit_codes.h"

namespace pyperf::tool {
namespace {

constexpr const char* examples = R"(examples:
    pyperf                     # profile all Python processes until Ctrl-C
    pyperf 5                   # for 5 seconds
    pyperf -F 99 10            # at 99 Hertz, for 10 seconds
    pyperf -c 1000000 5        # every 1,000,000 ns of CPU time
    pyperf -p 185,192          # only processes 185 and 192
    pyperf -L 185              # only thread 185
    pyperf -U                  # Python stacks only, without the kernel's
    pyperf -K                  # kernel stacks only, of every process
    pyperf -f 30 > out.folded  # one line per stack, for flame graphs
    pyperf -af -o out.folded 5 # kernel functions marked _[k], into a file
    pyperf -- python3 app.py   # run a program and profile it
)";

// Comma separated process or thread ids, as profile(8) takes them.
std::vector<uint32_t> parse_ids(const std::string& text, const char* option) {
    std::vector<uint32_t> ids;
    for (const auto& part : CLI::detail::split(text, ',')) {
        uint32_t id = 0;
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), id);
        if (part.empty() || error != std::errc{} || end != part.data() + part.size() || id == 0 || id > 0x3fffffff)
            throw CLI::ValidationError(option, fmt::format("\"{}\" is not a list of ids separated by commas", text));
        ids.push_back(id);
    }
    return ids;
}

std::string version_text() { return fmt::format("pyperf {}", pyperf_version_string()); }

}  // namespace

std::optional<Options> parse_options(int argc, char** argv, int& exit_code) {
    Options options;
    // What stands behind "--" is a command, whatever its own options are.
    int own = argc;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--") != 0) continue;
        own = i;
        options.command.assign(argv + i + 1, argv + argc);
        break;
    }

    CLI::App app{"Profile the CPython processes of this machine: functions and lines, by timed sampling.", "pyperf"};
    app.footer(examples);
    app.get_formatter()->column_width(32);
    std::string pids, tids;
    uint64_t duration = 0, period = 0;
    uint32_t frequency = 0, cpu = 0;
    auto* positional = app.add_option("duration", duration, "seconds to profile; without it until Ctrl-C")
                           ->option_text("[duration]")
                           ->check(CLI::Range(uint64_t{1}, uint64_t{99'999'999}));
    auto* duration_option = app.add_option("--duration", duration, "the same as an option")
                                ->option_text("SECONDS")
                                ->check(CLI::Range(uint64_t{1}, uint64_t{99'999'999}))
                                ->excludes(positional);
    auto* hz = app.add_option("-F,--frequency,--sample-rate", frequency, "ticks a second on each CPU (default 49)")
                   ->option_text("HZ")
                   ->check(CLI::Range(1u, 1'000'000u));
    auto* every = app.add_option("-c,--count", period, "a tick every COUNT ns of CPU time instead")
                      ->option_text("COUNT")
                      ->check(CLI::Range(uint64_t{10'000}, uint64_t{1} << 62))
                      ->excludes(hz);
    app.add_option("-p,--pid", pids, "only these processes, comma separated")->option_text("PID,..");
    app.add_option("-L,--tid", tids, "only these threads, comma separated")->option_text("TID,..");
    auto* user = app.add_flag("-U,--user-stacks-only", options.user_only, "Python stacks without the kernel's");
    app.add_flag("-K,--kernel-stacks-only", options.kernel_only, "kernel stacks only, of every process")->excludes(user);
    app.add_flag("-I,--include-idle", options.include_idle, "count the idle task as well");
    app.add_flag("-f,--folded", options.folded, "one line per stack, for flame graphs");
    app.add_flag("-d,--delimited", options.delimited, "a delimiter between kernel and Python stacks");
    app.add_flag("-a,--annotations", options.annotate, "mark kernel functions with _[k]");
    app.add_flag("-A,--addresses", options.raw_addresses, "show kernel functions as raw addresses");
    auto* cpu_option = app.add_option("-C,--cpu", cpu, "only this CPU")->option_text("CPU")->check(CLI::Range(0u, 65535u));
    app.add_option("-o,--output", options.output, "write the profile into FILE")->option_text("FILE");
    app.add_option("--cgroupmap", options.cgroup_map, "only cgroups in this pinned BPF map")->option_text("MAP");
    app.add_option("--mntnsmap", options.mntns_map, "only mount namespaces in this pinned map")->option_text("MAP");
    app.add_option("--stack-storage-size", options.stack_storage_size, "stacks remembered in the kernel (16384)")
        ->option_text("N")
        ->check(CLI::Range(1u, 1u << 22));
    app.add_option("--hash-storage-size", options.hash_storage_size, "different samples counted there (40960)")
        ->option_text("N")
        ->check(CLI::Range(1u, 1u << 24));
    app.add_flag("--show-gil-state", options.show_gil_state, "who holds the GIL, with each stack");
    app.add_flag("--show-thread-state", options.show_thread_state, "whether the thread's state is the attached one");
    app.add_flag("--show-pthread-id-state", options.show_pthread_id_state, "whether thread and thread state fit");
    app.add_option("--offsets", options.offsets, "a further directory of layouts (repeatable)")
        ->option_text("DIR")
        ->check(CLI::ExistingDirectory)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app.add_option("--summary-json", options.summary_json, "write the summary's figures into FILE")->option_text("FILE");
    app.add_flag("-v,--verbose", options.verbose, "say what is found, and what libbcc says");
    app.add_flag("--ebpf", options.print_text)->group("");  // hidden, as in bcc's tools
    app.set_version_flag("--version", version_text, "print the version");

    try {
        app.parse(own, argv);
        options.pids = pids.empty() ? std::vector<uint32_t>{} : parse_ids(pids, "--pid");
        options.tids = tids.empty() ? std::vector<uint32_t>{} : parse_ids(tids, "--tid");
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) {
            exit_code = app.exit(error);
            return std::nullopt;
        }
        std::cerr << "pyperf: " << error.what() << " (pyperf --help lists the options)\n";
        exit_code = exit_usage;
        return std::nullopt;
    }
    if (positional->count() != 0 || duration_option->count() != 0) options.duration_seconds = duration;
    if (hz->count() != 0) options.frequency_hz = frequency;
    if (every->count() != 0) options.period_ns = period;
    if (cpu_option->count() != 0) options.cpu = cpu;
    if (own < argc && options.command.empty()) {
        std::cerr << "pyperf: no command behind \"--\" (pyperf --help lists the options)\n";
        exit_code = exit_usage;
        return std::nullopt;
    }
    if (!options.command.empty() && !options.pids.empty()) {
        std::cerr << "pyperf: a command and --pid contradict: one run profiles either\n";
        exit_code = exit_usage;
        return std::nullopt;
    }
    return options;
}

}  // namespace pyperf::tool
