// SPDX-License-Identifier: Apache-2.0
// The program that the user wants to have run and profiled: forked early (its pid is needed for the filter),
// started when the ticks run.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "result.h"

namespace pyperf::tool {

class Child {
  public:
    enum class Stdout {
        ours,
        to_stderr,  // standard output has the results and nothing else
    };

    // Forks; the child waits.
    static Result<Child> prepare(const std::vector<std::string>& command, Stdout output);
    ~Child();
    Child(Child&& other) noexcept;
    Child& operator=(Child&& other) noexcept;

    pid_t pid() const { return pid_; }
    // Lets the child run its program. Fails with the error of exec: -ENOENT if there is no such program.
    Result<void> start();
    // Whether it has ended; does not wait.
    bool ended();
    // Once it has ended: its exit code, 128 + N if signal N ended it.
    int exit_code() const { return exit_code_; }
    // ... and the CPU time it took, with its own children.
    double cpu_seconds() const { return cpu_seconds_; }
    // Sends the signal, unless it has ended.
    void pass_on(int signal);

  private:
    Child(pid_t pid, int go, int result, std::string name)
        : pid_(pid), go_(go), result_(result), name_(std::move(name)) {}

    pid_t pid_ = -1;
    int go_ = -1;      // a byte written here starts it; closed without one, it ends
    int result_ = -1;  // the child's errno, or end of file when exec succeeded
    std::string name_;
    bool ended_ = false;
    int exit_code_ = 0;
    double cpu_seconds_ = 0;
};

}  // namespace pyperf::tool
