// SPDX-License-Identifier: Apache-2.0
// The subcommands of pyoffsets. Each adds itself to the parser with its options and, if chosen, runs; the
// exit code goes to `exit_code`.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace pyperf::offsets {

// The words of the command line as they were given, for the provenance of what is generated.
using Words = std::vector<std::string>;

void add_generate(CLI::App& app, const Words& words, int& exit_code);
void add_check(CLI::App& app, int& exit_code);
void add_diff(CLI::App& app, int& exit_code);
void add_list(CLI::App& app, int& exit_code);

inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;

}  // namespace pyperf::offsets
