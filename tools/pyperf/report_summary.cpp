// SPDX-License-Identifier: Apache-2.0
#include "report_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>

#include "decode/escape.h"

namespace pyperf::tool {
namespace {

constexpr size_t columns = 80;
// More different reasons than this are counted, not listed.
constexpr size_t max_reasons = 8;

// 1234567 -> "1,234,567"
std::string grouped(uint64_t number) {
    std::string digits = std::to_string(number);
    for (size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
    return digits;
}

std::string counted(uint64_t number, std::string_view one, std::string_view many) {
    return fmt::format("{} {}", grouped(number), number == 1 ? one : many);
}

// Adds the text as lines that are broken at spaces, the later ones indented.
void add_wrapped(std::string& out, std::string_view text, size_t indent = 4) {
    size_t used = 0;
    while (!text.empty()) {
        const size_t room = columns - used;
        size_t cut = text.size();
        if (cut > room) {
            cut = text.rfind(' ', room);
            if (cut == std::string_view::npos) cut = std::min(text.find(' '), text.size());
        }
        out += text.substr(0, cut);
        out += '\n';
        text.remove_prefix(std::min(cut + 1, text.size()));
        if (!text.empty()) {
            out.append(indent, ' ');
            used = indent;
        }
    }
}

// By class; the order of pyperf_class.
constexpr const char* class_texts[PYPERF_CLASS_COUNT] = {
    "complete Python stacks",
    "truncated: the leaf side of a deeper stack",
    "torn: a read failed while the stack was changing",
    "Python process, but no Python frames on the thread",
    "interpreter not set up (yet)",
    "unsupported Python",
    "not Python",
    "filtered out by the options",
    "idle",
    "lost: no room for their records",
    "stale: a code object was replaced; no frame is claimed",
};

void add_ticks(std::string& out, const RunFacts& facts) {
    const auto& totals = facts.totals;
    const double seconds = static_cast<double>(totals.duration_ns) / 1e9;
    out += fmt::format("Ticks by class, in {:.1f} s:\n", seconds);
    uint64_t sum = 0;
    const size_t width = std::max<size_t>(grouped(totals.ticks).size(), 6) + 2;
    const auto add = [&](uint64_t number, std::string_view what) {
        const double percent =
            totals.ticks ? 100.0 * static_cast<double>(number) / static_cast<double>(totals.ticks) : 0;
        out += fmt::format("{:>{}} {:>5.1f}%  {}\n", grouped(number), width, percent, what);
    };
    for (size_t i = 0; i < PYPERF_CLASS_COUNT; ++i) {
        sum += totals.classes[i];
        if (totals.classes[i] == 0) continue;
        const bool kernel_stacks = facts.kernel_only && i == PYPERF_CLASS_NO_PYTHON_FRAMES;
        add(totals.classes[i],
            kernel_stacks ? "kernel stacks; no Python stack was looked for" : class_texts[i]);
    }
    out += fmt::format("{:>{}}         in all\n", grouped(totals.ticks), width);
    if (sum != totals.ticks)
        add_wrapped(
            out,
            fmt::format("WARNING: the classes add up to {}, not to {}. This is an error of pyperf: please "
                        "report it.",
                        grouped(sum), grouped(totals.ticks)));
}

// "CPython 2.7.18, 3.11.7"
std::string versions(const std::vector<ProcessFacts>& processes) {
    // Compared number by number: 3.9 comes before 3.10.
    const auto key = [](const std::string& version) {
        std::vector<unsigned long> numbers;
        for (const char* at = version.c_str(); *at;) {
            if (*at < '0' || *at > '9') {
                ++at;
                continue;
            }
            char* end = nullptr;
            numbers.push_back(std::strtoul(at, &end, 10));
            at = end;
        }
        return numbers;
    };
    std::map<std::pair<std::vector<unsigned long>, std::string>, size_t> seen;
    for (const auto& process : processes)
        if (!process.version.empty()) ++seen[{key(process.version), process.version}];
    std::string out;
    for (const auto& [version, number] : seen)
        out += (out.empty() ? " (CPython " : ", ") + escape_for_line(version.second);
    return out.empty() ? out : out + ")";
}

// One line for each different text, with the processes that it is about.
void add_by_text(std::string& out, std::string_view title,
                 const std::map<std::string, std::vector<uint32_t>>& pids_by_text) {
    size_t listed = 0;
    for (const auto& [text, pids] : pids_by_text) {
        if (listed++ == max_reasons) {
            add_wrapped(out, fmt::format("{}, too: {} (-v lists them)", title,
                                         counted(pids_by_text.size() - max_reasons, "other reason",
                                                 "other reasons")));
            break;
        }
        std::string who = pids.size() == 1
                              ? fmt::format("process {}", pids.front())
                              : fmt::format("{} processes ({}, ...)", grouped(pids.size()), pids.front());
        add_wrapped(out, fmt::format("{}, {}: {}", title, who, escape_for_line(text)));
    }
}

// Whose stacks are not shown, and whose are shown by a layout that is not in the database.
void add_processes(std::string& out, const std::vector<ProcessFacts>& processes) {
    std::map<std::string, std::vector<uint32_t>> unsupported, unproven, proven_here;
    for (const auto& process : processes) {
        if (!process.supported)
            unsupported[process.reason].push_back(process.pid);
        else if (process.candidate && process.proven)
            proven_here[fmt::format("CPython {} by layout {}", process.version, process.layout)].push_back(
                process.pid);
        else if (process.candidate)
            unproven[process.reason].push_back(process.pid);
    }
    add_by_text(out, "Proven here, not in the database", proven_here);
    add_by_text(out, "Not shown", unproven);
    add_by_text(out, "Unsupported", unsupported);
}

void add_limits(std::string& out, const RunFacts& facts) {
    const auto& totals = facts.totals;
    if (totals.stacks_resent != 0)
        add_wrapped(out, fmt::format("WARNING: stack table full: {} sent again. Consider increasing "
                                     "--stack-storage-size (now {}).",
                                     counted(totals.stacks_resent, "stack was", "stacks were"),
                                     facts.stack_storage_size));
    if (totals.kernel_stacks_missed != 0)
        add_wrapped(out, fmt::format("WARNING: {} could not be displayed. Consider increasing "
                                     "--stack-storage-size (now {}).",
                                     counted(totals.kernel_stacks_missed, "kernel stack", "kernel stacks"),
                                     facts.stack_storage_size));
    if (totals.counts_full != 0)
        add_wrapped(
            out, fmt::format("WARNING: hash table full: {} sent one by one. Consider increasing "
                             "--hash-storage-size (now {}).",
                             counted(totals.counts_full, "tick was", "ticks were"), facts.hash_storage_size));
    if (totals.classes[PYPERF_CLASS_LOST] != 0)
        add_wrapped(
            out, fmt::format(
                     "WARNING: {} lost: records came faster than they could be read. Consider a lower "
                     "--frequency, or increasing --hash-storage-size (now {}).",
                     counted(totals.classes[PYPERF_CLASS_LOST], "tick", "ticks"), facts.hash_storage_size));
}

}  // namespace

std::string summary_text(const RunFacts& facts) {
    const auto& totals = facts.totals;
    std::string out;
    add_ticks(out, facts);
    if (!facts.kernel_only)
        add_wrapped(out, fmt::format("Seen: {}{}, {}, {}",
                                     counted(facts.python_processes, "Python process", "Python processes"),
                                     versions(facts.processes),
                                     counted(totals.stacks, "Python stack", "Python stacks"),
                                     counted(totals.code_objects, "code object", "code objects")));
    std::string cost = "Cost: ";
    if (totals.runs != 0) {
        const auto runs = static_cast<double>(totals.runs);
        cost += fmt::format("{:.1f} us of BPF per sample", static_cast<double>(totals.run_ns) / runs / 1e3);
        if (totals.frames != 0)
            cost += fmt::format(" ({:.1f} frames on average)", static_cast<double>(totals.frames) / runs);
        cost += ", ";
    }
    cost += fmt::format("pyperf itself {:.2f} s of CPU, {:.1f} MiB", facts.cost.cpu_seconds,
                        static_cast<double>(facts.cost.rss_anon_kib) / 1024);
    add_wrapped(out, cost);
    add_processes(out, facts.processes);
    if (totals.processes_not_examined != 0)
        add_wrapped(
            out,
            fmt::format("Not examined, for want of rights to read their memory maps: {} (CAP_SYS_PTRACE)",
                        counted(totals.processes_not_examined, "process", "processes")));
    add_limits(out, facts);
    return out;
}

}  // namespace pyperf::tool
