// SPDX-License-Identifier: Apache-2.0
#include "process/memory.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace pyperf {
namespace {

constexpr size_t kMaxRead = 64U << 20;
constexpr size_t kMaxString = 1U << 20;

std::string describe(HostPid pid, TargetAddress address) {
    char text[64];
    std::snprintf(text, sizeof text, "process %d: memory at %#llx", pid.value,
                  static_cast<unsigned long long>(address.value));
    return text;
}

}  // namespace

Result<void> ProcessMemory::read(TargetAddress address, std::span<std::byte> out) const {
    if (out.empty()) return {};
    if (out.size() > kMaxRead) return Error{describe(pid_, address) + ": more than 64 MiB asked for", -E2BIG};
    const iovec local{out.data(), out.size()};
    // An address of the target, which the system call takes as a pointer.
    const iovec remote{reinterpret_cast<void*>(address.value),
                       out.size()};  // NOLINT(performance-no-int-to-ptr)
    const ssize_t n = ::process_vm_readv(pid_.value, &local, 1, &remote, 1, 0);
    if (n == static_cast<ssize_t>(out.size())) return {};
    if (n >= 0) return Error{describe(pid_, address) + ": ends too early", -EFAULT};
    if (errno == ESRCH) return Error{"process " + std::to_string(pid_.value) + ": no such process", -ESRCH};
    if (errno == EPERM)
        return Error{describe(pid_, address) + ": no right to read it; needs root (CAP_SYS_PTRACE)", -EPERM};
    return Error{describe(pid_, address) + ": " + std::strerror(errno), -errno};
}

Result<std::string> ProcessMemory::read_string(TargetAddress address, size_t limit) const {
    limit = std::min(limit, kMaxString);
    static const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    std::string text;
    while (text.size() < limit) {
        // Up to the end of a page, so that a string at the end of a mapping can be read; at most 256 bytes at
        // a time.
        const uint64_t at = address.value + text.size();
        const size_t piece =
            std::min({limit - text.size(), page - static_cast<size_t>(at % page), size_t{256}});
        const size_t before = text.size();
        text.resize(before + piece);
        auto done = read({at}, std::as_writable_bytes(std::span(text).subspan(before)));
        if (!done) return done.error();
        if (const size_t end = text.find('\0', before); end != std::string::npos) {
            text.resize(end);
            return text;
        }
    }
    return Error{describe(pid_, address) + ": a string longer than " + std::to_string(limit) + " bytes",
                 -E2BIG};
}

}  // namespace pyperf
