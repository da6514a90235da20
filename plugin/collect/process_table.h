// SPDX-License-Identifier: Apache-2.0
// The table of Python processes that the BPF programs look into, kept current from user space: who is there
// at the start, who maps an interpreter later. What ends an entry (exec, exit) and what copies one (fork)
// happens in the kernel at once (bpf/process_events.bpf.c); here follow the notes for people.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "collect/layout_proofs.h"
#include "collect/log_level.h"
#include "layout/database.h"
#include "process/discover.h"
#include "process/ids.h"
#include "process/image_cache.h"
#include "process/perf_record.h"
#include "records.h"
#include "result.h"

namespace pyperf {

// What is known of a process that is or was Python.
struct ProcessNote {
    uint64_t start_time_ticks = 0;
    uint32_t state = 0;   // enum pyperf_process_state
    uint32_t layout = 0;  // index of the walker, when ready
    std::string image;    // path of the interpreter's file, as the process names it
    std::string build_id;
    std::string version;
    std::string layout_name;
    std::string evidence;
    std::string reason;                            // why it is not walked, or ""
    std::shared_ptr<const LayoutVerdict> verdict;  // of its file, once it is or is to be walked
    bool withdrawn = false;                        // the walked layout was refuted: nothing of it holds
    bool candidate = false;                        // the database does not have its build

    // Walked by a layout that is not in the database for this build, but proven.
    bool is_proven_here() const { return candidate && state == PYPERF_PROCESS_READY; }
};

class ProcessTable {
  public:
    // The walker for a layout: its index in the program arrays, where it is or will be. An error: there will
    // be none.
    using WalkerFor = std::function<Result<uint32_t>(const Layout&)>;
    using Say = std::function<void(LogLevel, const std::string&)>;

    // processes_fd: the map `processes`; stays the caller's, as the database does. pids: the only processes
    // to look at; empty: all.
    ProcessTable(const Database& database, int processes_fd, std::vector<uint32_t> pids, WalkerFor walker_for,
                 Say say);

    // Looks at every process of /proc that is wanted. Fails only if /proc cannot be read.
    Result<void> scan();
    // Looks at one process (anew) and makes its entry what it now is.
    void examine(HostPid pid) { look_at(pid); }
    // A file was mapped executable. One that is known to hold no interpreter costs a look-up only.
    void on_mapping(const MappingRecord& record);
    void on_fork(HostPid parent, HostPid child);
    void on_exec(HostPid pid);
    void on_exit(HostPid pid);

    // A walker that was promised will not be there: its processes are unsupported, for this reason.
    void refuse_walker(uint32_t walker, const std::string& reason);

    // Goes on with the proofs of the layouts in use. wait_ms: until there is something to do, if there is.
    void prove(uint64_t now_ns);
    std::optional<int> proof_wait_ms(uint64_t now_ns) const { return proofs_.wait_ms(now_ns); }
    // At the end: what is walked by a layout that others of its file refuted, and none proved, is withdrawn.
    void withdraw_refuted();

    // Processes whose interpreter was not ready to be looked at: looks again. Call it every few milliseconds
    // while waiting() is true.
    void retry();
    bool waiting() const { return !unsettled_.empty(); }

    const ProcessNote* note(HostPid pid) const;
    // All of them, by ascending pid. Valid until the table is called again.
    std::vector<std::pair<HostPid, const ProcessNote*>> notes() const;
    // Processes that could not be looked at for want of rights.
    size_t unreadable() const { return unreadable_.size(); }
    // Python processes seen since the start (forked ones included).
    size_t seen() const { return seen_; }

  private:
    // What a look at a process said about the files it maps.
    struct Look {
        bool conclusive = false;  // false: the process was gone, or could not be read
        // Build-ids of the files with a CPython in them; "" for one without.
        std::vector<std::string> interpreters;
    };
    Look look_at(HostPid pid);
    bool is_wanted(HostPid pid) const;
    void put(const PythonProcess& process);
    const ProcessNote* withdrawn_before(HostPid pid, const ProcessNote& now) const;
    void remember(HostPid pid, ProcessNote note);
    bool is_still(const PythonProcess& process);
    void withdraw(const PythonProcess& process, const std::string& reason);
    // Makes a process that was walked unsupported.
    void refuse(int32_t pid, ProcessNote& note, const std::string& reason);

    const Database& database_;
    int processes_fd_;
    std::vector<uint32_t> pids_;
    WalkerFor walker_for_;
    Say say_;
    ImageCache images_;
    LayoutProofs proofs_;
    std::unordered_map<int32_t, ProcessNote> notes_;
    std::unordered_set<std::string> foreign_files_;
    std::unordered_map<int32_t, int> unsettled_;  // pid -> attempts
    std::unordered_set<int32_t> unproven_;        // that wait for the proof of a candidate
    std::unordered_set<int32_t> unreadable_;
    size_t seen_ = 0;
};

}  // namespace pyperf
