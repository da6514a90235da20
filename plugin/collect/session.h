// SPDX-License-Identifier: Apache-2.0
// A profiling session: programs, ticks, the table of processes, and what comes of it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "collect/bpf_modules.h"
#include "collect/kernel_facts.h"
#include "collect/log_level.h"
#include "collect/module_build.h"
#include "collect/process_table.h"
#include "collect/record_ring.h"
#include "collect/ticks.h"
#include "decode/code_table.h"
#include "decode/stack_table.h"
#include "layout/database.h"
#include "process/kernel_records.h"
#include "records.h"
#include "render/render.h"
#include "result.h"

namespace pyperf {

struct SessionOptions {
    RenderOptions render;
    TickOptions ticks;
    std::string program;  // about to be started: its walker is wanted when the session starts; may be empty
    std::function<void(LogLevel, const std::string&)> log;  // may be empty
};

// One kind of tick and how often it came.
struct CountedTick {
    pyperf_count_key key{};
    uint64_t content_id = 0;
    uint64_t count = 0;
};

struct SessionTotals {
    uint64_t counters[PYPERF_COUNTERS] = {};  // the classes corrected by what is known at the end
    uint64_t expected_ticks = 0;
    uint64_t duration_ns = 0;
    uint64_t kernel_stacks_missed = 0;
};

class Session {
  public:
    // database: must outlive the session.
    static Result<std::unique_ptr<Session>> open(const Database& database, SessionOptions options);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    // The text that is or would be compiled, walkers of the processes that run now included.
    Result<std::string> text();
    Result<void> start();
    // Waits for records up to timeout_ms and works them off. -EINTR after a signal.
    Result<void> poll(int timeout_ms);
    int fd() const { return epoll_fd_; }
    // Ends the ticks and reads the counts. Once.
    Result<void> stop();

    // After stop():
    const std::vector<CountedTick>& ticks() const { return counted_; }
    const SessionTotals& totals() const { return totals_; }
    // Nothing: its record never came, or found no room.
    std::optional<Stack> stack(uint64_t content_id) const { return stacks_.find(content_id); }
    std::vector<Frame> frames(const Stack& stack) { return codes_.resolve(stack); }
    // Addresses, leaf first.
    std::vector<uint64_t> kernel_stack(int32_t id) const;
    const ProcessNote* note(uint32_t pid) const {
        return table_ ? table_->note(HostPid{static_cast<int32_t>(pid)}) : nullptr;
    }
    // Of all Python processes seen, by ascending pid.
    std::vector<std::pair<HostPid, const ProcessNote*>> notes() const {
        return table_ ? table_->notes() : std::vector<std::pair<HostPid, const ProcessNote*>>{};
    }
    size_t unreadable_processes() const { return table_ ? table_->unreadable() : 0; }
    size_t stacks() const { return stacks_.size(); }
    size_t code_objects() const { return codes_.codes(); }
    size_t python_processes() const { return table_ ? table_->seen() : 0; }

  private:
    Session(const Database& database, SessionOptions options, const KernelFacts& kernel);
    void say(LogLevel level, const std::string& message) const;
    // What libbcc and LLVM wrote: line by line, with its origin.
    void say_messages(const std::string& messages) const;
    // The index of a layout's walker. It is compiled beside what goes on; until it is in place, the entry
    // program counts its processes as not set up.
    Result<uint32_t> walker_for(const Layout& layout);
    void start_builds();
    void finish_build(uint32_t index);
    Result<void> wait_for_builds();
    void prepare_for(const std::string& program);
    Result<void> watch(int fd);
    void drain_kernel_records();
    void on_record(std::span<const std::byte> record);
    void on_code_record(std::span<const std::byte> record);
    void say_if_full(bool was_added) const;
    void read_counts();
    void count(const pyperf_count_key& key, uint64_t content_id, uint64_t ticks);
    void withdraw(CountedTick& tick);
    void settle_classes();

    const Database& database_;
    SessionOptions options_;
    KernelFacts kernel_;
    BpfModules modules_;
    struct Walker {
        const Layout* layout;
        std::string text;                  // "" once its build has begun
        std::optional<ModuleBuild> build;  // while it is being compiled
        std::string refusal;               // of libbcc or the kernel
    };
    std::vector<Walker> walkers_;  // by index
    std::unique_ptr<ProcessTable> table_;
    KernelRecords kernel_records_;
    RecordRing ring_;
    Ticks ticks_;
    std::vector<int> tracepoint_fds_;
    int epoll_fd_ = -1;
    uint64_t started_ns_ = 0;
    bool stopped_ = false;

    CodeTable codes_;
    StackTable stacks_;
    uint64_t unplaced_ticks_[PYPERF_TICK_CLASSES] = {};  // came as records, but there was no room for them
    // Ticks that came as records, by the bytes of key and content.
    std::map<std::string, CountedTick> sent_ticks_;
    std::vector<CountedTick> counted_;
    SessionTotals totals_;
};

}  // namespace pyperf
