// SPDX-License-Identifier: Apache-2.0
#include "process/kernel_records.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "process/online_cpus.h"

namespace pyperf {
namespace {

constexpr size_t kSmallestRing = 16 * 1024;
// A second reading of the rings hands on what the first held back; then a new record may have come, and so
// on. What is held back at the end was stamped (nearly) this long after drain() began, so its wake-up is
// still to come.
constexpr uint64_t kMaxDrainNs = 1'000'000;

uint64_t monotonic_ns() {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

Result<OwnedFd> open_event(int cpu, bool build_ids) {
    perf_event_attr attributes{};
    attributes.size = sizeof(attributes);
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_DUMMY;
    attributes.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
    attributes.sample_id_all = 1;
    attributes.mmap = 1;
    attributes.mmap2 = 1;
    attributes.build_id = build_ids;
    attributes.task = 1;
    attributes.comm = 1;
    attributes.comm_exec = 1;
    attributes.exclude_kernel = 1;
    // One clock for all CPUs and for us (RecordOrder compares them).
    attributes.use_clockid = 1;
    attributes.clockid = CLOCK_MONOTONIC;
    // Wake up for every record, not once a ring is half full.
    attributes.watermark = 1;
    attributes.wakeup_watermark = 1;
    OwnedFd fd(
        static_cast<int>(::syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
    if (fd) return fd;
    const int code = errno;
    if (code == EACCES || code == EPERM)
        return Error{"the kernel's records of processes are not permitted: run as root (or with CAP_PERFMON)",
                     -code};
    return Error{fmt::format("the kernel's records of processes, CPU {}: {}", cpu, std::strerror(code)),
                 -code};
}

// Opens the events of all CPUs with rings of one size.
Result<std::vector<PerfRing>> open_rings(const std::vector<int>& cpus, size_t ring_bytes, bool build_ids) {
    std::vector<PerfRing> rings;
    for (const int cpu : cpus) {
        auto event = open_event(cpu, build_ids);
        if (!event) {
            if (event.error().code == -ENODEV) continue;  // it was switched off just now
            return event.error();
        }
        auto ring = PerfRing::map(std::move(*event), ring_bytes);
        // The kernel says EPERM when the locked memory of a user is used up, ENOMEM when its own is.
        if (!ring)
            return Error{ring.error().message, ring.error().code == -EPERM ? -ENOMEM : ring.error().code};
        rings.push_back(std::move(*ring));
    }
    return rings;
}

}  // namespace

Result<void> KernelRecords::open(const KernelRecordOptions& options) {
    close();
    const auto cpus = online_cpus();
    if (!cpus) return cpus.error();
    build_ids_ = options.build_ids;
    size_t bytes = options.ring_bytes;
    for (;;) {
        auto rings = open_rings(*cpus, bytes, build_ids_);
        if (rings) {
            rings_ = std::move(*rings);
            return {};
        }
        const int code = rings.error().code;
        if (code == -EINVAL && build_ids_) {
            build_ids_ = false;  // before Linux 5.12
        } else if (code == -ENOMEM && bytes / 2 >= kSmallestRing) {
            bytes /= 2;
        } else if (code == -ENOMEM) {
            return Error{
                fmt::format("the kernel's records of processes need {} KiB of locked memory for each of {} "
                            "CPUs, and it grants less: raise kernel.perf_event_mlock_kb (sysctl) or the "
                            "limit memlock (ulimit -l), or run with CAP_IPC_LOCK",
                            bytes / 1024 + 4, cpus->size()),
                code};
        } else {
            return rings.error();
        }
    }
}

std::vector<int> KernelRecords::fds() const {
    std::vector<int> fds;
    for (const auto& ring : rings_) fds.push_back(ring.fd());
    return fds;
}

void KernelRecords::read_rings() {
    for (auto& ring : rings_) {
        const auto outcome = ring.read([this](std::span<const std::byte> bytes) {
            auto record = parse_perf_record(bytes);
            if (!record) {
                ++lost_;
            } else if (!std::holds_alternative<std::monostate>(record->record)) {
                order_.add(std::move(*record));
            }
        });
        if (outcome != PerfRing::Outcome::complete) ++lost_;
    }
}

void KernelRecords::drain(KernelRecordHandler& handler) {
    struct Hand {
        KernelRecordHandler& handler;
        void operator()(std::monostate) {}
        void operator()(const ExecRecord& record) { handler.on_exec(record); }
        void operator()(const ForkRecord& record) { handler.on_fork(record); }
        void operator()(const ExitRecord& record) { handler.on_exit(record); }
        void operator()(const MappingRecord& record) { handler.on_mapping(record); }
        void operator()(const LostRecord& record) { handler.on_lost(record); }
    } hand{handler};
    const uint64_t began = monotonic_ns();
    for (;;) {
        const uint64_t before = monotonic_ns();
        read_rings();
        order_.release(before, monotonic_ns(),
                       [&hand](const KernelRecord& record) { std::visit(hand, record); });
        if (order_.held() == 0 || before - began > kMaxDrainNs) break;
    }
    if (lost_ != 0) handler.on_lost({0});
    lost_ = 0;
}

}  // namespace pyperf
