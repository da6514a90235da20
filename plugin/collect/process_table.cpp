// SPDX-License-Identifier: Apache-2.0
#include "collect/process_table.h"

#include <bpf/bpf.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "collect/process_entry.h"
#include "layout/resolver.h"
#include "process/identity.h"
#include "process/maps.h"

namespace pyperf {
namespace {

// An interpreter is set up some 30 ms after its file is mapped; one that is not after this many looks is left
// alone until it maps something again.
constexpr int max_attempts = 400;
// Notes of processes that ended are kept for the report, up to this many.
constexpr size_t max_notes = 200'000;
// Files without an interpreter that are remembered by their build-id.
constexpr size_t max_foreign_files = 100'000;

// Whether the process still has the mapping that the record tells of.
bool is_mapped(const MappingRecord& record) {
    const auto mappings = read_maps(record.pid);
    return mappings && std::any_of(mappings->begin(), mappings->end(), [&record](const Mapping& mapping) {
               return mapping.start <= record.address.value && record.address.value < mapping.end &&
                      mapping.path == record.path;
           });
}

// What a file without an interpreter is remembered by. Anybody can give a file the build-id of a Python that
// is not running yet, and so hide it, if the build-id alone were enough: the name must be the same, too, and
// what is called like an interpreter is looked at every time.
std::string foreign_key(const MappingRecord& record) {
    const auto name = record.path.substr(record.path.rfind('/') + 1);
    if (name.starts_with("python") || name.starts_with("libpython")) return {};
    return record.file_key() + ' ' + name;
}

}  // namespace

ProcessTable::ProcessTable(const Database& database, int processes_fd, std::vector<uint32_t> pids,
                           WalkerFor walker_for, Say say)
    : database_(database),
      processes_fd_(processes_fd),
      pids_(std::move(pids)),
      walker_for_(std::move(walker_for)),
      say_(std::move(say)),
      proofs_([this](const PythonProcess& process) { return is_still(process); },
              [this](const PythonProcess& process, const std::string& reason) { withdraw(process, reason); },
              [this](const std::string& message) { say_(LogLevel::info, message); }) {}

bool ProcessTable::is_wanted(HostPid pid) const {
    return pids_.empty() ||
           std::find(pids_.begin(), pids_.end(), static_cast<uint32_t>(pid.value)) != pids_.end();
}

Result<void> ProcessTable::scan() {
    const auto processes = list_processes();
    if (!processes) return processes.error();
    for (const auto pid : *processes)
        if (is_wanted(pid)) examine(pid);
    return {};
}

void ProcessTable::remember(HostPid pid, ProcessNote note) {
    const auto old = notes_.find(pid.value);
    if (old == notes_.end() || old->second.start_time_ticks != note.start_time_ticks) ++seen_;
    if (old == notes_.end() && notes_.size() >= max_notes) return;
    notes_[pid.value] = std::move(note);
}

const ProcessNote* ProcessTable::note(HostPid pid) const {
    const auto found = notes_.find(pid.value);
    return found == notes_.end() ? nullptr : &found->second;
}

std::vector<std::pair<HostPid, const ProcessNote*>> ProcessTable::notes() const {
    std::vector<std::pair<HostPid, const ProcessNote*>> all;
    all.reserve(notes_.size());
    for (const auto& [pid, note] : notes_) all.emplace_back(HostPid{pid}, &note);
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a.first.value < b.first.value; });
    return all;
}

// What the process refuted before it was looked at again.
const ProcessNote* ProcessTable::withdrawn_before(HostPid pid, const ProcessNote& now) const {
    const auto* before = note(pid);
    return before && before->withdrawn && before->start_time_ticks == now.start_time_ticks ? before : nullptr;
}

void ProcessTable::put(const PythonProcess& process) {
    const auto& interpreter = process.interpreter;
    ProcessNote note;
    note.start_time_ticks = process.start_time_ticks;
    note.image = interpreter.path;
    note.build_id = interpreter.image->build_id;
    note.version = interpreter.image->version.to_string() +
                   (interpreter.image->free_threaded.value_or(false) ? "t" : "");

    unproven_.erase(process.pid.value);
    pyperf_process entry = process.record();
    const auto c_library =
        process.libc.kind == LibcKind::unknown ? std::string_view{} : to_string(process.libc.kind);
    const Resolution resolution = resolve_layout(database_, *interpreter.image, c_library);
    note.reason = resolution.refusal;
    if (resolution.layout) {
        const Layout& layout = *resolution.layout;
        note.layout_name = layout.name;
        note.evidence = resolution.evidence;
        entry = make_process_entry(process, layout);
        const auto* before = withdrawn_before(process.pid, note);
        // Its ticks from before are nobody's, also when it runs another program now: they have one count.
        note.withdrawn = before != nullptr;
        if (before && before->image == note.image && before->build_id == note.build_id &&
            before->layout_name == note.layout_name) {
            note = *before;
        } else if (const auto walker = walker_for_(layout)) {
            entry.layout = note.layout = *walker;
            note.candidate = resolution.candidate;
            if (interpreter.resolved) note.verdict = proofs_.add(process, layout);
            const bool usable = interpreter.resolved && (!note.candidate || note.verdict->proven);
            entry.state = usable ? PYPERF_PROCESS_READY : PYPERF_PROCESS_NOT_SET_UP;
            if (note.candidate && usable) note.evidence += ", proven here, not in the database";
            if (interpreter.resolved && !usable) unproven_.insert(process.pid.value);
        } else {
            note.reason = walker.error().message;
        }
    }
    if (!note.reason.empty()) entry.state = PYPERF_PROCESS_UNSUPPORTED;
    note.state = entry.state;
    if (note.candidate && note.state == PYPERF_PROCESS_NOT_SET_UP)
        note.reason = fmt::format(
            "no layout for CPython {} in {} in the database, and no process has proven {} (yet): "
            "add one with pyoffsets generate",
            note.version, note.image, note.layout_name);

    const auto pid = static_cast<uint32_t>(process.pid.value);
    pyperf_process old{};
    if (bpf_map_lookup_elem(processes_fd_, &pid, &old) == 0 && old.start_time_ticks == entry.start_time_ticks)
        entry.exact = old.exact;
    if (bpf_map_update_elem(processes_fd_, &pid, &entry, BPF_ANY) != 0)
        say_(LogLevel::warning,
             fmt::format("the table of Python processes is full ({}): process {} is not profiled", errno,
                         pid));
    // The C library, which says where a thread's keys are, may be mapped after the interpreter, and its file
    // has been met before.
    const bool libc_settled =
        process.libc.kind != LibcKind::unknown || interpreter.initialised == Initialised::yes;
    if (interpreter.resolved && libc_settled) {
        unsettled_.erase(process.pid.value);
    } else {
        unsettled_.try_emplace(process.pid.value, 0);
    }
    const auto* known = this->note(process.pid);
    if (!known || known->start_time_ticks != note.start_time_ticks || known->state != note.state ||
        known->build_id != note.build_id) {
        say_(LogLevel::info, note.reason.empty()
                                 ? fmt::format("process {}: CPython {} in {}, layout {} by {}", pid,
                                               note.version, note.image, note.layout_name, note.evidence)
                                 : fmt::format("process {}: {}", pid, note.reason));
    }
    remember(process.pid, std::move(note));
}

ProcessTable::Look ProcessTable::look_at(HostPid pid) {
    const auto process = examine_process(pid, images_);
    if (!process) {
        unsettled_.erase(pid.value);
        if (process.error().code == -ESRCH) {
            on_exit(pid);
            return {};
        }
        const auto start = read_start_time(pid);
        if (!start || process.error().code == -EPERM || process.error().code == -EACCES) {
            if (start) unreadable_.insert(pid.value);
            say_(LogLevel::info, process.error().message);
            return {};
        }
        // There is a CPython in it, but which is not to be told.
        pyperf_process entry{};
        entry.start_time_ticks = *start;
        entry.state = PYPERF_PROCESS_UNSUPPORTED;
        const auto key = static_cast<uint32_t>(pid.value);
        bpf_map_update_elem(processes_fd_, &key, &entry, BPF_ANY);
        ProcessNote note;
        note.start_time_ticks = *start;
        note.state = entry.state;
        note.reason = process.error().message;
        say_(LogLevel::info, fmt::format("process {}: {}", pid.value, note.reason));
        remember(pid, std::move(note));
        return {};
    }
    if (!*process) {
        unsettled_.erase(pid.value);
        const auto key = static_cast<uint32_t>(pid.value);
        bpf_map_delete_elem(processes_fd_, &key);  // its memory is another program's now
        return {true, {}};
    }
    put(**process);
    Look look{true, {(*process)->interpreter.image->build_id}};
    for (const auto& other : (*process)->others) look.interpreters.push_back(other.image->build_id);
    return look;
}

void ProcessTable::on_mapping(const MappingRecord& record) {
    const std::string file = foreign_key(record);
    if (!is_wanted(record.pid) || (!file.empty() && foreign_files_.contains(file))) return;
    const bool was_mapped = is_mapped(record);
    const Look look = look_at(record.pid);
    if (file.empty() || !look.conclusive || foreign_files_.size() >= max_foreign_files) return;
    // The record may be of a program that the process no longer runs, or the process may be a zombie: then
    // the look says nothing about this file.
    if (!was_mapped || !is_mapped(record)) return;
    // Without a build-id in the record or in an interpreter's file the two cannot be compared.
    const bool holds_one = std::any_of(
        look.interpreters.begin(), look.interpreters.end(),
        [&record](const auto& id) { return id.empty() || record.build_id.empty() || id == record.build_id; });
    if (!holds_one) foreign_files_.insert(file);
}

void ProcessTable::on_fork(HostPid parent, HostPid child) {
    if (parent == child || !is_wanted(child)) return;
    const auto* of_parent = note(parent);
    if (!of_parent) return;
    const auto start = read_start_time(child);
    ProcessNote copy = *of_parent;
    copy.start_time_ticks = start ? *start : 0;
    copy.withdrawn = false;  // it is not walked as long as it is its parent's copy, and then tried itself
    const bool candidate = copy.candidate;
    remember(child, std::move(copy));
    // A copy of an entry from before the proof: the child may be what proves the layout.
    const auto key = static_cast<uint32_t>(child.value);
    pyperf_process entry{};
    if (candidate && bpf_map_lookup_elem(processes_fd_, &key, &entry) == 0 &&
        entry.state == PYPERF_PROCESS_NOT_SET_UP)
        examine(child);
}

void ProcessTable::on_exec(HostPid pid) {
    if (is_wanted(pid)) examine(pid);
}

void ProcessTable::on_exit(HostPid pid) {
    unsettled_.erase(pid.value);
    const auto start = read_start_time(pid);
    const auto* known = note(pid);
    if (start && known && known->start_time_ticks == *start)
        return;  // one of its threads ended, or it is a zombie
    if (start && !known) return;
    unproven_.erase(pid.value);
    const auto key = static_cast<uint32_t>(pid.value);
    pyperf_process entry{};
    if (bpf_map_lookup_elem(processes_fd_, &key, &entry) == 0 && (!start || entry.start_time_ticks != *start))
        bpf_map_delete_elem(processes_fd_, &key);
}

void ProcessTable::refuse(int32_t pid, ProcessNote& note, const std::string& reason) {
    note.state = PYPERF_PROCESS_UNSUPPORTED;
    note.reason = reason;
    const auto key = static_cast<uint32_t>(pid);
    pyperf_process entry{};
    if (bpf_map_lookup_elem(processes_fd_, &key, &entry) != 0 ||
        entry.start_time_ticks != note.start_time_ticks)
        return;
    entry.state = PYPERF_PROCESS_UNSUPPORTED;
    bpf_map_update_elem(processes_fd_, &key, &entry, BPF_EXIST);
}

void ProcessTable::refuse_walker(uint32_t walker, const std::string& reason) {
    for (auto& [pid, note] : notes_)
        if (note.state == PYPERF_PROCESS_READY && note.layout == walker) refuse(pid, note, reason);
}

bool ProcessTable::is_still(const PythonProcess& process) {
    const auto now = examine_process(process.pid, images_);
    return now && *now && (**now).start_time_ticks == process.start_time_ticks &&
           (**now).interpreter.image == process.interpreter.image &&
           (**now).interpreter.load_bias == process.interpreter.load_bias;
}

void ProcessTable::withdraw(const PythonProcess& process, const std::string& reason) {
    const auto found = notes_.find(process.pid.value);
    if (found == notes_.end() || found->second.start_time_ticks != process.start_time_ticks) return;
    ProcessNote& note = found->second;
    if (note.state != PYPERF_PROCESS_READY && !unproven_.contains(process.pid.value)) return;
    unproven_.erase(process.pid.value);
    note.withdrawn = true;
    refuse(process.pid.value, note,
           fmt::format("CPython {} in {} is {}not what layout {} describes: {}{}", note.version, note.image,
                       note.candidate ? "not in the database, and " : "", note.layout_name, reason,
                       note.candidate ? "; add a layout with pyoffsets generate" : ""));
    say_(LogLevel::warning,
         fmt::format("process {}: {}: its stacks are not shown", process.pid.value, note.reason));
}

void ProcessTable::prove(uint64_t now_ns) {
    proofs_.look(now_ns);
    std::vector<HostPid> proven;
    for (const int32_t pid : unproven_) {
        const auto* waits = note(HostPid{pid});
        if (!waits || !waits->verdict || waits->verdict->proven) proven.push_back(HostPid{pid});
    }
    for (const HostPid pid : proven) {
        unproven_.erase(pid.value);
        examine(pid);
    }
}

void ProcessTable::withdraw_refuted() {
    for (auto& [pid, note] : notes_) {
        if (note.state != PYPERF_PROCESS_READY && !unproven_.contains(pid)) continue;
        if (!note.verdict || !note.verdict->is_refuted()) continue;
        note.withdrawn = true;
        refuse(pid, note,
               fmt::format("CPython {} in {} is not what layout {} describes in another process: {}",
                           note.version, note.image, note.layout_name, note.verdict->reason));
    }
}

void ProcessTable::retry() {
    std::vector<int32_t> pids;
    for (auto& [pid, attempts] : unsettled_)
        if (++attempts <= max_attempts) pids.push_back(pid);
    std::erase_if(unsettled_, [](const auto& entry) { return entry.second > max_attempts; });
    for (const int32_t pid : pids) examine(HostPid{pid});
}

}  // namespace pyperf
