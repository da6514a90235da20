// SPDX-License-Identifier: Apache-2.0
#include "layout/proof.h"

#include <fmt/format.h>

#include "layout/proof_walk.h"

namespace pyperf {
namespace {

constexpr const char* not_set_up = "the interpreter is not set up yet";

// What is odd in more than half of all cases is not the program's oddity.
void weigh_plausibility(Findings& findings) {
    for (const auto& [about, one] : findings.plausible)
        if (one.odd * 2 > one.seen)
            findings.contradict(about, fmt::format("{} ({} of {} times)", one.example, one.odd, one.seen));
}

}  // namespace

void LayoutProof::judge(Findings findings) {
    weigh_plausibility(findings);
    proof_.last = std::move(findings);
    const auto& found = proof_.last;
    if (!found.contradictions.empty()) {
        // The same member each time: what is caused by the process running on is now here, now there.
        const auto& first = found.contradictions.front();
        times_ = first.about == contradicted_ ? times_ + 1 : 1;
        contradicted_ = first.about;
        proof_.reason = fmt::format("{}: {}", first.about, first.what);
        if (times_ >= kLooksToRefute) proof_.verdict = Verdict::refuted;
        clean_ = 0;
        return;
    }
    times_ = 0;
    contradicted_.clear();
    if (found.moved != 0) {
        clean_ = 0;
        proof_.reason = "its frames moved while they were read";
    } else if (found.whole_chains != 0) {
        proof_.reason = "not looked at often enough";
        if (++clean_ < kLooksToProve) return;
        proof_.verdict = Verdict::proven;
        proof_.reason.clear();
    } else {
        proof_.reason = found.thread_states == 0 ? "the interpreter has no thread states yet"
                                                 : "no thread runs Python code with a caller";
    }
}

Result<const Proof*> LayoutProof::look() {
    if (proof_.verdict != Verdict::undecided) return &proof_;
    TargetView view(reader_);
    const auto head = view.read<uint64_t>(process_.interp_head_addr);
    if (head && *head == 0) {
        proof_.reason = not_set_up;
        return &proof_;
    }
    Findings findings;
    ProofWalk walk(layout_, process_, python_.interpreter.addresses.frame_type.value, view, findings);
    walk.look();
    if (view.gone()) return *view.gone();
    if (findings.types_ready) {
        judge(std::move(findings));
    } else {
        forget_contradictions();
        proof_.reason = not_set_up;
    }
    return &proof_;
}

}  // namespace pyperf
