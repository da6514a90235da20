// SPDX-License-Identifier: Apache-2.0
// The program that the user wants to have run and profiled: forked early (its pid is needed for the filter), started when
// the ticks run.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace pyperf::tool {

class Child {
  public:
    // Forks; the child waits. Nothing, with a line in `error`: it failed.
    static std::optional<Child> prepare(const std::vector<std::string>& command, std::string& error);
    ~Child();
    Child(Child&& other) noexcept;
    Child& operator=(Child&&) = delete;

    pid_t pid() const { return pid_; }
    // Lets the child run its program. False, with a line in `error`: there is no such program, say.
    bool start(std::string& error);
    // Whether it has ended; does not wait.
    bool ended();

  private:
    Child(pid_t pid, int go, int result, std::string name) : pid_(pid), go_(go), result_(result), name_(std::move(name)) {}

    pid_t pid_ = -1;
    int go_ = -1;      // a byte written here starts it; closed without one, it ends
    int result_ = -1;  // the child's errno, or end of file when exec succeeded
    std::string name_;
    bool ended_ = false;
};

}  // namespace pyperf::tool
