// SPDX-License-Identifier: Apache-2.0
#include "run.h"

#include <fmt/format.h>
#include <pyperf/pyperf.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iostream>
#include <memory>

#include "child.h"
#include "decode/escape.h"
#include "exit_codes.h"
#include "messages.h"
#include "output_file.h"
#include "report_folded.h"
#include "report_stacks.h"
#include "report_summary.h"
#include "report_summary_json.h"
#include "signals.h"
#include "target_checks.h"

namespace pyperf::tool {
namespace {

using Clock = std::chrono::steady_clock;

// After a signal that goes to the command as well, how long its end is waited for: its last words are part of
// the run.
constexpr auto command_end_wait = std::chrono::seconds(1);

struct CloseDatabase {
    void operator()(pyperf_db* db) const { pyperf_db_close(db); }
};
using DatabaseHandle = std::unique_ptr<pyperf_db, CloseDatabase>;
struct CloseSession {
    void operator()(pyperf_session* session) const { pyperf_session_close(session); }
};
using SessionHandle = std::unique_ptr<pyperf_session, CloseSession>;

// As profile(8) puts it.
std::string header(const Options& options) {
    const std::string rate = options.period_ns
                                 ? fmt::format("every {} ns", *options.period_ns)
                                 : fmt::format("at {} Hertz", options.frequency_hz.value_or(49));
    std::string whose = "all threads";
    if (!options.pids.empty()) whose = fmt::format("PID {}", fmt::join(options.pids, ","));
    if (!options.tids.empty()) whose = fmt::format("TID {}", fmt::join(options.tids, ","));
    if (!options.command.empty()) whose = escape_for_line(options.command.front());
    const char* stacks = options.user_only ? "Python" : options.kernel_only ? "kernel" : "Python + kernel";
    std::string text = fmt::format("Sampling {} of {} by {} stack", rate, whose, stacks);
    if (options.cpu) text += fmt::format(" on CPU#{}", *options.cpu);
    if (options.duration_seconds) return text + fmt::format(" for {} secs.", *options.duration_seconds);
    // profile(8) says "Hit Ctrl-C to end.", which does not fit 80 columns here.
    return text + (options.command.empty() ? "... Ctrl-C to end." : " until it ends.");
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

StackForm stack_form(const Options& options) {
    StackForm form;
    form.folded = options.folded;
    form.delimited = options.delimited;
    form.annotate = options.annotate;
    form.raw_addresses = options.raw_addresses;
    form.kernel_only = options.kernel_only;
    form.show_gil_state = options.show_gil_state;
    form.show_thread_state = options.show_thread_state;
    form.show_pthread_id_state = options.show_pthread_id_state;
    return form;
}

DatabaseHandle open_database(const Options& options) {
    pyperf_db_opts wanted{};
    wanted.sz = sizeof(wanted);
    std::vector<const char*> directories;
    for (const auto& directory : options.offsets) directories.push_back(directory.c_str());
    wanted.more_directories = directories.data();
    wanted.more_directory_count = directories.size();
    pyperf_db* opened = nullptr;
    if (pyperf_db_open(&wanted, &opened) != 0) return nullptr;
    for (size_t i = 0; const char* warning = pyperf_db_warning(opened, i); ++i) say(warning);
    return DatabaseHandle{opened};
}

SessionHandle open_session(pyperf_db* db, const Options& options, const std::vector<uint32_t>& pids,
                           bool& verbose) {
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
    wanted.program = options.command.empty() ? nullptr : options.command.front().c_str();
    wanted.log = print_log;
    wanted.log_context = &verbose;
    pyperf_session* opened = nullptr;
    return SessionHandle{pyperf_session_open(db, &wanted, &opened) == 0 ? opened : nullptr};
}

// Text on standard output; a reader that has gone away is no failure.
int print(const char* text) {
    const bool written = std::fputs(text, stdout) >= 0 && std::fflush(stdout) == 0;
    return written || errno == EPIPE
               ? exit_done
               : complain(fmt::format("cannot write the text: {}", std::strerror(errno)));
}

// Works off records until the time is up, the command has ended or a signal came. False: pyperf_last_error().
bool collect(pyperf_session* session, const Options& options, Child* child) {
    auto end = options.duration_seconds ? Clock::now() + std::chrono::seconds(*options.duration_seconds)
                                        : Clock::time_point::max();
    bool interrupted = false;
    while (!(child && child->ended())) {
        const int signal = caught_signal();
        if (signal != 0 && !child) break;
        if (signal != 0 && !interrupted) {
            // Ctrl-C goes from the terminal to the command itself; what was sent to pyperf alone goes on to
            // it.
            if (signal != SIGINT) child->pass_on(signal);
            interrupted = true;
            end = std::min(end, Clock::now() + command_end_wait);
        }
        auto wait = std::chrono::milliseconds(100);
        if (end != Clock::time_point::max()) {
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
            if (left.count() <= 0) break;
            wait = std::min(wait, left);
        }
        const int error = pyperf_session_poll(session, static_cast<int>(wait.count()));
        if (error != 0 && error != -EINTR) return false;
    }
    return true;
}

// 0 with what is written; a failure's exit code after its line.
int write_profile(pyperf_session* session, const Options& options, OutputFile* file, bool& reader_gone) {
    StackCounts stacks{stack_form(options)};
    const auto add = [](void* context, const pyperf_sample* sample) {
        static_cast<StackCounts*>(context)->add(*sample);
        return 0;
    };
    if (pyperf_session_samples(session, add, &stacks) != 0) return complain(pyperf_last_error());
    std::FILE* out = file ? file->stream() : stdout;
    const bool written = options.folded ? write_folded(stacks, out) : write_stacks(stacks, out);
    reader_gone = !written && errno == EPIPE;
    if (!written && !reader_gone) {
        const int code = errno;
        return complain(fmt::format("cannot write the profile to {}: {}",
                                    file ? escape_for_line(options.output) : "standard output",
                                    std::strerror(code)));
    }
    if (file && !reader_gone)
        if (const auto done = file->commit(); !done) return complain(done.error().message);
    return exit_done;
}

int write_json(const RunFacts& facts, OutputFile& file) {
    const std::string text = summary_json(facts);
    std::fwrite(text.data(), 1, text.size(), file.stream());  // commit sees whether it went well
    const auto written = file.commit();
    return written ? exit_done : complain(written.error().message);
}

// The files for the results, opened before there is something to lose.
struct Outputs {
    std::optional<OutputFile> profile;  // none: standard output
    std::optional<OutputFile> json;
};

Result<Outputs> open_outputs(const Options& options) {
    Outputs outputs;
    if (options.output.empty() || options.print_text) {
        if (auto wrong = unwritable_stdout(); !wrong.empty()) return Error{wrong, -EBADF};
    }
    if (options.print_text) return outputs;
    const auto open = [](const std::string& path, std::optional<OutputFile>& file) -> Result<void> {
        if (path.empty()) return {};
        auto opened = OutputFile::open(path);
        if (!opened) return opened.error();
        file = std::move(*opened);
        return {};
    };
    if (auto opened = open(options.output, outputs.profile); !opened) return opened.error();
    if (auto opened = open(options.summary_json, outputs.json); !opened) return opened.error();
    return outputs;
}

// On a machine whose CPUs are all busy, pyperf gets too small a share to read the records of new stacks
// before their ring is full. One that the user has given a nice value of their own keeps it; so does the
// command, which is forked before.
void ask_for_cpu() {
    constexpr int nice_value = -10;
    if (getpriority(PRIO_PROCESS, 0) == 0) (void)setpriority(PRIO_PROCESS, 0, nice_value);  // EPERM: goes on
}

// Lets the command run; otherwise than 0: the exit code after the line that says why it does not.
int start_command(Child& child) {
    const auto started = child.start();
    if (started) return exit_done;
    say(started.error().message);
    const int code = started.error().code;
    return code == -ENOENT || code == -ENOTDIR ? exit_not_found : exit_not_executable;
}

}  // namespace

int run(const Options& options) {
    if (const auto missing = missing_target(options); !missing.empty()) return complain(missing);
    auto outputs = open_outputs(options);
    if (!outputs) return complain(outputs.error().message);
    OutputFile* const file = outputs->profile ? &*outputs->profile : nullptr;

    const auto db = open_database(options);
    if (!db) return complain(pyperf_last_error());

    std::optional<Child> child;
    std::vector<uint32_t> pids = options.pids;
    if (!options.command.empty() && !options.print_text) {
        auto prepared =
            Child::prepare(options.command, file ? Child::Stdout::ours : Child::Stdout::to_stderr);
        if (!prepared) return complain(prepared.error().message);
        child = std::move(*prepared);
        pids = {static_cast<uint32_t>(child->pid())};
    }
    ask_for_cpu();
    bool verbose = options.verbose;
    const auto session = open_session(db.get(), options, pids, verbose);
    if (!session) return complain(pyperf_last_error());
    if (options.print_text) {
        const char* text = pyperf_session_text(session.get());
        return text ? print(text) : complain(pyperf_last_error());
    }
    warn_about_targets(db.get(), options);
    if (pyperf_session_start(session.get()) != 0) return complain(pyperf_last_error());
    if (!options.folded) std::cerr << header(options) + "\n" << std::flush;
    if (child)
        if (const int exit_code = start_command(*child); exit_code != exit_done) return exit_code;
    if (!collect(session.get(), options, child ? &*child : nullptr)) return complain(pyperf_last_error());
    ignore_interrupts();
    if (caught_signal() == SIGINT && isatty(STDERR_FILENO))
        std::cerr << "\n" << std::flush;  // behind the "^C"
    if (pyperf_session_stop(session.get()) != 0) return complain(pyperf_last_error());

    RunFacts facts;
    facts.kernel_only = options.kernel_only;
    facts.stack_storage_size = options.stack_storage_size;
    facts.hash_storage_size = options.hash_storage_size;
    facts.cost = own_cost();  // its memory: before the report is made
    bool reader_gone = false;
    const int failed = write_profile(session.get(), options, file, reader_gone);
    if (!read_run_facts(session.get(), pids, facts)) return complain(pyperf_last_error());
    facts.cost.cpu_seconds = own_cost().cpu_seconds - (child && child->ended() ? child->cpu_seconds() : 0);
    // The summary even if the profile could not be written: it says what there was.
    if (!reader_gone) std::cerr << summary_text(facts) << std::flush;
    if (file && failed == exit_done && !reader_gone)
        std::cerr << fmt::format("Profile written to {}\n", escape_for_line(options.output)) << std::flush;
    const int json_failed = outputs->json ? write_json(facts, *outputs->json) : exit_done;
    if (failed != exit_done) return failed;
    if (json_failed != exit_done) return json_failed;
    return child && child->ended() ? child->exit_code() : exit_done;
}

}  // namespace pyperf::tool
