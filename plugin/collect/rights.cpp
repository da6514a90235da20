// SPDX-License-Identifier: Apache-2.0
#include "collect/rights.h"

#include <bpf/bpf.h>
#include <fmt/format.h>
#include <linux/bpf.h>
#include <unistd.h>

#include <cstring>
#include <iterator>

namespace pyperf {

Result<void> check_right_to_load() {
    // r0 = 0; exit
    bpf_insn program[2] = {};
    program[0].code = BPF_ALU64 | BPF_MOV | BPF_K;
    program[1].code = BPF_JMP | BPF_EXIT;
    const int fd =
        bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "pyperf_rights", "GPL", program, std::size(program), nullptr);
    if (fd >= 0) {
        close(fd);
        return {};
    }
    const int code = errno;
    if (code == EPERM || code == EACCES)
        return Error{
            "loading BPF programs is not permitted: run as root (or with CAP_BPF, CAP_PERFMON and "
            "CAP_SYS_PTRACE; "
            "before Linux 5.8 with CAP_SYS_ADMIN)",
            -EPERM};
    if (code == ENOSYS) return Error{"this kernel has no BPF: CONFIG_BPF_SYSCALL is not set", -ENOSYS};
    return Error{
        fmt::format("the kernel does not load BPF programs for perf events: {}", std::strerror(code)), -code};
}

}  // namespace pyperf
