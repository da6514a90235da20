// SPDX-License-Identifier: Apache-2.0
#include "collect/session.h"

#include <fmt/format.h>
#include <pyperf/pyperf.h>

#include <algorithm>
#include <iterator>

#include "api/database.h"
#include "api/errors.h"
#include "api/kernel_symbols.h"
#include "api/options.h"

using namespace pyperf;

static_assert(static_cast<int>(PYPERF_CLASS_COUNT) == static_cast<int>(PYPERF_TICK_CLASSES),
              "the classes of the interface are those of the BPF programs");

struct pyperf_session {
    std::unique_ptr<Session> session;
    KernelSymbols kernel_symbols;
    std::string text;
    bool started = false;
};

namespace {

// Rounded up as the kernel wants the ring: a power of two of whole pages.
uint32_t ring_bytes(uint32_t wanted) {
    uint64_t bytes = 4096;
    while (bytes < wanted && bytes < (1u << 30)) bytes *= 2;
    return static_cast<uint32_t>(bytes);
}

Result<SessionOptions> translate(const pyperf_session_opts& given) {
    SessionOptions options;
    auto& render = options.render;
    const auto has = [&given](uint32_t flag) { return (given.flags & flag) != 0; };
    render.user_only = has(PYPERF_USER_ONLY);
    render.kernel_only = has(PYPERF_KERNEL_ONLY);
    render.include_idle = has(PYPERF_INCLUDE_IDLE);
    render.show_gil_state = has(PYPERF_SHOW_GIL_STATE);
    render.show_thread_state = has(PYPERF_SHOW_THREAD_STATE);
    render.show_pthread_id = has(PYPERF_SHOW_PTHREAD_ID);
    render.perf_buffer = has(PYPERF_PERF_BUFFER);
    if (render.user_only && render.kernel_only)
        return Error{"user stacks only and kernel stacks only contradict", -EINVAL};
    if (given.sample_hz != 0 && given.sample_period != 0)
        return Error{"a frequency and a period contradict", -EINVAL};
    if (given.sample_hz > 1'000'000) return Error{"more than 1,000,000 ticks a second", -EINVAL};
    if (given.sample_period != 0 && given.sample_period < 10'000)
        return Error{"a period below 10,000 ns: the ticks would take all the time there is", -EINVAL};
    if (given.sample_hz != 0) options.ticks.hz = given.sample_hz;
    options.ticks.period_ns = given.sample_period;
    options.ticks.cpu = given.cpu_plus_one - 1;
    render.pids.assign(given.pids, given.pids + given.pid_count);
    render.tids.assign(given.tids, given.tids + given.tid_count);
    if (given.stack_storage_size != 0) render.stack_storage_size = given.stack_storage_size;
    if (given.hash_storage_size != 0) render.hash_storage_size = given.hash_storage_size;
    if (given.ring_bytes != 0) render.ring_bytes = ring_bytes(given.ring_bytes);
    if (given.cgroup_map) render.cgroup_map = given.cgroup_map;
    if (given.mntns_map) render.mntns_map = given.mntns_map;
    if (given.program) options.program = given.program;
    if (given.log) {
        options.log = [log = given.log, context = given.log_context](LogLevel level,
                                                                     const std::string& message) {
            log(context, static_cast<pyperf_log_level>(level), message.c_str());
        };
    }
    return options;
}

const char* name_in(unsigned int index, std::initializer_list<const char*> names) {
    return index < names.size() ? *std::next(names.begin(), index) : nullptr;
}

// The texts of a frame are whole strings of the code table (or literals): a NUL is behind them.
pyperf_python_frame python_frame(const Frame& frame) {
    return {frame.name.data(),
            frame.file.data() ? frame.file.data() : "",
            static_cast<uint32_t>(frame.name.size()),
            static_cast<uint32_t>(frame.file.size()),
            frame.line.value_or(0),
            frame.known ? 0u : static_cast<uint32_t>(PYPERF_PYTHON_FRAME_UNKNOWN),
            frame.code_id};
}

pyperf_process_info process_info(HostPid pid, const ProcessNote& note) {
    pyperf_process_info info{};
    info.sz = sizeof(info);
    info.pid = static_cast<uint32_t>(pid.value);
    info.supported = note.state != PYPERF_PROCESS_UNSUPPORTED;
    info.image = note.image.c_str();
    info.build_id = note.build_id.c_str();
    info.version = note.version.c_str();
    info.layout = note.layout_name.c_str();
    info.evidence = note.evidence.c_str();
    info.reason = note.reason.c_str();
    info.candidate = note.candidate;
    info.proven = note.verdict && note.verdict->proven;
    return info;
}

}  // namespace

extern "C" {

int pyperf_session_open(pyperf_db* db, const pyperf_session_opts* given, pyperf_session** out) {
    return api::guarded([&] {
        auto options = translate(api::copy_options(given));
        if (!options) return api::fail(options.error());
        auto session = Session::open(db->database, std::move(*options));
        if (!session) return api::fail(session.error());
        *out = new pyperf_session{std::move(*session), {}, {}, false};
        return 0;
    });
}

const char* pyperf_session_text(pyperf_session* session) {
    const int error = api::guarded([&] {
        auto text = session->session->text();
        if (!text) return api::fail(text.error());
        session->text = std::move(*text);
        return 0;
    });
    return error ? nullptr : session->text.c_str();
}

int pyperf_session_start(pyperf_session* session) {
    return api::guarded([&] {
        const auto started = session->session->start();
        if (!started) return api::fail(started.error());
        session->started = true;
        return 0;
    });
}

int pyperf_session_poll(pyperf_session* session, int timeout_ms) {
    return api::guarded([&] {
        const auto polled = session->session->poll(timeout_ms);
        return polled ? 0 : api::fail(polled.error());
    });
}

int pyperf_session_fd(const pyperf_session* session) {
    return session->session->fd();
}

int pyperf_session_stop(pyperf_session* session) {
    return api::guarded([&] {
        if (!session->started) return api::fail({"the session was not started", -EINVAL});
        const auto stopped = session->session->stop();
        return stopped ? 0 : api::fail(stopped.error());
    });
}

void pyperf_session_close(pyperf_session* session) {
    delete session;
}

int pyperf_session_samples(pyperf_session* session, pyperf_sample_fn fn, void* context) {
    return api::guarded([&] {
        Session& from = *session->session;
        std::vector<pyperf_python_frame> frames;
        std::vector<pyperf_kernel_frame> kernel;
        for (const auto& tick : from.ticks()) {
            pyperf_sample sample{};
            sample.sz = sizeof(sample);
            sample.count = tick.count;
            sample.pid = tick.key.pid;
            sample.tid = tick.key.tid;
            const std::string comm{tick.key.comm, strnlen(tick.key.comm, sizeof(tick.key.comm))};
            sample.comm = comm.c_str();
            sample.tick_class = tick.key.tick_class;
            sample.gil_state = tick.key.gil_state;
            sample.thread_state = tick.key.thread_state;
            sample.pthread_id = tick.key.pthread_id;
            frames.clear();
            if (const auto stack = tick.content_id ? from.stack(tick.content_id) : std::nullopt) {
                for (const auto& frame : from.frames(*stack)) frames.push_back(python_frame(frame));
            }
            sample.frames = frames.data();
            sample.frame_count = frames.size();
            kernel.clear();
            for (const uint64_t address : from.kernel_stack(tick.key.kernel_stack))
                kernel.push_back({session->kernel_symbols.name(address), address});
            sample.kernel = kernel.data();
            sample.kernel_count = kernel.size();
            sample.kernel_missed =
                tick.key.kernel_stack < 0 && tick.key.kernel_stack != -EFAULT && tick.key.kernel_stack != -1;
            if (tick.key.tick_class == PYPERF_TICK_UNSUPPORTED ||
                tick.key.tick_class == PYPERF_TICK_NOT_SET_UP) {
                const ProcessNote* note = from.note(tick.key.pid);
                if (note && !note->reason.empty()) sample.reason = note->reason.c_str();
            }
            if (const int answer = fn(context, &sample)) return answer;
        }
        return 0;
    });
}

int pyperf_session_processes(pyperf_session* session, pyperf_process_fn fn, void* context) {
    return api::guarded([&] {
        for (const auto& [pid, note] : session->session->notes()) {
            const auto info = process_info(pid, *note);
            if (const int answer = fn(context, &info)) return answer;
        }
        return 0;
    });
}

int pyperf_session_totals(pyperf_session* session, pyperf_totals* out) {
    return api::guarded([&] {
        const Session& from = *session->session;
        const auto& counters = from.totals().counters;
        pyperf_totals totals{};
        totals.ticks = counters[PYPERF_COUNTER_DELIVERED];
        std::copy_n(counters, static_cast<size_t>(PYPERF_CLASS_COUNT), totals.classes);
        totals.expected_ticks = from.totals().expected_ticks;
        totals.stacks = from.stacks();
        totals.code_objects = from.code_objects();
        totals.python_processes = from.python_processes();
        totals.frames = counters[PYPERF_COUNTER_FRAMES];
        totals.runs = counters[PYPERF_COUNTER_RUNS];
        totals.run_ns = counters[PYPERF_COUNTER_RUN_NS];
        totals.stacks_resent = counters[PYPERF_COUNTER_STACKS_RESENT_FULL];
        totals.counts_full = counters[PYPERF_COUNTER_COUNTS_FULL];
        totals.records_dropped = counters[PYPERF_COUNTER_RECORDS_DROPPED];
        totals.stack_records = counters[PYPERF_COUNTER_STACKS_SENT];
        totals.code_records = counters[PYPERF_COUNTER_CODES_SENT];
        totals.kernel_stacks_missed = from.totals().kernel_stacks_missed;
        std::copy_n(counters + PYPERF_COUNTER_ROUTE_CURRENT, 5, totals.routes);
        totals.duration_ns = from.totals().duration_ns;
        totals.processes_not_examined = from.unreadable_processes();
        api::copy_out(out, totals);
        return 0;
    });
}

const char* pyperf_class_name(unsigned int tick_class) {
    return name_in(tick_class, {"complete", "truncated", "torn", "no_python_frames", "not_set_up",
                                "unsupported", "not_python", "filtered", "idle", "lost", "stale_code"});
}

const char* pyperf_gil_state_name(unsigned int state) {
    return name_in(state, {"no info", "error", "uninitialized", "not locked", "this thread",
                           "global current thread", "other thread", "null", "disabled"});
}

const char* pyperf_thread_state_name(unsigned int state) {
    return name_in(state, {"unknown", "match", "mismatch", "this thread null", "global current thread null",
                           "both null"});
}

const char* pyperf_pthread_id_name(unsigned int state) {
    return name_in(state, {"unknown", "match", "mismatch", "thread state null", "null", "error"});
}

}  // extern "C"
