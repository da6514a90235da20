// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <iostream>

#include "exit_codes.h"
#include "options.h"
#include "run.h"

int main(int argc, char** argv) {
    using namespace pyperf::tool;
    signal(SIGPIPE, SIG_IGN);  // a closed pipe is seen at the write, and ends the program quietly
    try {
        int exit_code = exit_done;
        const auto options = parse_options(argc, argv, exit_code);
        return options ? run(*options) : exit_code;
    } catch (const std::exception& exception) {
        std::cerr << "pyperf: " << exception.what() << '\n';
        return exit_failed;
    }
}
