// SPDX-License-Identifier: Apache-2.0
#include "collect/layout_proofs.h"

#include <fmt/format.h>

#include <algorithm>

#include "collect/process_entry.h"
#include "process/identity.h"
#include "process/memory.h"

namespace pyperf {
namespace {

// A process that says nothing yet (it waits in C code, or has no threads) is asked ever more seldom.
constexpr uint64_t kFirstInterval = 5'000'000;
constexpr uint64_t kLastInterval = 1'000'000'000;
// A look takes some tenths of a millisecond; the records must be worked off meanwhile.
constexpr int kLooksAtOnce = 4;
// An interpreter that may have been mapped just now has set itself up many times over after this CPU time
// (1/100 s), or this time. Before, its structures may be half made, and say nothing against a layout.
constexpr uint64_t kSetUpTicks = 20;
constexpr uint64_t kSetUpNs = 2'000'000'000;
// Processes that are tried at a time. One beyond is not: another of its file will tell, or no one.
constexpr size_t kMaxTrials = 512;

}  // namespace

LayoutProofs::Trial::Trial(const PythonProcess& python, const Layout& layout,
                           std::shared_ptr<LayoutVerdict> of_file)
    : process(python),
      verdict(std::move(of_file)),
      reader([memory = ProcessMemory(python.pid)](TargetAddress address, std::span<std::byte> out) {
          return memory.read(address, out);
      }),
      proof(layout, process, make_process_entry(process, layout), reader),
      interval_ns(kFirstInterval) {}

std::shared_ptr<const LayoutVerdict> LayoutProofs::add(const PythonProcess& process, const Layout& layout) {
    const auto& image = process.interpreter.image;
    auto file = std::ranges::find_if(
        files_, [&](const File& one) { return one.image == image && one.layout == &layout; });
    if (file == files_.end())
        file = files_.insert(files_.end(), {image, &layout, std::make_shared<LayoutVerdict>()});
    if (file->verdict->proven) return file->verdict;
    const bool known = std::ranges::any_of(trials_, [&](const auto& trial) {
        return trial->process.pid.value == process.pid.value &&
               trial->process.start_time_ticks == process.start_time_ticks && trial->verdict == file->verdict;
    });
    if (!known && trials_.size() < kMaxTrials)
        trials_.push_back(std::make_unique<Trial>(process, layout, file->verdict));
    return file->verdict;
}

bool LayoutProofs::is_over(Trial& trial, uint64_t now_ns) {
    const auto& process = trial.process;
    const auto stat = read_stat(process.pid);
    if (!stat || stat->start_time_ticks != process.start_time_ticks) return true;
    if (trial.looks == 0) {
        trial.begun_ns = now_ns;
        trial.begun_cpu_ticks = stat->cpu_ticks;
    }
    if (stat->cpu_ticks - trial.begun_cpu_ticks < kSetUpTicks && now_ns - trial.begun_ns < kSetUpNs)
        trial.proof.forget_contradictions();
    const auto look = trial.proof.look();
    if (!look) return true;
    ++trial.looks;
    const Proof& proof = **look;
    switch (proof.verdict) {
        case Verdict::proven:
            trial.verdict->proven = true;
            say_(fmt::format("{}: proven by process {}: {} frames, {} code objects, look {}",
                             process.interpreter.path, process.pid.value, proof.last.frames,
                             proof.last.code_objects, trial.looks));
            return true;
        case Verdict::refuted:
            if (!is_still_(process)) return true;
            if (trial.verdict->refuted++ == 0) trial.verdict->reason = proof.reason;
            withdraw_(process, proof.reason);
            return true;
        case Verdict::undecided:
            trial.next_ns = now_ns + trial.interval_ns;
            // While something speaks against it, the next look is soon.
            if (proof.last.contradictions.empty())
                trial.interval_ns = std::min(trial.interval_ns + trial.interval_ns / 2, kLastInterval);
            return false;
    }
    return true;
}

void LayoutProofs::look(uint64_t now_ns) {
    int looks = 0;
    std::erase_if(trials_, [&](const auto& trial) {
        if (trial->verdict->proven) return true;
        if (trial->next_ns > now_ns || looks == kLooksAtOnce) return false;
        ++looks;
        return is_over(*trial, now_ns);
    });
}

std::optional<int> LayoutProofs::wait_ms(uint64_t now_ns) const {
    const auto soonest =
        std::ranges::min_element(trials_, {}, [](const auto& trial) { return trial->next_ns; });
    if (soonest == trials_.end()) return std::nullopt;
    const uint64_t next = (*soonest)->next_ns;
    return next <= now_ns ? 0 : static_cast<int>((next - now_ns) / 1'000'000 + 1);
}

}  // namespace pyperf
