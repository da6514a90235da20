// SPDX-License-Identifier: Apache-2.0
// What one look at a process says for and against a layout.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace pyperf {

// What cannot be if the layout is right and nothing moved meanwhile. about: the member it speaks of, the same
// every time.
struct Contradiction {
    std::string about;
    std::string what;
};

// What is so in nearly every program, but need not be: only if most of what was looked at is odd, it speaks
// against the layout.
struct Plausibility {
    unsigned seen = 0;
    unsigned odd = 0;
    std::string example;
};

struct Findings {
    bool types_ready = true;  // false: the interpreter is being set up
    unsigned thread_states = 0;
    unsigned frames = 0;
    unsigned code_objects = 0;
    unsigned whole_chains = 0;  // from the thread state to the end, with a caller in it
    unsigned moved = 0;  // chains that said something against the layout, but were others when read again
    std::vector<Contradiction> contradictions;
    std::map<std::string, Plausibility> plausible;  // by member

    void contradict(std::string about, std::string what) {
        contradictions.push_back({std::move(about), std::move(what)});
    }
    void expect(bool as_usual, const std::string& about, const std::string& what) {
        Plausibility& entry = plausible[about];
        ++entry.seen;
        if (as_usual) return;
        ++entry.odd;
        if (entry.example.empty()) entry.example = what;
    }
};

}  // namespace pyperf
