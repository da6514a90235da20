// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace pyperf::tool {

inline constexpr int exit_done = 0;
inline constexpr int exit_failed = 1;
inline constexpr int exit_usage = 2;
// Of a command that could not be run, as shells, env(1) and perf(1) have it; one that ran gives its own code.
inline constexpr int exit_not_executable = 126;
inline constexpr int exit_not_found = 127;
inline constexpr int exit_signal_base = 128;

}  // namespace pyperf::tool
