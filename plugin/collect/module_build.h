// SPDX-License-Identifier: Apache-2.0
// A BPF module compiled and loaded by a child process, so that several are made at once, the caller goes on
// with its work, and what LLVM leaves on the heap is gone when the child is.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "result.h"

namespace pyperf {

class ModuleBuild {
  public:
    struct Outcome {
        Result<std::vector<int>> programs;  // descriptors, the caller's from then on; or why there are none
        std::string messages;               // of the compiler and the verifier
    };

    // Forks, and runs `work` in the child: it may use what its process inherits (libbcc's tables among it),
    // and what it changes stays there, but for the descriptors it returns. At most 250 of them.
    static Result<ModuleBuild> start(const std::function<Outcome()>& work);
    // A build that is not finished is given up: the child is ended.
    ~ModuleBuild();
    ModuleBuild(ModuleBuild&& other) noexcept;
    ModuleBuild& operator=(ModuleBuild&&) = delete;
    ModuleBuild(const ModuleBuild&) = delete;

    // Readable as soon as finish() will not wait.
    int fd() const { return socket_; }
    // Waits for the child's answer. Once.
    Outcome finish();

  private:
    ModuleBuild(pid_t child, int socket) : child_(child), socket_(socket) {}
    void reap();

    pid_t child_;
    int socket_;
};

}  // namespace pyperf
