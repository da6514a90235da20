// SPDX-License-Identifier: Apache-2.0
// The text of /proc/PID/maps, whose paths any process chooses. Every line becomes one mapping that has a
// size, and the line that the kernel writes for such a mapping reads back as the same: nothing in a path
// passes for a field.
#include "process/maps.h"

#include <fmt/format.h>

#include "input.h"

using namespace pyperf;
using namespace pyperf_test;

namespace {

// fs/proc/task_mmu.c, show_map_vma().
std::string line_of(const Mapping& mapping) {
    std::string path;
    for (const char c : mapping.path) path += c == '\n' ? std::string("\\012") : std::string(1, c);
    return fmt::format("{:x}-{:x} {}{}{}{} {:08x} {:02x}:{:02x} {} {}{}\n", mapping.start, mapping.end,
                       mapping.readable ? 'r' : '-', mapping.writable ? 'w' : '-',
                       mapping.executable ? 'x' : '-', mapping.shared ? 's' : 'p', mapping.offset,
                       mapping.device_major, mapping.device_minor, mapping.inode, path,
                       mapping.deleted ? " (deleted)" : "");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text = Input(data, size).text();
    const auto mappings = parse_maps(text);
    if (!mappings) {
        require_told(mappings.error());
        return 0;
    }
    const auto ends = static_cast<size_t>(std::ranges::count(text, '\n'));
    require(mappings->size() == ends + (text.empty() || text.ends_with('\n') ? 0 : 1), "a line is a mapping");
    for (const Mapping& mapping : *mappings) {
        require(mapping.start < mapping.end, "a mapping has a size");
        require(!mapping.deleted || mapping.inode != 0, "only a file is deleted");
        const auto again = parse_maps(line_of(mapping));
        require(again && again->size() == 1, "the kernel's line is one mapping");
        require(line_of(again->front()) == line_of(mapping) && again->front().path == mapping.path,
                "a line reads back as what it was made from");
    }
    return 0;
}
