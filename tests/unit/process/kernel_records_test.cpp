// SPDX-License-Identifier: Apache-2.0
// Against the running kernel; needs root.
#include "process/kernel_records.h"

#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <thread>

#include "catch2_header.h"
#include "elf/image.h"
#include "elf/real_interpreters.h"
#include "process/child.h"
#include "process/online_cpus.h"

using namespace pyperf;
using namespace pyperf_test;
using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC

namespace {

struct Seen final : KernelRecordHandler {
    struct Entry {
        KernelRecord record;
        Clock::time_point when;
    };
    std::vector<Entry> all;
    uint64_t lost = 0;
    size_t losses = 0;

    void on_exec(const ExecRecord& record) override { all.push_back({record, Clock::now()}); }
    void on_fork(const ForkRecord& record) override { all.push_back({record, Clock::now()}); }
    void on_exit(const ExitRecord& record) override { all.push_back({record, Clock::now()}); }
    void on_mapping(const MappingRecord& record) override { all.push_back({record, Clock::now()}); }
    void on_lost(const LostRecord& record) override {
        lost += record.lost;
        ++losses;
    }

    // The index of the first record from `from` on that fits.
    template <typename T>
    size_t find(const std::function<bool(const T&)>& fits, size_t from = 0) const {
        for (size_t i = from; i < all.size(); ++i)
            if (const T* record = std::get_if<T>(&all[i].record); record && fits(*record)) return i;
        return SIZE_MAX;
    }
};

// Reads until `enough`, at most a minute (a busy machine is slow).
bool collect(KernelRecords& records, Seen& seen, const std::function<bool()>& enough) {
    const auto end = Clock::now() + std::chrono::seconds(60);
    while (!enough() && Clock::now() < end) {
        std::vector<pollfd> fds;
        for (const int fd : records.fds()) fds.push_back({fd, POLLIN, 0});
        ::poll(fds.data(), fds.size(), 100);
        records.drain(seen);
    }
    return enough();
}

bool may_trace() {
    KernelRecords records;
    const auto opened = records.open();
    if (opened) return true;
    if (std::getenv("PYPERF_REQUIRE_ALL")) FAIL("cannot be tested: " << opened.error().message);
    WARN("not tested: " << opened.error().message);
    return false;
}

std::string build_id_of(const std::string& file) {
    auto image = ElfImage::open(file);
    REQUIRE(image);
    return image->build_id();
}

}  // namespace

TEST_CASE("a real interpreter's fork, exec, mappings and exit arrive, in order and at once", "[root]") {
    if (!may_trace()) return;
    auto interpreters = pyenv_interpreters();
    for (auto& one : system_interpreters()) interpreters.push_back(one);
    REQUIRE_FALSE(interpreters.empty());
    for (const bool build_ids : {true, false}) {
        for (const auto& real : interpreters) {
            INFO(real.python << (build_ids ? " with" : " without") << " build-ids");
            KernelRecords records;
            REQUIRE(records.open({.build_ids = build_ids}));
            CHECK(records.has_build_ids() == build_ids);
            const std::string expected_id = build_id_of(real.file);
            const auto started = Clock::now();
            Child child({real.python, "-c", "import sys; sys.stdout.write('ready\\n')"});
            const HostPid pid = child.pid();
            Seen seen;
            const auto ended = [&] {
                return seen.find<ExitRecord>([&](const auto& r) { return r.pid == pid && r.tid == pid; }) !=
                       SIZE_MAX;
            };
            REQUIRE(collect(records, seen, ended));
            const auto finished = Clock::now();
            CHECK(seen.losses == 0);

            const auto self = HostPid{::getpid()};
            const size_t fork = seen.find<ForkRecord>(
                [&](const auto& r) { return r.pid == pid && r.parent_pid == self && r.tid == pid; });
            const size_t exec = seen.find<ExecRecord>([&](const auto& r) { return r.pid == pid; });
            const size_t program = seen.find<MappingRecord>([&](const auto& r) { return r.pid == pid; });
            const size_t interpreter = seen.find<MappingRecord>([&](const auto& r) {
                return r.pid == pid && std::filesystem::exists(r.path) &&
                       std::filesystem::equivalent(r.path, real.file);
            });
            const size_t exit = seen.find<ExitRecord>([&](const auto& r) { return r.pid == pid; });
            REQUIRE(fork != SIZE_MAX);
            REQUIRE(exec != SIZE_MAX);
            REQUIRE(interpreter != SIZE_MAX);
            CHECK(fork < exec);
            CHECK(exec < program);
            CHECK(program <= interpreter);
            CHECK(interpreter < exit);
            CHECK(seen.all[exec].when >= started);
            CHECK(seen.all[exit].when <= finished);
            const auto& mapping = std::get<MappingRecord>(seen.all[interpreter].record);
            CHECK(mapping.address);
            CHECK(mapping.bytes > 100'000);
            if (build_ids && !expected_id.empty()) {
                CHECK(mapping.build_id == expected_id);
            } else {
                CHECK(mapping.inode != 0);
                CHECK(mapping.file_key().starts_with("inode:"));
            }
        }
    }
}

TEST_CASE("what a process does on several CPUs arrives in the order in which it did it", "[root]") {
    if (!may_trace()) return;
    const auto cpus = online_cpus();
    REQUIRE(cpus);
    if (cpus->size() < 2) {
        WARN("not tested: one CPU only");
        return;
    }
    KernelRecords records;
    REQUIRE(records.open());
    // A chain of processes, each the child of the one before and on the next CPU.
    constexpr int length = 60;
    const pid_t first = ::fork();
    if (first == 0) {
        for (int i = 0; i < length; ++i) {
            cpu_set_t set;
            CPU_ZERO(&set);
            CPU_SET((*cpus)[static_cast<size_t>(i) % cpus->size()], &set);
            ::sched_setaffinity(0, sizeof(set), &set);
            const pid_t next = ::fork();
            if (next != 0) {
                ::waitpid(next, nullptr, 0);
                ::_exit(0);
            }
        }
        ::_exit(0);
    }
    Seen seen;
    REQUIRE(collect(records, seen, [&] {
        return seen.find<ExitRecord>([&](const auto& r) { return r.pid == HostPid{first}; }) != SIZE_MAX;
    }));
    ::waitpid(first, nullptr, 0);
    HostPid parent{first};
    size_t at = seen.find<ForkRecord>([&](const auto& r) { return r.pid == parent; });
    REQUIRE(at != SIZE_MAX);
    int links = 0;
    // Each child is forked after its parent was, and before its parent exits: found by looking forward only.
    for (;;) {
        const size_t next = seen.find<ForkRecord>([&](const auto& r) { return r.parent_pid == parent; }, at);
        if (next == SIZE_MAX) break;
        const size_t exit = seen.find<ExitRecord>([&](const auto& r) { return r.pid == parent; });
        CHECK(exit > next);
        parent = std::get<ForkRecord>(seen.all[next].record).pid;
        at = next;
        ++links;
    }
    CHECK(links == length);
}

TEST_CASE("a mapping is heard of within 10 ms", "[root]") {
    if (!may_trace()) return;
    KernelRecords records;
    REQUIRE(records.open());
    const auto interpreters = system_interpreters();
    REQUIRE_FALSE(interpreters.empty());
    const int fd = ::open(interpreters.front().file.c_str(), O_RDONLY | O_CLOEXEC);
    REQUIRE(fd >= 0);
    std::vector<double> delays_us;
    for (int i = 0; i < 200; ++i) {
        Seen seen;
        Clock::time_point mapped;
        std::thread mapper([&] {
            mapped = Clock::now();
            void* at = ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            ::munmap(at, 4096);
        });
        size_t found = SIZE_MAX;
        const bool heard = collect(records, seen, [&] {
            found = seen.find<MappingRecord>([&](const auto& r) { return r.pid == HostPid{::getpid()}; });
            return found != SIZE_MAX;
        });
        mapper.join();
        REQUIRE(heard);
        delays_us.push_back(std::chrono::duration<double, std::micro>(seen.all[found].when - mapped).count());
    }
    ::close(fd);
    std::ranges::sort(delays_us);
    std::printf("from the call of mmap to the handler: median %.0f us, 95%% %.0f us, most %.0f us\n",
                delays_us[100], delays_us[190], delays_us.back());
    // On a busy machine one may wait for the CPU; most do not.
    CHECK(delays_us[100] < 10'000);
}

TEST_CASE("records that found no room are reported", "[root]") {
    if (!may_trace()) return;
    // On one CPU: the loss of a ring is told with the next record that goes into that ring.
    cpu_set_t before;
    REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(::sched_getcpu(), &one);
    REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);

    KernelRecords records;
    REQUIRE(records.open({.ring_bytes = 16384}));
    CHECK(records.ring_bytes() == 16384);
    std::set<HostPid> children;
    const auto fork_one = [&] {
        const pid_t pid = ::fork();
        if (pid == 0) ::_exit(0);
        children.insert(HostPid{pid});
        ::waitpid(pid, nullptr, 0);
    };
    for (int i = 0; i < 800; ++i) fork_one();
    Seen seen;
    records.drain(seen);
    fork_one();  // there is room again: the kernel says how many it dropped
    records.drain(seen);
    CHECK(seen.losses >= 1);
    // A fork and an exit of each child: read or counted as lost (with those of others, if there were any).
    size_t read = 0;
    for (const auto& entry : seen.all) {
        if (const auto* fork = std::get_if<ForkRecord>(&entry.record)) read += children.count(fork->pid);
        if (const auto* exit = std::get_if<ExitRecord>(&entry.record)) read += children.count(exit->pid);
    }
    CHECK(read < 2 * children.size());
    CHECK(read + seen.lost >= 2 * children.size());

    const size_t losses = seen.losses;
    records.drain(seen);
    CHECK(seen.losses == losses);
    CHECK(::sched_setaffinity(0, sizeof before, &before) == 0);
}

TEST_CASE("little locked memory: smaller rings, and a message where there is none", "[root]") {
    if (!may_trace()) return;
    // In a child, which gives up everything but CAP_PERFMON: its rings count against the user's locked
    // memory.
    int out[2];
    REQUIRE(::pipe2(out, O_CLOEXEC) == 0);
    const pid_t pid = ::fork();
    if (pid == 0) {
        const rlimit none{0, 0};
        ::setrlimit(RLIMIT_MEMLOCK, &none);
        ::prctl(PR_SET_KEEPCAPS, 1);
        std::string text = "no rights to begin with";
        __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
        __user_cap_data_struct caps[2] = {};
        caps[CAP_PERFMON / 32].effective = caps[CAP_PERFMON / 32].permitted = 1U << (CAP_PERFMON % 32);
        if (::setresuid(65534, 65534, 65534) == 0 && ::syscall(SYS_capset, &header, caps) == 0) {
            text.clear();
            std::vector<KernelRecords> all(1000);
            for (auto& records : all) {
                const auto opened = records.open();
                text += opened ? std::to_string(records.ring_bytes()) + "\n" : opened.error().message;
                if (!opened) break;
            }
        }
        (void)!::write(out[1], text.data(), text.size());
        ::_exit(0);
    }
    ::close(out[1]);
    std::string text;
    char piece[512];
    for (ssize_t bytes; (bytes = ::read(out[0], piece, sizeof(piece))) > 0;)
        text.append(piece, static_cast<size_t>(bytes));
    ::close(out[0]);
    ::waitpid(pid, nullptr, 0);
    INFO(text);
    std::ifstream paranoid("/proc/sys/kernel/perf_event_paranoid");
    int level = 0;
    paranoid >> level;
    if (level <= -1) {
        WARN("not tested: kernel.perf_event_paranoid is " << level
                                                          << ", locked memory of rings is not limited");
        return;
    }
    CHECK(text.starts_with("262144\n"));
    CHECK(text.find("\n16384\n") != std::string::npos);
    CHECK(text.find("perf_event_mlock_kb") != std::string::npos);
}
