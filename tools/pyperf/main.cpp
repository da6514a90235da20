// SPDX-License-Identifier: Apache-2.0
#include <exception>

#include "exit_codes.h"
#include "messages.h"
#include "options.h"
#include "run.h"
#include "signals.h"
#include "target_checks.h"

int main(int argc, char** argv) {
    using namespace pyperf::tool;
    open_standard_descriptors();
    catch_signals();
    try {
        int exit_code = exit_done;
        const auto options = parse_options(argc, argv, exit_code);
        return options ? run(*options) : exit_code;
    } catch (const std::exception& exception) {
        return complain(exception.what());
    }
}
