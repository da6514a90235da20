// SPDX-License-Identifier: Apache-2.0
// Does the kernel take the walker of every shipped layout of this architecture, with every option that
// changes its text? Compiles and loads them all; nothing is attached. Exit code 77: no right to.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "collect/bpf_modules.h"
#include "collect/kernel_facts.h"
#include "elf/image.h"
#include "layout/database.h"
#include "render/render.h"

using namespace pyperf;

namespace {

constexpr const char* this_architecture =
#if defined(__x86_64__)
    "x86_64";
#elif defined(__aarch64__)
    "aarch64";
#endif

const std::vector<ProgramWanted> entry_programs = {{"on_tick", ProgramKind::perf_event},
                                                   {"on_fork", ProgramKind::raw_tracepoint},
                                                   {"on_exec", ProgramKind::raw_tracepoint},
                                                   {"on_exit", ProgramKind::raw_tracepoint}};
const std::vector<ProgramWanted> walker_programs = {{"walk", ProgramKind::perf_event},
                                                    {"steps", ProgramKind::perf_event},
                                                    {"identify", ProgramKind::perf_event},
                                                    {"collect", ProgramKind::perf_event},
                                                    {"send", ProgramKind::perf_event}};

int load(const std::string& what, const RenderOptions& options, const KernelFacts& kernel,
         const std::vector<const Layout*>& layouts) {
    int failures = 0;
    const auto report = [&](const std::string& name, const ModuleBuild::Outcome& outcome, double seconds) {
        if (outcome.programs) {
            fmt::print("{:24} {:28} {:.2f} s\n", what, name, seconds);
            return;
        }
        ++failures;
        fmt::print("{:24} {:28} FAILED: {}\n{}\n", what, name, outcome.programs.error().message,
                   outcome.messages);
    };
    const auto timed = [](const auto& work) {
        const auto begin = std::chrono::steady_clock::now();
        auto outcome = work();
        return std::pair{std::move(outcome),
                         std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
    };
    BpfModules modules;
    const auto [entry, entry_seconds] = timed(
        [&] { return modules.add("the entry program", render_entry(options, kernel), entry_programs); });
    report("entry", entry, entry_seconds);
    if (!entry.programs) return failures;
    for (const Layout* layout : layouts) {
        const auto text = render_walker(options, kernel, *layout);
        if (!text) {
            ++failures;
            fmt::print("{:24} {:28} FAILED: {}\n", what, layout->name, text.error().message);
            continue;
        }
        const auto [walker, seconds] =
            timed([&] { return modules.add(layout->name, *text, walker_programs); });
        report(layout->name, walker, seconds);
    }
    return failures;
}

}  // namespace

int main() {
    if (geteuid() != 0) {
        fmt::print("needs root: loads BPF programs\n");
        return std::getenv("PYPERF_REQUIRE_ALL") ? 1 : 77;
    }
    const auto kernel = read_kernel_facts();
    if (!kernel) {
        fmt::print("{}\n", kernel.error().message);
        return 1;
    }
    const Database database = Database::open({PYPERF_SOURCE_DIR "/offsets"});
    std::vector<const Layout*> all;
    for (const auto& entry : database.entries())
        for (const auto& architecture : entry.layout.architectures)
            if (architecture == this_architecture) all.push_back(&entry.layout);
    if (all.size() < 14) {
        fmt::print("only {} layouts for {}\n", all.size(), this_architecture);
        return 1;
    }
    int failures = load("default", {}, *kernel, all);

    // What the options change is the same for all layouts of a kind: one of each.
    std::vector<const Layout*> kinds;
    for (const char* name : {"cpython-2.7", "cpython-3.6", "cpython-3.9", "cpython-3.11", "cpython-3.12",
                             "cpython-3.14t", "cpython-3.15"})
        if (const Layout* layout = database.find(name)) kinds.push_back(layout);
    RenderOptions states;
    states.show_gil_state = states.show_thread_state = states.show_pthread_id = true;
    failures += load("states", states, *kernel, kinds);
    RenderOptions buffer;
    buffer.perf_buffer = true;
    failures += load("perf buffer", buffer, *kernel, kinds);
    RenderOptions narrow;
    narrow.user_only = narrow.include_idle = true;
    narrow.pids = {1, 2, 3};
    narrow.tids = {4};
    failures += load("filters", narrow, *kernel, {});
    RenderOptions kernel_only;
    kernel_only.kernel_only = true;
    failures += load("kernel only", kernel_only, *kernel, {});
    fmt::print("{} failures\n", failures);
    return failures == 0 ? 0 : 1;
}
