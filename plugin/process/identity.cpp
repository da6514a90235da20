// SPDX-License-Identifier: Apache-2.0
#include "process/identity.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstring>
#include <memory>
#include <optional>

#include "process/proc_file.h"

namespace pyperf {
namespace {

constexpr size_t kMaxStatBytes = 64 * 1024;

std::optional<uint64_t> to_number(std::string_view text) {
    uint64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string_view take_word(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\n"), text.size()));
    const std::string_view word = text.substr(0, text.find_first_of(" \t\n"));
    text.remove_prefix(word.size());
    return word;
}

Result<std::vector<HostPid>> numbers_in(const std::string& directory) {
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(directory.c_str()), ::closedir);
    if (!folder) return Error{directory + ": " + std::strerror(errno), errno == ENOENT ? -ESRCH : -errno};
    std::vector<HostPid> pids;
    while (const dirent* entry = ::readdir(folder.get())) {
        const auto number = to_number(entry->d_name);
        if (number && *number > 0 && *number <= INT32_MAX) pids.push_back({static_cast<int32_t>(*number)});
    }
    std::ranges::sort(pids);
    return pids;
}

}  // namespace

Result<ProcessStat> parse_stat(std::string_view text) {
    // "pid (comm) state ppid ...": comm may hold anything, so its end is the last ')'.
    const size_t open = text.find('(');
    const size_t close = text.rfind(')');
    const Error broken{"/proc/PID/stat is not in the kernel's format"};
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) return broken;
    ProcessStat stat;
    stat.comm = text.substr(open + 1, close - open - 1);
    text.remove_prefix(close + 1);
    // proc(5): the word behind comm is field 3; ppid is field 4, utime and stime are 14 and 15, starttime
    // is 22.
    for (int field = 3; field <= 22; ++field) {
        const std::string_view word = take_word(text);
        if (field == 4) {
            const auto parent = to_number(word);
            if (!parent || *parent > INT32_MAX) return broken;
            stat.parent = {static_cast<int32_t>(*parent)};
        } else if (field == 14 || field == 15) {
            const auto ticks = to_number(word);
            if (!ticks) return broken;
            stat.cpu_ticks += *ticks;
        } else if (field == 22) {
            const auto ticks = to_number(word);
            if (!ticks) return broken;
            stat.start_time_ticks = *ticks;
        }
    }
    return stat;
}

Result<ProcessStat> read_stat(HostPid pid) {
    auto text = read_proc_file(pid, "stat", kMaxStatBytes);
    if (!text) return text.error();
    auto stat = parse_stat(*text);
    if (!stat) return stat.error().within("process " + std::to_string(pid.value));
    return stat;
}

Result<uint64_t> read_start_time(HostPid pid) {
    auto stat = read_stat(pid);
    if (!stat) return stat.error();
    return stat->start_time_ticks;
}

Result<NamespacePid> read_namespace_pid(HostPid pid) {
    auto text = read_proc_file(pid, "status", kMaxStatBytes);
    if (!text) return text.error();
    static constexpr std::string_view key = "\nNSpid:";
    const size_t at = text->find(key);
    // Kernels before 4.1, and those without CONFIG_PID_NS: there is one namespace only.
    if (at == std::string::npos) return NamespacePid{pid.value};
    std::string_view line = std::string_view(*text).substr(at + key.size());
    line = line.substr(0, line.find('\n'));
    std::optional<uint64_t> last;
    while (true) {
        const std::string_view word = take_word(line);
        if (word.empty()) break;
        last = to_number(word);
    }
    if (!last || *last > INT32_MAX) {
        return Error{"process " + std::to_string(pid.value) + ": its status is not in the kernel's format"};
    }
    return NamespacePid{static_cast<int32_t>(*last)};
}

Result<std::string> read_executable_path(HostPid pid) {
    char path[PATH_MAX];
    const ssize_t n = ::readlink(proc_path(pid, "exe").c_str(), path, sizeof path);
    if (n < 0) return proc_error(pid, "exe", errno);
    return std::string(path, static_cast<size_t>(n));
}

Result<std::vector<HostPid>> list_processes() {
    return numbers_in("/proc");
}

Result<std::vector<HostPid>> list_threads(HostPid pid) {
    return numbers_in(proc_path(pid, "task"));
}

}  // namespace pyperf
