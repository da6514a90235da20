// SPDX-License-Identifier: Apache-2.0
// The live proof: is this layout that of this running interpreter? Found out by walking it from user space:
// interpreter states, thread states, frames, code objects, strings; everything must be what the layout says
// it is.
//
// The process runs on meanwhile, so one look says little: a layout is refuted when look after look the same
// thing contradicts it, and proven when look after look nothing does and at least one whole chain of two
// frames is seen.
//
// Not provable, for nothing tells a wrong value from a right one in a running process, and none leads to a
// wrong frame: tests/live/prove_layouts.cpp lists them with reasons.
#pragma once

#include <cstdint>
#include <string>

#include "layout/layout.h"
#include "layout/proof_findings.h"
#include "layout/target_view.h"
#include "process/discover.h"
#include "records.h"

namespace pyperf {

enum class Verdict { proven, refuted, undecided };

struct Proof {
    Verdict verdict = Verdict::undecided;
    std::string reason;  // of a refutation or of not knowing, for people
    Findings last;       // what the last look saw
};

// One proof of one layout by one process. look() as often as it takes, a few milliseconds apart. One look
// reads at most some thousand times; mostly some hundred. Not for several threads at once.
class LayoutProof {
  public:
    // Looks with the same contradiction that refute.
    static constexpr int kLooksToRefute = 5;
    // Looks in a row that prove: of a thread that runs, one may by chance read what a right layout would.
    static constexpr int kLooksToProve = 3;

    // layout, reader: must outlive this. process: with all addresses that the walker would get
    // (process_entry.h).
    LayoutProof(const Layout& layout, const PythonProcess& python, const pyperf_process& process,
                const TargetReader& reader)
        : layout_(layout), python_(python), process_(process), reader_(reader) {}

    // Looks once more, unless it is decided already. Errors: the process cannot be read (any more).
    Result<const Proof*> look();
    // What contradicted so far no longer counts: the interpreter may still have been being set up.
    void forget_contradictions() { times_ = 0; }
    const Proof& proof() const { return proof_; }

  private:
    void judge(Findings findings);

    const Layout& layout_;
    PythonProcess python_;
    pyperf_process process_;
    const TargetReader& reader_;
    Proof proof_;
    std::string contradicted_;  // the member that the last looks spoke against
    int times_ = 0;
    int clean_ = 0;  // looks in a row without a contradiction and with a whole chain
};

}  // namespace pyperf
