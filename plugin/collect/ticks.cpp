// SPDX-License-Identifier: Apache-2.0
#include "collect/ticks.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "process/online_cpus.h"

namespace pyperf {

Result<Ticks> Ticks::start(const TickOptions& options, int program_fd) {
    auto online = online_cpus();
    if (!online) return online.error();
    if (options.cpu >= 0) {
        if (std::find(online->begin(), online->end(), options.cpu) == online->end())
            return Error{fmt::format("CPU {} is not online", options.cpu), -ENODEV};
        *online = {options.cpu};
    }
    perf_event_attr attributes{};
    attributes.size = sizeof(attributes);
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_CPU_CLOCK;
    attributes.disabled = 1;
    if (options.period_ns != 0) {
        attributes.sample_period = options.period_ns;
    } else {
        attributes.freq = 1;
        attributes.sample_freq = options.hz;
    }
    Ticks ticks;
    for (const int cpu : *online) {
        const int fd =
            static_cast<int>(syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC));
        if (fd < 0) {
            const int code = errno;
            if (code == EACCES || code == EPERM)
                return Error{"system-wide perf events are not permitted: run as root (or with CAP_PERFMON)",
                             -code};
            if (code == EINVAL && options.period_ns == 0)
                return Error{
                    fmt::format("the kernel refuses {} ticks a second: kernel.perf_event_max_sample_rate "
                                "limits them",
                                options.hz),
                    -code};
            return Error{fmt::format("perf_event_open on CPU {}: {}", cpu, std::strerror(code)), -code};
        }
        ticks.fds_.push_back(fd);
        if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, program_fd) != 0)
            return Error{fmt::format("the tick's program on CPU {}: {}", cpu, std::strerror(errno)), -errno};
    }
    for (const int fd : ticks.fds_) ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    return ticks;
}

void Ticks::stop() {
    for (const int fd : fds_) ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    for (const int fd : fds_) close(fd);
    fds_.clear();
}

}  // namespace pyperf
