// SPDX-License-Identifier: Apache-2.0
#include "process/mapped_file.h"

#include <fcntl.h>
#include <sys/sysmacros.h>

#include <cstdio>
#include <cstring>

#include "process/proc_file.h"

namespace pyperf {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;

std::string map_files_path(HostPid pid, const Mapping& mapping) {
    char name[64];
    std::snprintf(name, sizeof name, "map_files/%llx-%llx", static_cast<unsigned long long>(mapping.start),
                  static_cast<unsigned long long>(mapping.end));
    return proc_path(pid, name);
}

bool is_mapped_one(const struct stat& status, const Mapping& mapping) {
    return status.st_ino == mapping.inode && major(status.st_dev) == mapping.device_major &&
           minor(status.st_dev) == mapping.device_minor;
}

// A descriptor that only names the file: nothing of it, a device say, notices.
Result<OwnedFd> locate(HostPid pid, const Mapping& mapping, struct stat& status) {
    OwnedFd by_map(::open(map_files_path(pid, mapping).c_str(), O_PATH | O_CLOEXEC));
    if (by_map && ::fstat(by_map.get(), &status) == 0) return by_map;
    const int reason = errno;
    if (!mapping.deleted && mapping.path.starts_with('/')) {
        // The path may have been replaced since, or lead out of the container by a symbolic link.
        OwnedFd by_path(::open((proc_path(pid, "root") + mapping.path).c_str(), O_PATH | O_CLOEXEC));
        if (by_path && ::fstat(by_path.get(), &status) == 0 && is_mapped_one(status, mapping)) return by_path;
    }
    return proc_error(pid, "mapped file " + mapping.path, reason);
}

}  // namespace

FileIdentity file_identity(const struct stat& status) {
    return {status.st_dev, status.st_ino, static_cast<uint64_t>(status.st_size),
            status.st_mtim.tv_sec * kNsPerSecond + status.st_mtim.tv_nsec,
            status.st_ctim.tv_sec * kNsPerSecond + status.st_ctim.tv_nsec};
}

Result<FileIdentity> identify_mapped_file(HostPid pid, const Mapping& mapping) {
    struct stat status {};
    if (::stat(map_files_path(pid, mapping).c_str(), &status) != 0) {
        auto fd = locate(pid, mapping, status);
        if (!fd) return fd.error();
    }
    return file_identity(status);
}

Result<OwnedFd> open_mapped_file(HostPid pid, const Mapping& mapping) {
    struct stat status {};
    auto located = locate(pid, mapping, status);
    if (!located) return located.error();
    if (!S_ISREG(status.st_mode)) {
        return Error{"process " + std::to_string(pid.value) + ": " + mapping.path + " is not a regular file"};
    }
    OwnedFd fd(::open(("/proc/self/fd/" + std::to_string(located->get())).c_str(),
                      O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fd) return proc_error(pid, "mapped file " + mapping.path, errno);
    return fd;
}

}  // namespace pyperf
