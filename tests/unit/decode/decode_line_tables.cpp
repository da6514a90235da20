// SPDX-License-Identifier: Apache-2.0
// For compare_stdlib.py: reads code objects as line_tables.py prints them from standard input and prints for
// each the lines that our decoder gives, in the form of a `lines` line.
#include <cstdio>
#include <iostream>

#include "decode/line_table.h"
#include "unit/decode/line_table_cases.h"

int main() {
    using namespace pyperf;
    std::ios::sync_with_stdio(false);
    bool failed = false;
    while (const auto code = test::read_line_table_case(std::cin, failed)) {
        std::optional<int32_t> last;
        size_t run = 0;
        std::string out = "lines";
        const auto end_run = [&] {
            if (run > 0) out += " " + std::to_string(run) + "x" + (last ? std::to_string(*last) : "-");
        };
        for (size_t i = 0; i < code->lines.size(); ++i) {
            const auto offset = static_cast<int32_t>(i) * code->step;
            const auto line = line_of(code->format, {code->table}, code->first_line, offset);
            if (run > 0 && line != last) {
                end_run();
                run = 0;
            }
            last = line;
            ++run;
        }
        end_run();
        std::cout << out << '\n';
    }
    if (failed) {
        std::fputs("standard input is not what line_tables.py prints\n", stderr);
        return 1;
    }
    return 0;
}
