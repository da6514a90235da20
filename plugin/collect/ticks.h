// SPDX-License-Identifier: Apache-2.0
// The clock of the profile: one cpu-clock event on each CPU, with a BPF program on it.
#pragma once

#include <cstdint>
#include <vector>

#include "result.h"

namespace pyperf {

struct TickOptions {
    uint32_t hz = 49;        // ticks a second on each CPU
    uint64_t period_ns = 0;  // instead of hz: CPU time between ticks
    int cpu = -1;            // only this one; -1: all that are online
};

class Ticks {
  public:
    Ticks() = default;
    ~Ticks() { stop(); }
    Ticks(Ticks&& other) noexcept : fds_(std::move(other.fds_)) { other.fds_.clear(); }
    Ticks& operator=(Ticks&& other) noexcept {
        stop();
        fds_.swap(other.fds_);
        return *this;
    }

    // Opens the events and starts them. program_fd stays the caller's.
    static Result<Ticks> start(const TickOptions& options, int program_fd);
    void stop();
    size_t cpus() const { return fds_.size(); }

  private:
    std::vector<int> fds_;
};

}  // namespace pyperf
