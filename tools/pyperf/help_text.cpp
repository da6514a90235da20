// SPDX-License-Identifier: Apache-2.0
#include "help_text.h"

namespace pyperf::tool {
namespace {

constexpr const char* head = R"(usage: pyperf [options] [DURATION]
       pyperf [options] -- COMMAND [ARGUMENT...]

Show where the CPython processes of this machine spend their CPU time:
functions and lines, by timed sampling in the kernel.

DURATION is in seconds; without it, until Ctrl-C or the end of COMMAND.
)";

constexpr const char* examples = R"(examples:
    pyperf                     # profile all Python processes until Ctrl-C
    pyperf 5                   # for 5 seconds only
    pyperf -F 99 10            # at 99 Hertz for 10 seconds
    pyperf -c 1000000 5        # every 1,000,000 ns of CPU time instead
    pyperf -p 185,192          # only processes 185 and 192
    pyperf -L 185              # only thread 185
    pyperf -U                  # only Python stacks, without the kernel's
    pyperf -K                  # only kernel stacks, of every process
    pyperf -f 30 > out.folded  # one line per stack, for flame graphs
    pyperf -a -o out.folded 30 # the same into a file, kernel marked _[k]
    pyperf -- python3 app.py   # run a program and profile it
)";

}  // namespace

std::string HelpFormatter::make_help(const CLI::App* app, std::string, CLI::AppFormatMode mode) const {
    return head + make_groups(app, mode) + examples;
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
    return option->get_option_text().empty() ? "" : " " + option->get_option_text();
}

}  // namespace pyperf::tool
