// SPDX-License-Identifier: Apache-2.0
#include "collect/pinned_map.h"

#include <bpf/bpf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstring>

namespace pyperf {

Result<void> check_pinned_map(const std::string& path, uint32_t key_bytes, uint32_t value_bytes) {
    const int fd = bpf_obj_get(path.c_str());
    if (fd < 0) {
        const int code = errno;
        // The kernel's word for a path outside of any BPF file system is EPERM, also for root.
        const char* why = code == ENOENT  ? "there is no such file"
                          : code == EPERM ? "not permitted, or not a path in a BPF file system (/sys/fs/bpf)"
                                          : std::strerror(code);
        return Error{fmt::format("no BPF map is pinned at {}: {}", path, why), -code};
    }
    bpf_map_info info{};
    uint32_t bytes = sizeof(info);
    const int failed = bpf_obj_get_info_by_fd(fd, &info, &bytes);
    const int code = errno;
    close(fd);
    if (failed) return Error{fmt::format("{} is no BPF map: {}", path, std::strerror(code)), -EINVAL};
    if (info.type != BPF_MAP_TYPE_HASH || info.key_size != key_bytes || info.value_size != value_bytes)
        return Error{
            fmt::format(
                "the BPF map at {} has another form: wanted is a hash map with keys of {} and values of {} "
                "bytes",
                path, key_bytes, value_bytes),
            -EINVAL};
    return {};
}

}  // namespace pyperf
