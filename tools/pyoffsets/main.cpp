// SPDX-License-Identifier: Apache-2.0
// pyoffsets: the maintainer's tool for the offset database.
#include <cstdio>

#include "commands.h"

int main(int argc, char** argv) {
    using namespace pyperf::offsets;
    CLI::App app{"Makes, checks and compares the files of pyperf's offset database", "pyoffsets"};
    app.require_subcommand(1);
    app.footer("Files are described in docs/offsets.md. Exit code: 0 done, 1 failed, 2 usage.");
    const Words words(argv, argv + argc);
    int exit_code = 0;
    add_generate(app, words, exit_code);
    add_check(app, exit_code);
    add_diff(app, exit_code);
    add_list(app, exit_code);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : kUsage;
    }
    return exit_code;
}
