// SPDX-License-Identifier: Apache-2.0
#include "process/discover.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "process/identity.h"
#include "process/maps.h"
#include "process/memory.h"

namespace pyperf {
namespace {

// A TLS descriptor's argument is an offset from the thread pointer if the block is a static one, else a
// pointer.
constexpr int64_t kMaxStaticTls = 16 << 20;

struct Found {
    std::vector<LoadedInterpreter> interpreters;
    std::optional<Error> refused;
    std::optional<LibcFacts> libc;
    std::map<std::string, uint64_t> copied;
};

TargetAddress placed(const std::optional<uint64_t>& vaddr, uint64_t bias) {
    return vaddr ? TargetAddress{*vaddr + bias} : TargetAddress{};
}

void resolve_addresses(LoadedInterpreter& loaded) {
    const InterpreterImage& image = *loaded.image;
    const uint64_t bias = loaded.load_bias;
    loaded.addresses = {
        placed(image.runtime, bias),       placed(image.code_type, bias),      placed(image.frame_type, bias),
        placed(image.instance_type, bias), placed(image.none, bias),           placed(image.current, bias),
        placed(image.interp_head, bias),   placed(image.auto_tls_key, bias),   placed(image.key_head, bias),
        placed(image.gil_locked, bias),    placed(image.gil_last_holder, bias)};
}

// An executable that is not position-independent takes over variables of its libraries that it uses (copy
// relocations); the library then uses the copy, too.
void apply_copies(LoadedInterpreter& loaded, const std::map<std::string, uint64_t>& copied) {
    const InterpreterImage& image = *loaded.image;
    const auto moved = [&](const char* name, TargetAddress& address) -> int64_t {
        const auto copy = copied.find(name);
        if (copy == copied.end() || !address || !image.replaceable.contains(name)) return 0;
        const auto by = static_cast<int64_t>(copy->second - address.value);
        address = {copy->second};
        return by;
    };
    InterpreterAddresses& addresses = loaded.addresses;
    moved("PyCode_Type", addresses.code_type);
    moved("PyFrame_Type", addresses.frame_type);
    moved("PyInstance_Type", addresses.instance_type);
    moved("_Py_NoneStruct", addresses.none);
    moved("_PyThreadState_Current", addresses.current);
    const int64_t by = moved("_PyRuntime", addresses.runtime);
    // From 3.7 on the pointer to the first interpreter is a member of _PyRuntime.
    if (by != 0 && addresses.interp_head) addresses.interp_head.value += static_cast<uint64_t>(by);
}

Initialised is_initialised(const ProcessMemory& memory, const std::vector<Mapping>& mappings,
                           TargetAddress interp_head) {
    if (!interp_head) return Initialised::unknown;
    // The dynamic linker maps a file as a whole first, and its data in its place a little later: until then
    // other bytes of the file lie at the data's addresses.
    const bool has_data = std::ranges::any_of(mappings, [interp_head](const Mapping& mapping) {
        return mapping.writable && mapping.start <= interp_head.value && interp_head.value < mapping.end;
    });
    if (!has_data) return Initialised::no;
    const auto head = memory.read<uint64_t>(interp_head);
    if (!head) return Initialised::unknown;
    return *head != 0 ? Initialised::yes : Initialised::no;
}

pyperf_tls_slot resolve_slot(const ProcessMemory& memory, LoadedInterpreter& loaded,
                             const std::optional<TlsVariable>& variable) {
    pyperf_tls_slot slot{};
    if (!variable) return slot;
    const TargetAddress word{variable->got_word + loaded.load_bias};
    switch (variable->kind) {
        case TlsVariable::Kind::thread_pointer_offset:
            slot.kind = PYPERF_SLOT_TP;
            slot.offset = variable->offset;
            return slot;
        case TlsVariable::Kind::got_module_and_offset:
            slot.kind = PYPERF_SLOT_DTV;
            slot.module_addr = word.value;
            slot.offset = variable->offset;
            return slot;
        case TlsVariable::Kind::got_thread_pointer_offset:
        case TlsVariable::Kind::got_descriptor: {
            // The word is filled in when the file is loaded: before the interpreter is set up it may not be
            // there yet.
            if (loaded.initialised != Initialised::yes) {
                loaded.resolved = false;
                return slot;
            }
            const bool pair = variable->kind == TlsVariable::Kind::got_descriptor;
            const auto offset = memory.read<int64_t>(pair ? word + 8 : word);
            if (!offset || *offset > kMaxStaticTls || *offset < -kMaxStaticTls) return slot;
            slot.kind = PYPERF_SLOT_TP;
            slot.offset = *offset + variable->offset;
            return slot;
        }
    }
    return slot;
}

// Looks at each mapped file once, and at each place where a file with an interpreter is loaded.
Result<Found> look_at_files(HostPid pid, const std::vector<Mapping>& mappings, ImageCache& cache) {
    using FileKey = std::tuple<uint32_t, uint32_t, uint64_t>;
    std::map<FileKey, std::shared_ptr<const FileFacts>> files;
    std::set<std::pair<const FileFacts*, uint64_t>> seen;
    std::optional<Error> unreadable;
    Found found;
    for (const Mapping& mapping : mappings) {
        // Code, or the data of a file whose code was moved elsewhere (onto huge pages, for example).
        const bool of_interest = mapping.executable || (mapping.writable && !mapping.shared);
        if (mapping.inode == 0 || !of_interest) continue;
        const FileKey key{mapping.device_major, mapping.device_minor, mapping.inode};
        auto file = files.find(key);
        if (file == files.end()) {
            auto facts = cache.facts_of(pid, mapping);
            if (!facts) {
                // One odd file is no reason to miss the interpreter in another.
                if (!unreadable) unreadable = facts.error();
                files.emplace(key, nullptr);
                continue;
            }
            file = files.emplace(key, *facts).first;
            if ((*facts)->refused && !found.refused) found.refused = (*facts)->refused;
            if ((*facts)->libc && !found.libc) found.libc = (*facts)->libc;
            found.copied.insert((*facts)->copied.begin(), (*facts)->copied.end());
        }
        const auto& facts = file->second;
        if (!facts || !facts->interpreter) continue;
        const auto bias = facts->segments.load_bias(mapping.start, mapping.offset, mapping.executable);
        if (!bias || !seen.emplace(facts.get(), *bias).second) continue;
        LoadedInterpreter loaded;
        loaded.image = facts->interpreter;
        loaded.load_bias = *bias;
        loaded.path = mapping.path;
        found.interpreters.push_back(std::move(loaded));
    }
    if (found.interpreters.empty() && !found.refused && unreadable) return *unreadable;
    return found;
}

}  // namespace

pyperf_process PythonProcess::record() const {
    const InterpreterAddresses& at = interpreter.addresses;
    pyperf_process entry{};
    entry.start_time_ticks = start_time_ticks;
    entry.runtime_addr = at.runtime.value;
    entry.current_addr = at.current.value;
    entry.key_addr = at.auto_tls_key.value;
    entry.key_list_addr = at.key_head.value;
    entry.interp_head_addr = at.interp_head.value;
    entry.gil_locked_addr = at.gil_locked.value;
    entry.gil_last_holder_addr = at.gil_last_holder.value;
    entry.instance_type_addr = interpreter.addresses.instance_type.value;
    entry.code_type_addr = at.code_type.value;
    entry.instance_type_addr = at.instance_type.value;
    entry.current_tls = interpreter.current_tls;
    entry.bound_tls = interpreter.bound_tls;
    entry.libc = libc.layout;
    return entry;
}

Result<std::optional<PythonProcess>> examine_process(HostPid pid, ImageCache& cache) {
    // The start time is read first and last: a pid that changed hands meanwhile would mix two processes.
    const auto start_time = read_start_time(pid);
    if (!start_time) return start_time.error();
    const auto mappings = read_maps(pid);
    if (!mappings) return mappings.error();
    auto found = look_at_files(pid, *mappings, cache);
    if (!found) return found.error();
    if (found->interpreters.empty()) {
        if (found->refused) return *found->refused;
        return std::optional<PythonProcess>();
    }

    PythonProcess process;
    process.pid = pid;
    process.start_time_ticks = *start_time;
    process.libc = found->libc.value_or(unknown_libc());
    const ProcessMemory memory(pid);
    for (LoadedInterpreter& loaded : found->interpreters) {
        resolve_addresses(loaded);
        apply_copies(loaded, found->copied);
        loaded.initialised = is_initialised(memory, *mappings, loaded.addresses.interp_head);
        loaded.current_tls = resolve_slot(memory, loaded, loaded.image->current_tls);
        loaded.bound_tls = resolve_slot(memory, loaded, loaded.image->bound_tls);
    }
    for (const Initialised wanted : {Initialised::yes, Initialised::unknown, Initialised::no}) {
        const auto best = std::ranges::find(found->interpreters, wanted, &LoadedInterpreter::initialised);
        if (best == found->interpreters.end()) continue;
        process.interpreter = std::move(*best);
        found->interpreters.erase(best);
        break;
    }
    process.others = std::move(found->interpreters);

    const auto still = read_start_time(pid);
    if (!still) return still.error();
    if (*still != *start_time) {
        return Error{"process " + std::to_string(pid.value) + ": ended while it was examined", -ESRCH};
    }
    return std::optional(std::move(process));
}

}  // namespace pyperf
