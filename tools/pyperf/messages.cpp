// SPDX-License-Identifier: Apache-2.0
#include "messages.h"

#include <iostream>

#include "decode/escape.h"
#include "exit_codes.h"

namespace pyperf::tool {

void say(const std::string& message) {
    // In one piece, so that lines of a command that runs meanwhile do not come in between.
    std::cerr << "pyperf: " + escape_for_line(message) + "\n" << std::flush;
}

int complain(const std::string& message) {
    say(message);
    return exit_failed;
}

void print_log(void* verbose, pyperf_log_level level, const char* message) {
    if (level == PYPERF_LOG_WARNING || *static_cast<const bool*>(verbose)) say(message);
}

}  // namespace pyperf::tool
