// SPDX-License-Identifier: Apache-2.0
// Lines for the user on standard error. What is in them may come from a target or the command line: it is
// escaped.
#pragma once

#include <pyperf/pyperf.h>

#include <string>

namespace pyperf::tool {

// "pyperf: MESSAGE"
void say(const std::string& message);

// The same, and the exit code of a run that failed.
int complain(const std::string& message);

// A pyperf_log_fn. context: a const bool, whether to show more than warnings.
void print_log(void* verbose, pyperf_log_level level, const char* message);

}  // namespace pyperf::tool
