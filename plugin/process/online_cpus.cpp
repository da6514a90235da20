// SPDX-License-Identifier: Apache-2.0
#include "process/online_cpus.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <string>

namespace pyperf {

Result<std::vector<int>> online_cpus() {
    // "0-3,5,7-8"
    std::ifstream file{"/sys/devices/system/cpu/online"};
    std::string text;
    std::getline(file, text);
    std::vector<int> cpus;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at < end) {
        int first = 0;
        auto parsed = std::from_chars(at, end, first);
        if (parsed.ec != std::errc{}) break;
        int last = first;
        if (parsed.ptr < end && *parsed.ptr == '-') parsed = std::from_chars(parsed.ptr + 1, end, last);
        if (parsed.ec != std::errc{} || last < first || last > 65535) break;
        for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
        at = parsed.ptr;
        if (at < end && *at != ',') break;
        ++at;
    }
    if (cpus.empty())
        return Error{fmt::format("/sys/devices/system/cpu/online says \"{}\": is /sys mounted?", text),
                     -ENOENT};
    return cpus;
}

}  // namespace pyperf
