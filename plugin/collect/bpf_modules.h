// SPDX-License-Identifier: Apache-2.0
// The BPF programs of a session: texts compiled by libbcc, loaded, their maps shared. libbcc's types stay in
// here.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "collect/module_build.h"
#include "result.h"

namespace pyperf {

enum class ProgramKind { perf_event, raw_tracepoint };

struct ProgramWanted {
    const char* name;
    ProgramKind kind;
};

class BpfModules {
  public:
    BpfModules();
    ~BpfModules();
    BpfModules(const BpfModules&) = delete;
    BpfModules& operator=(const BpfModules&) = delete;

    // Compiles a text and loads its programs. The first text defines the maps, later ones use them. Result:
    // one descriptor for each program wanted, owned by this object. what: for messages.
    ModuleBuild::Outcome add(const std::string& what, const std::string& text,
                             const std::vector<ProgramWanted>& programs);

    // The descriptor of a map of the first text, owned by this object; -1: there is none of that name.
    int map_fd(std::string_view name) const;

    // Gives back the memory that compiling took (LLVM keeps it otherwise). add() may follow all the same.
    void release_compiler_memory();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace pyperf
