// SPDX-License-Identifier: Apache-2.0
// The text of /proc/PID/stat, in which the process's own name may be any bytes. What is taken from it,
// written as the kernel would, reads back as the same: no name moves the fields behind it.
#include "process/identity.h"

#include <fmt/format.h>

#include "input.h"

using namespace pyperf;
using namespace pyperf_test;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto stat = parse_stat(Input(data, size).text());
    if (!stat) {
        require_told(stat.error());
        return 0;
    }
    require(stat->comm.size() <= size, "a name lies in the text");
    require(stat->parent.value >= 0, "a parent is a process, or none");
    std::string text = fmt::format("17 ({}) S {}", stat->comm, stat->parent.value);
    for (int field = 5; field < 22; ++field) {
        // utime holds all of the CPU time, stime nothing.
        const bool time = field == 14 || field == 15;
        text += time ? fmt::format(" {}", field == 14 ? stat->cpu_ticks : 0) : fmt::format(" {}", -field);
    }
    text += fmt::format(" {} 0 0\n", stat->start_time_ticks);
    const auto again = parse_stat(text);
    require(again && again->comm == stat->comm && again->parent == stat->parent &&
                again->start_time_ticks == stat->start_time_ticks && again->cpu_ticks == stat->cpu_ticks,
            "what is written reads back");
    return 0;
}
