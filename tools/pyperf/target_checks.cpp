// SPDX-License-Identifier: Apache-2.0
#include "target_checks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <optional>

#include "messages.h"

namespace pyperf::tool {
namespace {

// The process that a task belongs to; nothing: no such task. /proc/ID is there for threads too, though not
// listed.
std::optional<uint32_t> process_of(uint32_t id) {
    std::ifstream status{fmt::format("/proc/{}/status", id)};
    std::string word;
    uint32_t process = 0;
    while (status >> word)
        if (word == "Tgid:" && status >> process) return process;
    return std::nullopt;
}

}  // namespace

std::string missing_target(const Options& options) {
    for (const uint32_t pid : options.pids) {
        const auto process = process_of(pid);
        if (!process) return fmt::format("no process {}: it may have ended; ps -e lists those that run", pid);
        if (*process != pid)
            return fmt::format("{} is a thread of process {}: use -L {}", pid, *process, pid);
    }
    for (const uint32_t tid : options.tids)
        if (!process_of(tid))
            return fmt::format("no thread {}: it may have ended; ps -eL lists those that run", tid);
    return "";
}

void warn_about_targets(pyperf_db* db, const Options& options) {
    if (options.kernel_only) return;
    for (const uint32_t pid : options.pids) {
        pyperf_process_info info{};
        info.sz = sizeof(info);
        const int error = pyperf_examine(db, pid, &info);
        if (error == -ENOENT) {
            say(fmt::format("process {} has no CPython in it: its ticks are counted as not Python", pid));
        } else if (error != 0) {
            say(pyperf_last_error());
        }
    }
}

std::string unwritable_stdout() {
    const int flags = fcntl(STDOUT_FILENO, F_GETFL);
    if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY) return "";
    return "standard output is closed: where to write to? -o FILE.folded or -o FILE.txt says it";
}

void open_standard_descriptors() {
    // open takes the lowest free number. For reading only, so that writing still fails.
    for (int fd = 0; fd <= 2; ++fd)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && ::open("/dev/null", O_RDONLY) < 0) return;
}

}  // namespace pyperf::tool
