// SPDX-License-Identifier: Apache-2.0
#include "collect/session.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <iterator>

#include "collect/missing_pieces.h"
#include "collect/pinned_map.h"
#include "collect/rights.h"
#include "decode/code_object.h"
#include "layout/resolver.h"
#include "process/memory.h"
#include "process/online_cpus.h"
#include "process/program.h"

namespace pyperf {
namespace {

// While an interpreter is being loaded, how often to look whether it is ready.
constexpr int retry_interval_ms = 5;

// Different ticks that did not fit into the kernel's counts, up to this many (some 60 MiB).
constexpr size_t max_sent_ticks = 1 << 18;

uint64_t now_ns() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

template <typename T>
std::string bytes_of(const T& value) {
    return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

}  // namespace

Result<std::unique_ptr<Session>> Session::open(const Database& database, SessionOptions options) {
    const auto kernel = read_kernel_facts();
    if (!kernel) return kernel.error();
    if (!kernel->has_ring_buffer) options.render.perf_buffer = true;
    return std::unique_ptr<Session>{new Session{database, std::move(options), *kernel}};
}

Session::Session(const Database& database, SessionOptions options, const KernelFacts& kernel)
    : database_(database), options_(std::move(options)), kernel_(kernel) {}

Session::~Session() {
    ticks_.stop();
    for (const int fd : tracepoint_fds_) close(fd);
    if (epoll_fd_ >= 0) close(epoll_fd_);
}

void Session::say(LogLevel level, const std::string& message) const {
    if (options_.log) options_.log(level, message);
}

void Session::say_messages(const std::string& messages) const {
    size_t begin = 0;
    while (begin < messages.size()) {
        const size_t end = std::min(messages.find('\n', begin), messages.size());
        if (end > begin) say(LogLevel::debug, "libbcc: " + messages.substr(begin, end - begin));
        begin = end + 1;
    }
}

Result<std::string> Session::text() {
    std::string text = render_entry(options_.render, kernel_);
    std::vector<const Layout*> layouts;
    for (const auto& walker : walkers_) layouts.push_back(walker.layout);
    if (!table_) {
        // Nothing is loaded yet: which layouts the processes of this moment want.
        ProcessTable preview{database_, -1, options_.render.pids,
                             [&layouts](const Layout& layout) -> Result<uint32_t> {
                                 if (std::find(layouts.begin(), layouts.end(), &layout) == layouts.end())
                                     layouts.push_back(&layout);
                                 return 0U;
                             },
                             [](LogLevel, const std::string&) {}};
        if (auto scanned = preview.scan(); !scanned) return scanned.error();
    }
    for (const auto* layout : layouts) {
        const auto walker = render_walker(options_.render, kernel_, *layout);
        if (!walker) return walker.error();
        text += fmt::format("\n/* ==== the module of layout {} ==== */\n\n", layout->name) + *walker;
    }
    return text;
}

Result<uint32_t> Session::walker_for(const Layout& layout) {
    const auto index = static_cast<uint32_t>(walkers_.size());
    for (uint32_t i = 0; i < index; ++i) {
        if (walkers_[i].layout != &layout) continue;
        if (!walkers_[i].refusal.empty()) return Error{walkers_[i].refusal, -ENOTSUP};
        return i;
    }
    if (index >= max_session_layouts)
        return Error{
            fmt::format("no room for layout {}: a session holds {}", layout.name, max_session_layouts),
            -ENOSPC};
    auto text = render_walker(options_.render, kernel_, layout);
    if (!text) {
        say(LogLevel::warning, text.error().message);
        walkers_.push_back({&layout, {}, std::nullopt, text.error().message});
        return text.error();
    }
    walkers_.push_back({&layout, std::move(*text), std::nullopt, {}});
    start_builds();
    return index;
}

// As many at once as there are CPUs.
void Session::start_builds() {
    static const std::vector<ProgramWanted> programs = {{"walk", ProgramKind::perf_event},
                                                        {"steps", ProgramKind::perf_event},
                                                        {"identify", ProgramKind::perf_event},
                                                        {"collect", ProgramKind::perf_event},
                                                        {"send", ProgramKind::perf_event}};
    auto running =
        std::count_if(walkers_.begin(), walkers_.end(), [](const Walker& w) { return w.build.has_value(); });
    const auto most = std::max<long>(1, sysconf(_SC_NPROCESSORS_ONLN));
    for (uint32_t i = 0; i < walkers_.size() && running < most; ++i) {
        Walker& walker = walkers_[i];
        if (walker.text.empty()) continue;
        auto build = ModuleBuild::start([&] {
            return modules_.add("the walker of layout " + walker.layout->name, walker.text, programs);
        });
        walker.text.clear();
        if (!build) {
            walker.refusal = build.error().message;
            say(LogLevel::warning, walker.refusal);
            continue;
        }
        walker.build.emplace(std::move(*build));
        ++running;
        if (auto watched = watch(walker.build->fd()); !watched)
            say(LogLevel::warning, watched.error().message);
    }
}

void Session::finish_build(uint32_t index) {
    Walker& walker = walkers_[index];
    const auto outcome = walker.build->finish();
    walker.build.reset();
    say_messages(outcome.messages);
    if (outcome.programs) {
        // The walker itself last: whoever finds it finds the others.
        const char* const arrays[] = {"walkers", "steppers", "identifiers", "collectors", "senders"};
        for (size_t i = std::min(outcome.programs->size(), std::size(arrays)); i-- > 0;) {
            if (bpf_map_update_elem(modules_.map_fd(arrays[i]), &index, &(*outcome.programs)[i], BPF_ANY) !=
                0)
                walker.refusal = fmt::format("layout {}: its programs cannot be put in place: {}",
                                             walker.layout->name, std::strerror(errno));
        }
        for (const int program : *outcome.programs) close(program);  // the arrays hold them
    } else {
        walker.refusal = outcome.programs.error().message;
    }
    if (!walker.refusal.empty()) {
        say(LogLevel::warning, walker.refusal);
        if (table_) table_->refuse_walker(index, walker.refusal);
    }
    start_builds();
}

// The walker that a program will need, begun before its interpreter is mapped.
void Session::prepare_for(const std::string& program) {
    const auto image = expected_interpreter(program);
    if (!image) return;
    const Resolution resolution = resolve_layout(database_, *image, "");
    if (resolution.layout) (void)walker_for(*resolution.layout);  // a refusal is met again once it runs
}

// Waits for every build, hearing of new processes meanwhile. -EINTR after a signal.
Result<void> Session::wait_for_builds() {
    const auto building = [this] {
        return std::any_of(walkers_.begin(), walkers_.end(),
                           [](const Walker& w) { return w.build.has_value(); });
    };
    while (building())
        if (auto polled = poll(-1); !polled) return polled;
    return {};
}

Result<void> Session::watch(int fd) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    if (epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event) != 0)
        return Error{fmt::format("epoll: {}", std::strerror(errno)), -errno};
    return {};
}

Result<void> Session::start() {
    if (auto permitted = check_right_to_load(); !permitted) return permitted;
    // Keys and values as in dialect/bcc.h.
    const auto& filters = options_.render;
    if (!filters.cgroup_map.empty())
        if (auto pinned = check_pinned_map(filters.cgroup_map, 8, 8); !pinned) return pinned;
    if (!filters.mntns_map.empty())
        if (auto pinned = check_pinned_map(filters.mntns_map, 8, 4); !pinned) return pinned;
    epoll_fd_ = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_fd_ < 0) return Error{fmt::format("epoll: {}", std::strerror(errno)), -errno};
    const auto outcome = modules_.add("the entry program", render_entry(options_.render, kernel_),
                                      {{"on_tick", ProgramKind::perf_event},
                                       {"on_fork", ProgramKind::raw_tracepoint},
                                       {"on_exec", ProgramKind::raw_tracepoint},
                                       {"on_exit", ProgramKind::raw_tracepoint}});
    say_messages(outcome.messages);
    if (!outcome.programs) return outcome.programs.error();
    const auto& entry = *outcome.programs;
    modules_.release_compiler_memory();
    const size_t perf_bytes = options_.render.perf_buffer ? options_.render.ring_bytes : 0;
    if (auto opened = ring_.open(modules_.map_fd("records"), perf_bytes,
                                 [this](std::span<const std::byte> record) { on_record(record); });
        !opened)
        return opened;
    if (auto watched = watch(ring_.fd()); !watched) return watched;

    if (!options_.render.kernel_only) {
        // First hear of what happens, then look at what there is: no process is missed in between.
        if (auto opened = kernel_records_.open(); !opened) return opened;
        for (const int fd : kernel_records_.fds())
            if (auto watched = watch(fd); !watched) return watched;
        const char* const tracepoints[] = {"sched_process_fork", "sched_process_exec", "sched_process_exit"};
        for (size_t i = 0; i < 3; ++i) {
            const int fd = bpf_raw_tracepoint_open(tracepoints[i], entry[i + 1]);
            if (fd < 0)
                return Error{fmt::format("tracepoint {}: {}", tracepoints[i], std::strerror(errno)), -errno};
            tracepoint_fds_.push_back(fd);
        }
        table_ = std::make_unique<ProcessTable>(
            database_, modules_.map_fd("processes"), options_.render.pids,
            [this](const Layout& layout) { return walker_for(layout); },
            [this](LogLevel level, const std::string& message) { say(level, message); });
        if (auto scanned = table_->scan(); !scanned) return scanned;
        if (!options_.program.empty()) prepare_for(options_.program);
        if (auto built = wait_for_builds(); !built) return built;
    }
    auto ticks = Ticks::start(options_.ticks, entry[0]);
    if (!ticks) return ticks.error();
    ticks_ = std::move(*ticks);
    started_ns_ = now_ns();
    return {};
}

void Session::drain_kernel_records() {
    struct Handler final : KernelRecordHandler {
        explicit Handler(Session& session) : self(session), table(*session.table_) {}
        void on_exec(const ExecRecord& record) override { table.on_exec(record.pid); }
        void on_fork(const ForkRecord& record) override {
            if (record.parent_pid != record.pid) table.on_fork(record.parent_pid, record.pid);
        }
        void on_exit(const ExitRecord& record) override { table.on_exit(record.pid); }
        void on_mapping(const MappingRecord& record) override { table.on_mapping(record); }
        void on_lost(const LostRecord& record) override {
            self.say(LogLevel::info,
                     fmt::format("{} records of the kernel were lost: looking at all processes again",
                                 record.lost));
            rescan = true;
        }
        Session& self;
        ProcessTable& table;
        bool rescan = false;
    } handler{*this};
    kernel_records_.drain(handler);
    if (handler.rescan) {
        if (auto scanned = table_->scan(); !scanned) say(LogLevel::warning, scanned.error().message);
    }
}

Result<void> Session::poll(int timeout_ms) {
    if (table_ && table_->waiting() && (timeout_ms < 0 || timeout_ms > retry_interval_ms))
        timeout_ms = retry_interval_ms;
    if (const auto wait = table_ ? table_->proof_wait_ms(now_ns()) : std::nullopt;
        wait && (timeout_ms < 0 || timeout_ms > *wait))
        timeout_ms = *wait;
    epoll_event events[16];
    const int ready = epoll_wait(epoll_fd_, events, 16, timeout_ms);
    if (ready < 0) return Error{std::strerror(errno), -errno};
    for (int i = 0; i < ready; ++i)
        for (uint32_t index = 0; index < walkers_.size(); ++index)
            if (walkers_[index].build && walkers_[index].build->fd() == events[i].data.fd)
                finish_build(index);
    if (table_) {
        drain_kernel_records();
        table_->retry();
        table_->prove(now_ns());
    }
    ring_.drain();
    return {};
}

void Session::on_record(std::span<const std::byte> record) {
    uint32_t type = 0;
    if (record.size() < sizeof(type)) return;
    std::memcpy(&type, record.data(), sizeof(type));
    if (type == PYPERF_RECORD_STACK) {
        auto stack = decode_stack_record(record);
        if (stack) {
            if (!stacks_.add(*stack) && stacks_.refused() == 1)
                say(LogLevel::warning,
                    fmt::format(
                        "the memory for stacks is full ({} MiB, {} stacks): ticks of further ones are "
                        "counted as lost",
                        stacks_.bytes() >> 20, stacks_.size()));
        } else {
            say(LogLevel::debug, stack.error().message);
        }
    } else if (type == PYPERF_RECORD_CODE) {
        on_code_record(record);
    } else if (type == PYPERF_RECORD_CLASS) {
        const auto class_name = decode_class_record(record);
        if (class_name) say_if_full(codes_.add(*class_name));
    } else if (type == PYPERF_RECORD_TICK && record.size() >= sizeof(pyperf_tick_record)) {
        pyperf_tick_record tick;
        std::memcpy(&tick, record.data(), sizeof(tick));
        const std::string key = bytes_of(tick.key) + bytes_of(tick.content_id);
        auto found = sent_ticks_.find(key);
        if (found == sent_ticks_.end()) {
            if (sent_ticks_.size() >= max_sent_ticks) {
                ++unplaced_ticks_[tick.key.tick_class % PYPERF_TICK_CLASSES];
                return;
            }
            found = sent_ticks_.emplace(key, CountedTick{tick.key, tick.content_id, 0}).first;
        }
        ++found->second.count;
    }
}

void Session::on_code_record(std::span<const std::byte> record) {
    const auto index = layout_of_code_record(record);
    if (!index || *index >= walkers_.size()) return;
    const Layout& layout = *walkers_[*index].layout;
    auto code = decode_code_record(record, layout);
    if (!code) {
        say(LogLevel::debug, code.error().message);
        return;
    }
    // What did not fit into the record, or was not in memory just then, is fetched while the process lives.
    const ProcessMemory memory{HostPid{static_cast<int32_t>(code->pid)}};
    if (auto fetched = fetch_missing_pieces(*code, memory, layout); !fetched)
        say(LogLevel::debug, fetched.error().message);
    say_if_full(codes_.add(*code));
}

void Session::say_if_full(bool was_added) const {
    if (was_added || codes_.refused() != 1) return;
    say(LogLevel::warning,
        fmt::format(
            "the memory for code objects is full ({} MiB, {} code objects): ticks in further ones are "
            "counted as lost",
            codes_.bytes() >> 20, codes_.codes()));
}

Result<void> Session::stop() {
    if (stopped_) return {};
    stopped_ = true;
    ticks_.stop();
    totals_.duration_ns = now_ns() - started_ns_;
    if (options_.ticks.period_ns == 0) {
        const auto cpus = options_.ticks.cpu >= 0 ? 1 : online_cpus() ? online_cpus()->size() : 0;
        totals_.expected_ticks =
            static_cast<uint64_t>(static_cast<double>(totals_.duration_ns) / 1e9 *
                                  static_cast<double>(options_.ticks.hz) * static_cast<double>(cpus));
    }
    if (table_) {
        drain_kernel_records();
        table_->withdraw_refuted();
    }
    ring_.drain();
    read_counts();
    settle_classes();
    return {};
}

std::vector<uint64_t> Session::kernel_stack(int32_t id) const {
    if (id < 0) return {};
    uint64_t addresses[127] = {};  // PERF_MAX_STACK_DEPTH of libbcc's struct bpf_stacktrace
    const auto key = static_cast<uint32_t>(id);
    if (bpf_map_lookup_elem(modules_.map_fd("kernel_stacks"), &key, addresses) != 0) return {};
    std::vector<uint64_t> out;
    for (const uint64_t address : addresses) {
        if (address == 0) break;
        out.push_back(address);
    }
    return out;
}

}  // namespace pyperf
