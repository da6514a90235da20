// SPDX-License-Identifier: Apache-2.0
#include "report_folded.h"

#include <fmt/format.h>

namespace pyperf::tool {

bool write_folded(const StackCounts& stacks, std::FILE* out) {
    bool whole = true;
    std::string line;
    stacks.for_each(StackCounts::Order::by_text, [&](const CountedStack& stack) {
        if (!whole) return;
        line = stack.comm;
        for (const auto text : stack.lines) {
            line += ';';
            line += text;
        }
        fmt::format_to(std::back_inserter(line), " {}\n", stack.count);
        whole = std::fwrite(line.data(), 1, line.size(), out) == line.size();
    });
    return std::fflush(out) == 0 && whole;
}

}  // namespace pyperf::tool
