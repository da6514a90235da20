// SPDX-License-Identifier: Apache-2.0
// The live proofs that go on beside a session: each interpreter's file is proven once, by the first of its
// processes that can; what refutes a layout is withdrawn.
//
// A file that is proven stays so: no process can take the layout from the others by having spoilt its own
// memory. Until then each process is tried for itself.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "layout/layout.h"
#include "layout/proof.h"
#include "process/discover.h"

namespace pyperf {

// What is known of one file's layout.
struct LayoutVerdict {
    bool proven = false;
    unsigned refuted = 0;  // processes that refuted it
    std::string reason;    // of the first of them

    // None of the file's processes is to be trusted.
    bool is_refuted() const { return !proven && refuted != 0; }
};

class LayoutProofs {
  public:
    // Whether the process is still what was looked at: neither ended nor another program meanwhile.
    using IsStill = std::function<bool(const PythonProcess&)>;
    // A process refutes the layout that it was given.
    using Withdraw = std::function<void(const PythonProcess&, const std::string& reason)>;
    using Say = std::function<void(const std::string&)>;

    LayoutProofs(IsStill is_still, Withdraw withdraw, Say say)
        : is_still_(std::move(is_still)), withdraw_(std::move(withdraw)), say_(std::move(say)) {}

    // Begins the proof if its file is not proven yet. layout: must outlive this.
    std::shared_ptr<const LayoutVerdict> add(const PythonProcess& process, const Layout& layout);
    // Looks at those processes whose time has come, a few at a time. now_ns: of any clock that only goes
    // forward.
    void look(uint64_t now_ns);
    // Milliseconds until look() has something to do; nothing: it has not.
    std::optional<int> wait_ms(uint64_t now_ns) const;

  private:
    struct File {
        std::shared_ptr<const InterpreterImage> image;
        const Layout* layout;
        std::shared_ptr<LayoutVerdict> verdict;
    };
    struct Trial {
        Trial(const PythonProcess& process, const Layout& layout, std::shared_ptr<LayoutVerdict> verdict);

        PythonProcess process;
        std::shared_ptr<LayoutVerdict> verdict;
        TargetReader reader;
        LayoutProof proof;
        uint64_t begun_ns = 0;  // when and with how much CPU time it was first looked at
        uint64_t begun_cpu_ticks = 0;
        uint64_t next_ns = 0;
        uint64_t interval_ns;
        unsigned looks = 0;
    };
    bool is_over(Trial& trial, uint64_t now_ns);

    IsStill is_still_;
    Withdraw withdraw_;
    Say say_;
    std::vector<File> files_;
    std::vector<std::unique_ptr<Trial>> trials_;
};

}  // namespace pyperf
