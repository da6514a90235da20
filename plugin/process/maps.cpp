// SPDX-License-Identifier: Apache-2.0
#include "process/maps.h"

#include <charconv>
#include <optional>

#include "process/proc_file.h"

namespace pyperf {
namespace {

constexpr size_t kMaxMapsBytes = 64U << 20;
constexpr std::string_view kDeleted = " (deleted)";

// Reads a number from the front of `text` and the character `after` behind it.
std::optional<uint64_t> take_number(std::string_view& text, int base, char after) {
    uint64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (parsed.ec != std::errc{}) return std::nullopt;
    const auto used = static_cast<size_t>(parsed.ptr - text.data());
    if (used >= text.size() || text[used] != after) return std::nullopt;
    text.remove_prefix(used + 1);
    return value;
}

// seq_file_path() in the kernel writes a newline as \012 and nothing else (fs/proc/task_mmu.c, show_map_vma).
std::string unescape(std::string_view path) {
    static constexpr std::string_view newline = "\\012";
    std::string plain;
    plain.reserve(path.size());
    while (!path.empty()) {
        const size_t at = path.find(newline);
        plain.append(path.substr(0, at));
        if (at == std::string_view::npos) break;
        plain += '\n';
        path.remove_prefix(at + newline.size());
    }
    return plain;
}

std::optional<Mapping> parse_line(std::string_view line) {
    // 55d0c0a4d000-55d0c0a4f000 r-xp 00002000 fe:01 1234    /usr/bin/python3
    Mapping mapping;
    const auto start = take_number(line, 16, '-');
    const auto end = start ? take_number(line, 16, ' ') : std::nullopt;
    if (!end || *end <= *start || line.size() < 5 || line[4] != ' ') return std::nullopt;
    mapping.start = *start;
    mapping.end = *end;
    mapping.readable = line[0] == 'r';
    mapping.writable = line[1] == 'w';
    mapping.executable = line[2] == 'x';
    mapping.shared = line[3] == 's';
    line.remove_prefix(5);
    const auto offset = take_number(line, 16, ' ');
    const auto major = offset ? take_number(line, 16, ':') : std::nullopt;
    const auto minor = major ? take_number(line, 16, ' ') : std::nullopt;
    if (!minor) return std::nullopt;
    uint64_t inode = 0;
    const auto parsed = std::from_chars(line.data(), line.data() + line.size(), inode);
    if (parsed.ec != std::errc{}) return std::nullopt;
    line.remove_prefix(static_cast<size_t>(parsed.ptr - line.data()));
    mapping.offset = *offset;
    mapping.device_major = static_cast<uint32_t>(*major);
    mapping.device_minor = static_cast<uint32_t>(*minor);
    mapping.inode = inode;
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (inode != 0 && line.ends_with(kDeleted)) {
        mapping.deleted = true;
        line.remove_suffix(kDeleted.size());
    }
    mapping.path = unescape(line);
    return mapping;
}

}  // namespace

Result<std::vector<Mapping>> parse_maps(std::string_view text) {
    std::vector<Mapping> mappings;
    while (!text.empty()) {
        const size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        auto mapping = parse_line(line);
        if (!mapping) return Error{"a line of the memory map is not in the kernel's format"};
        mappings.push_back(std::move(*mapping));
    }
    return mappings;
}

Result<std::vector<Mapping>> read_maps(HostPid pid) {
    auto text = read_proc_file(pid, "maps", kMaxMapsBytes);
    if (!text) return text.error();
    return parse_maps(*text);
}

}  // namespace pyperf
