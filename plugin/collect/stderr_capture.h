// SPDX-License-Identifier: Apache-2.0
// libbcc and LLVM write to standard error whatever they have to say. While one of these lives, that goes into
// memory: a user sees it when something failed, or asked for it.
#pragma once

#include <string>

namespace pyperf {

// Not for several threads at once: the descriptor 2 is the process's.
class StderrCapture {
  public:
    StderrCapture();
    ~StderrCapture() { restore(); }
    StderrCapture(const StderrCapture&) = delete;
    StderrCapture& operator=(const StderrCapture&) = delete;

    // Puts standard error back and gives what was written meanwhile (its last 64 KiB); "" on later calls.
    std::string restore();

  private:
    int saved_ = -1;
    int memory_ = -1;
};

}  // namespace pyperf
