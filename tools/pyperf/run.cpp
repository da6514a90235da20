// SPDX-License-Identifier: Apache-2.0
#include "run.h"

#include <fmt/format.h>
#include <pyperf/pyperf.h>
#include <signal.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

#include "child.h"
#include "exit_codes.h"
#include "output_file.h"
#include "report_folded.h"
#include "report_stacks.h"
#include "report_summary.h"

namespace pyperf::tool {
namespace {

volatile sig_atomic_t interrupted = 0;

void on_signal(int) { interrupted = 1; }

void catch_signals() {
    struct sigaction action {};
    action.sa_handler = on_signal;  // without SA_RESTART: the wait for records ends
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
}

struct CloseDatabase {
    void operator()(pyperf_db* db) const { pyperf_db_close(db); }
};
struct CloseSession {
    void operator()(pyperf_session* session) const { pyperf_session_close(session); }
};

int complain(const std::string& message) {
    std::cerr << "pyperf: " << message << '\n';
    return exit_failed;
}

void print_log(void* verbose, pyperf_log_level level, const char* message) {
    if (level == PYPERF_LOG_WARNING || *static_cast<const bool*>(verbose)) std::cerr << "pyperf: " << message << '\n';
}

// As profile(8) puts it.
std::string header(const Options& options) {
    const std::string rate = options.period_ns ? fmt::format("every {} ns", *options.period_ns)
                                               : fmt::format("at {} Hertz", options.frequency_hz.value_or(49));
    std::string threads = "all threads";
    if (!options.pids.empty()) threads = fmt::format("PID {}", fmt::join(options.pids, ","));
    if (!options.tids.empty()) threads = fmt::format("TID {}", fmt::join(options.tids, ","));
    if (!options.command.empty()) threads = options.command.front();
    const char* stacks = options.user_only ? "Python" : options.kernel_only ? "kernel" : "Python + kernel";
    std::string text = fmt::format("Sampling {} of {} by {} stack", rate, threads, stacks);
    if (options.cpu) text += fmt::format(" on CPU#{}", *options.cpu);
    if (options.duration_seconds) return text + fmt::format(" for {} secs.", *options.duration_seconds);
    return text + (options.command.empty() ? "... Hit Ctrl-C to end." : " until it ends... Hit Ctrl-C to end.");
}

uint32_t session_flags(const Options& options) {
    uint32_t flags = 0;
    if (options.user_only) flags |= PYPERF_USER_ONLY;
    if (options.kernel_only) flags |= PYPERF_KERNEL_ONLY;
    if (options.include_idle) flags |= PYPERF_INCLUDE_IDLE;
    if (options.show_gil_state) flags |= PYPERF_SHOW_GIL_STATE;
    if (options.show_thread_state) flags |= PYPERF_SHOW_THREAD_STATE;
    if (options.show_pthread_id_state) flags |= PYPERF_SHOW_PTHREAD_ID;
    return flags;
}

OwnCost own_cost() {
    OwnCost cost;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    cost.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    std::ifstream status{"/proc/self/status"};
    std::string word;
    while (status >> word)
        if (word == "RssAnon:") status >> cost.rss_anon_kib;
    return cost;
}

}  // namespace

int run(const Options& options) {
    for (const uint32_t pid : options.pids)
        if (!std::filesystem::exists(fmt::format("/proc/{}", pid)))
            return complain(fmt::format("no process {}: it may have ended, ps -e lists those that run", pid));

    std::optional<OutputFile> file;
    if (!options.output.empty()) {
        std::string error;
        auto opened = OutputFile::open(options.output, error);
        if (opened) file.emplace(std::move(*opened));
        if (!file) return complain(error);
    }

    pyperf_db_opts db_options{};
    db_options.sz = sizeof(db_options);
    std::vector<const char*> directories;
    for (const auto& directory : options.offsets) directories.push_back(directory.c_str());
    db_options.more_directories = directories.data();
    db_options.more_directory_count = directories.size();
    pyperf_db* opened_db = nullptr;
    if (pyperf_db_open(&db_options, &opened_db) != 0) return complain(pyperf_last_error());
    const std::unique_ptr<pyperf_db, CloseDatabase> db{opened_db};
    for (size_t i = 0; const char* warning = pyperf_db_warning(db.get(), i); ++i) std::cerr << "pyperf: " << warning << '\n';

    catch_signals();
    std::optional<Child> child;
    std::vector<uint32_t> pids = options.pids;
    if (!options.command.empty()) {
        std::string error;
        auto prepared = Child::prepare(options.command, error);
        if (prepared) child.emplace(std::move(*prepared));
        if (!child) return complain(error);
        pids = {static_cast<uint32_t>(child->pid())};
    }

    bool verbose = options.verbose;
    pyperf_session_opts wanted{};
    wanted.sz = sizeof(wanted);
    wanted.flags = session_flags(options);
    wanted.sample_hz = options.frequency_hz.value_or(0);
    wanted.sample_period = options.period_ns.value_or(0);
    wanted.pids = pids.data();
    wanted.pid_count = pids.size();
    wanted.tids = options.tids.data();
    wanted.tid_count = options.tids.size();
    wanted.cpu_plus_one = options.cpu ? static_cast<int32_t>(*options.cpu) + 1 : 0;
    wanted.stack_storage_size = options.stack_storage_size;
    wanted.hash_storage_size = options.hash_storage_size;
    wanted.cgroup_map = options.cgroup_map.empty() ? nullptr : options.cgroup_map.c_str();
    wanted.mntns_map = options.mntns_map.empty() ? nullptr : options.mntns_map.c_str();
    wanted.log = print_log;
    wanted.log_context = &verbose;
    pyperf_session* opened_session = nullptr;
    if (pyperf_session_open(db.get(), &wanted, &opened_session) != 0) return complain(pyperf_last_error());
    const std::unique_ptr<pyperf_session, CloseSession> session{opened_session};

    if (options.print_text) {
        const char* text = pyperf_session_text(session.get());
        if (!text) return complain(pyperf_last_error());
        std::cout << text << std::flush;
        return exit_done;
    }
    if (pyperf_session_start(session.get()) != 0) return complain(pyperf_last_error());
    if (!options.folded) std::cerr << header(options) << '\n';
    if (child) {
        std::string error;
        if (!child->start(error)) return complain(error);
    }

    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::seconds(options.duration_seconds.value_or(0));
    while (!interrupted && !(child && child->ended())) {
        auto wait = std::chrono::milliseconds(100);
        if (options.duration_seconds) {
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
            if (left.count() <= 0) break;
            wait = std::min(wait, left);
        }
        const int error = pyperf_session_poll(session.get(), static_cast<int>(wait.count()));
        if (error != 0 && error != -EINTR) return complain(pyperf_last_error());
    }
    if (pyperf_session_stop(session.get()) != 0) return complain(pyperf_last_error());

    std::FILE* out = file ? file->stream() : stdout;
    const std::string report = options.folded ? report_folded(session.get(), options) : report_stacks(session.get(), options);
    const bool written = std::fwrite(report.data(), 1, report.size(), out) == report.size() && std::fflush(out) == 0;
    if (!written && errno != EPIPE)
        return complain(fmt::format("cannot write the profile: {}", std::strerror(errno)));
    if (file) {
        std::string error;
        if (!file->commit(error)) return complain(error);
    }

    pyperf_totals totals{};
    totals.sz = sizeof(totals);
    if (pyperf_session_totals(session.get(), &totals) != 0) return complain(pyperf_last_error());
    const OwnCost cost = own_cost();
    std::cerr << summary_text(totals, cost);
    if (file) std::cerr << fmt::format("Profile in {} ({} bytes)\n", options.output, report.size());
    if (!options.summary_json.empty()) {
        std::string error;
        auto json = OutputFile::open(options.summary_json, error);
        if (!json) return complain(error);
        std::fputs(summary_json(totals, cost).c_str(), json->stream());
        if (!json->commit(error)) return complain(error);
    }
    return exit_done;
}

}  // namespace pyperf::tool
