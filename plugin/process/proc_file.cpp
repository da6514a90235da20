// SPDX-License-Identifier: Apache-2.0
#include "process/proc_file.h"

#include <fcntl.h>

#include <cstring>

#include "elf/owned_fd.h"

namespace pyperf {

std::string proc_path(HostPid pid, const std::string& name) {
    return "/proc/" + std::to_string(pid.value) + "/" + name;
}

Error proc_error(HostPid pid, const std::string& what, int errno_value) {
    const std::string who = "process " + std::to_string(pid.value);
    if (errno_value == ENOENT || errno_value == ESRCH) return {who + ": no such process", -ESRCH};
    if (errno_value == EACCES || errno_value == EPERM) {
        return {who + ": no right to read its " + what + "; needs root (CAP_SYS_PTRACE)", -errno_value};
    }
    return {who + ": its " + what + " cannot be read: " + std::strerror(errno_value), -errno_value};
}

Result<std::string> read_proc_file(HostPid pid, const std::string& name, size_t limit) {
    const OwnedFd fd(::open(proc_path(pid, name).c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return proc_error(pid, name, errno);
    std::string text;
    // The kernel hands out a page or less at a time; larger pieces save system calls where it does more.
    constexpr size_t piece = 16384;
    while (true) {
        const size_t before = text.size();
        text.resize(before + piece);
        const ssize_t n = ::read(fd.get(), text.data() + before, piece);
        text.resize(before + static_cast<size_t>(n > 0 ? n : 0));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return proc_error(pid, name, errno);
        if (n == 0) return text;
        if (text.size() > limit) return proc_error(pid, name, EFBIG);
    }
}

}  // namespace pyperf
