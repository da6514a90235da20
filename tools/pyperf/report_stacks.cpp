// SPDX-License-Identifier: Apache-2.0
#include "report_stacks.h"

#include <fmt/format.h>

namespace pyperf::tool {

bool write_stacks(const StackCounts& stacks, std::FILE* out) {
    bool whole = true;
    std::string text;
    stacks.for_each(StackCounts::Order::by_count, [&](const CountedStack& stack) {
        if (!whole) return;
        text.clear();
        for (size_t i = stack.lines.size(); i-- > 0;) {
            text += "    ";
            text += stack.lines[i];
            text += '\n';
        }
        fmt::format_to(std::back_inserter(text), "    {:<16} {} ({})\n        {}\n\n", "-", stack.comm,
                       stack.pid, stack.count);
        whole = std::fwrite(text.data(), 1, text.size(), out) == text.size();
    });
    return std::fflush(out) == 0 && whole;
}

}  // namespace pyperf::tool
