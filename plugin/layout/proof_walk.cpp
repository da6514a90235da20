// SPDX-License-Identifier: Apache-2.0
#include "layout/proof_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "decode/line_table.h"

namespace pyperf {
namespace {

// A look is bounded; what lies beyond is not looked at, and says nothing.
constexpr size_t kMaxInterpreters = 256;
constexpr size_t kMaxThreadStates = 256;
constexpr size_t kMaxChains = 32;
constexpr size_t kMaxFrames = 4096;
constexpr size_t kMaxFramesLookedInto = 128;  // of a chain, from the leaf
constexpr uint8_t kMaxOwner = 4;              // FRAME_OWNED_BY_CSTACK (3.14), the highest there ever was
constexpr int64_t kMaxInstruction = 1 << 28;

std::string hex(uint64_t value) {
    return fmt::format("{:#x}", value);
}

}  // namespace

void ProofWalk::find_thread_states() {
    const bool has_threads_head = layout_.offset("PyInterpreterState", "threads.head").has_value();
    const std::string_view first = has_threads_head ? "threads.head" : "tstate_head";
    const auto head = view_.read<uint64_t>(process_.interp_head_addr);
    if (!head) {
        findings_.contradict("_PyRuntimeState.interpreters.head", "cannot be read");
        return;
    }
    std::set<uint64_t> interpreters;
    for (uint64_t interpreter = *head; interpreter != 0;
         interpreter = pointer(interpreter, "PyInterpreterState", "next")) {
        if (interpreters.size() >= kMaxInterpreters) break;
        if (!interpreters.insert(interpreter).second) {
            findings_.contradict("PyInterpreterState.next", "the list of interpreters goes in a circle");
            return;
        }
        const auto state_head = view_.read<uint64_t>(interpreter + offset("PyInterpreterState", first));
        if (!state_head) {
            findings_.contradict("PyInterpreterState.next",
                                 fmt::format("no interpreter at {}", hex(interpreter)));
            return;
        }
        std::set<uint64_t> seen;
        for (uint64_t state = *state_head; state != 0; state = pointer(state, "PyThreadState", "next")) {
            if (states_.size() >= kMaxThreadStates) return;
            if (!seen.insert(state).second) {
                findings_.contradict("PyThreadState.next", "the list of thread states goes in a circle");
                return;
            }
            const auto owner = view_.read<uint64_t>(state + offset("PyThreadState", "interp"));
            if (!owner || *owner != interpreter) {
                // The first is found by the interpreter's member, the others by the thread states' own.
                findings_.contradict(state == *state_head ? "the first thread state" : "PyThreadState.next",
                                     fmt::format("PyThreadState.interp at {} is {}, not {}", hex(state),
                                                 hex(owner.value_or(0)), hex(interpreter)));
                return;
            }
            states_.push_back({state, interpreter, pointer(state, "PyThreadState", "thread_id"), false});
        }
    }
    if (const auto main = layout_.offset("_PyRuntimeState", "interpreters.main");
        main && process_.runtime_addr && *head) {
        const auto address = view_.pointer(process_.runtime_addr + *main);
        if (address != 0 && interpreters.size() < kMaxInterpreters && !interpreters.contains(address))
            findings_.contradict("PyInterpreterState.next", "the main interpreter is not in the list");
    }
}

// How the GIL is taken, and while it is, by whom. Who had it last may be gone.
void ProofWalk::check_gil(uint64_t gil, std::string_view structure, const std::string& prefix) {
    const auto locked_at = layout_.offset(structure, prefix + "locked");
    const auto holder_at = layout_.offset(structure, prefix + "last_holder");
    if (gil == 0 || !locked_at || !holder_at) return;  // it is being set up or torn down
    const std::string about = std::string(structure) + "." + prefix;
    const auto locked = view_.read<int32_t>(gil + *locked_at);
    if (!locked || *locked < -1 || *locked > 1)
        findings_.contradict(about + "locked",
                             fmt::format("a GIL that is locked {} times", locked.value_or(0)));
    const auto holder = view_.read<uint64_t>(gil + *holder_at);
    if (locked == 1 && holder && !is_listed(*holder, 0) && states_.size() < kMaxThreadStates)
        findings_.contradict(about + "last_holder",
                             fmt::format("{} holds the GIL, which is in no list", hex(*holder)));
}

void ProofWalk::check_gils() {
    if (const auto gil_at = layout_.offset("PyInterpreterState", "ceval.gil")) {  // 3.12 and later
        std::set<uint64_t> interpreters;
        for (const auto& state : states_)
            if (interpreters.insert(state.interpreter).second)
                check_gil(view_.pointer(state.interpreter + *gil_at), "_gil_runtime_state", "");
    } else if (process_.runtime_addr != 0) {
        check_gil(process_.runtime_addr, "_PyRuntimeState", "ceval.gil.");
    }
}

bool ProofWalk::is_listed(uint64_t state, uint64_t thread_id) const {
    return std::ranges::any_of(states_, [&](const ThreadState& one) {
        return one.address == state && (thread_id == 0 || one.thread_id == thread_id);
    });
}

// On x86_64 the word at the thread pointer is the thread pointer (System V ABI, thread-local storage), which
// tells a real one. A thread that ended may have left its state behind, so not every one must be.
void ProofWalk::check_thread_ids() {
    const bool can_tell = std::ranges::find(layout_.architectures, "x86_64") != layout_.architectures.end();
    for (auto& state : states_) {
        const uint64_t thread_pointer =
            state.thread_id - static_cast<uint64_t>(int64_t{process_.libc.thread_id_delta});
        state.id_is_real = can_tell ? view_.pointer(thread_pointer) == thread_pointer
                                    : view_.read<uint64_t>(thread_pointer).has_value();
        findings_.expect(state.id_is_real, "PyThreadState.thread_id",
                         fmt::format("no thread has the id {}", hex(state.thread_id)));
    }
}

// Up to 3.11 one thread state of the process is attached at a time.
void ProofWalk::check_attached() {
    if (process_.current_addr == 0 || process_.current_tls.kind != PYPERF_SLOT_NONE) return;
    const auto current = view_.read<uint64_t>(process_.current_addr);
    if (!current || (*current != 0 && !is_listed(*current, 0) && states_.size() < kMaxThreadStates))
        findings_.contradict("_PyRuntimeState.gilstate.tstate_current",
                             fmt::format("{} is attached, which is in no list", hex(current.value_or(0))));
}

// pthread_getspecific(); the same as in bpf/thread_state.bpf.c.
std::optional<uint64_t> ProofWalk::key_value(uint64_t thread_pointer, int32_t key) {
    if (key < 0 || key > 1023 || process_.libc.key_table == 0) return std::nullopt;
    const auto slot = static_cast<uint64_t>(key);
    const auto table = thread_pointer + static_cast<uint64_t>(int64_t{process_.libc.key_table});
    if (process_.libc.key_indirect) {
        const uint64_t base = view_.pointer(table);
        return base ? view_.pointer(base + slot * 8) : 0;
    }
    if (key < 32)
        return view_.pointer(thread_pointer + static_cast<uint64_t>(int64_t{process_.libc.key_block}) +
                             slot * 16 + 8);
    const uint64_t base = view_.pointer(table + slot / 32 * 8);
    return base ? view_.pointer(base + slot % 32 * 16 + 8) : 0;
}

std::optional<uint64_t> ProofWalk::thread_local_value(uint64_t thread_pointer, const pyperf_tls_slot& slot) {
    if (slot.kind == PYPERF_SLOT_TP)
        return view_.pointer(thread_pointer + static_cast<uint64_t>(slot.offset));
    if (slot.kind != PYPERF_SLOT_DTV || process_.libc.dtv_entry_bytes == 0) return std::nullopt;
    const uint64_t module = view_.pointer(slot.module_addr);
    const uint64_t dtv = view_.pointer(thread_pointer + static_cast<uint64_t>(int64_t{process_.libc.dtv}));
    if (module == 0 || module > 65536 || dtv == 0) return 0;
    const uint64_t block = view_.pointer(dtv + module * process_.libc.dtv_entry_bytes);
    return block == 0 || block == UINT64_MAX ? 0 : view_.pointer(block + static_cast<uint64_t>(slot.offset));
}

// The thread state that a thread is bound to, by the version's own way. Nothing: it cannot be told here.
std::optional<uint64_t> ProofWalk::bound_state(uint64_t thread_pointer, bool& readable) {
    readable = true;
    switch (layout_.thread_binding) {
        case ThreadBinding::thread_local_:
            return thread_local_value(thread_pointer, process_.bound_tls);
        case ThreadBinding::pthread_key:
            if (process_.key_addr == 0) return std::nullopt;
            return key_value(thread_pointer, view_.read<int32_t>(process_.key_addr).value_or(-1));
        case ThreadBinding::runtime_key: {
            if (process_.key_addr == 0 || process_.libc.key_table == 0) return std::nullopt;
            const auto initialized = view_.read<int32_t>(process_.key_addr - offset("Py_tss_t", "_key") +
                                                         offset("Py_tss_t", "_is_initialized"));
            const auto key = view_.read<int32_t>(process_.key_addr);
            readable = initialized == 1 && key && *key >= 0 && *key <= 1023;
            return readable ? key_value(thread_pointer, *key) : std::nullopt;
        }
        case ThreadBinding::key_list: {
            if (process_.key_addr == 0 || process_.key_list_addr == 0) return std::nullopt;
            const auto key = view_.read<int32_t>(process_.key_addr).value_or(-1);
            const uint64_t own =
                thread_pointer + static_cast<uint64_t>(int64_t{process_.libc.thread_id_delta});
            // {next, thread id, key, value} (Python/thread.c of 2.7)
            uint64_t node = view_.pointer(process_.key_list_addr);
            for (size_t i = 0; node != 0 && i < kMaxThreadStates; ++i, node = view_.pointer(node))
                if (view_.pointer(node + 8) == own && view_.read<int32_t>(node + 16) == key)
                    return view_.pointer(node + 24);
            return 0;
        }
    }
    return std::nullopt;
}

void ProofWalk::check_bindings() {
    const std::string about = layout_.thread_binding == ThreadBinding::runtime_key
                                  ? "_PyRuntimeState.autoTSSkey"
                                  : "the threads' binding";
    size_t asked = 0;
    size_t bound = 0;
    for (const auto& state : states_) {
        if (!state.id_is_real) continue;
        const uint64_t thread_pointer =
            state.thread_id - static_cast<uint64_t>(int64_t{process_.libc.thread_id_delta});
        bool readable = true;
        const auto value = bound_state(thread_pointer, readable);
        if (!readable) {
            findings_.contradict(about, "the key is not one");
            return;
        }
        if (const auto attached = thread_local_value(thread_pointer, process_.current_tls);
            attached && *attached != 0 && !is_listed(*attached, state.thread_id) &&
            states_.size() < kMaxThreadStates)
            findings_.contradict("_Py_tss_tstate",
                                 fmt::format("{} is attached in thread {}, which is in no list",
                                             hex(*attached), hex(state.thread_id)));
        if (!value) continue;
        ++asked;
        if (*value == 0) continue;
        ++bound;
        if (!is_listed(*value, state.thread_id) && states_.size() < kMaxThreadStates)
            findings_.contradict(about, fmt::format("thread {} is bound to {}, which is in no list",
                                                    hex(state.thread_id), hex(*value)));
    }
    if (asked != 0 && bound == 0) findings_.contradict(about, "no thread is bound to a thread state");
}

bool ProofWalk::read_frame_object(uint64_t address, Frame& frame) {
    const auto back = view_.read<uint64_t>(address + offset("PyFrameObject", "f_back"));
    const auto code = view_.read<uint64_t>(address + offset("PyFrameObject", "f_code"));
    const auto last = view_.read<int32_t>(address + offset("PyFrameObject", "f_lasti"));
    if (!back || !code || !last) return false;
    frame.previous = *back;
    frame.code = *code;
    frame.instruction = static_cast<uint64_t>(int64_t{*last} * layout_.instruction_unit);
    frame.is_entry = true;
    return true;
}

bool ProofWalk::read_interpreter_frame(uint64_t address, Frame& frame) {
    constexpr std::string_view name = "_PyInterpreterFrame";
    auto bytes = view_.bytes(address, offset(name, "localsplus"));
    if (!bytes) return false;
    const StructBytes read(std::move(*bytes));
    const auto executable = layout_.offset(name, "f_executable");
    const auto instruction = layout_.offset(name, "instr_ptr");
    const auto entry = layout_.offset(name, "is_entry");
    frame.previous = read.at<uint64_t>(offset(name, "previous"));
    frame.code = read.at<uint64_t>(executable ? *executable : offset(name, "f_code")) &
                 ~uint64_t{layout_.executable_tag_mask};
    frame.instruction = read.at<uint64_t>(instruction ? *instruction : offset(name, "prev_instr"));
    frame.owner = read.at<uint8_t>(offset(name, "owner"));
    frame.is_shim = layout_.first_shim_owner && frame.owner >= *layout_.first_shim_owner;
    frame.is_entry = entry ? read.at<uint8_t>(*entry) == 1 : frame.is_shim;
    if (const auto copy = layout_.offset(name, "tlbc_index")) frame.bytecode_copy = read.at<uint32_t>(*copy);
    return true;
}

ProofWalk::Chain ProofWalk::read_chain(uint64_t state) {
    uint64_t address = 0;
    if (layout_.frame_chain == FrameChain::frame_object) {
        address = pointer(state, "PyThreadState", "frame");
    } else if (layout_.frame_chain == FrameChain::cframe) {
        const uint64_t cframe = pointer(state, "PyThreadState", "cframe");
        address = cframe ? pointer(cframe, "_PyCFrame", "current_frame") : 0;
    } else {
        address = pointer(state, "PyThreadState", "current_frame");
    }
    Chain chain;
    while (address != 0 && chain.frames.size() < kMaxFrames) {
        Frame frame;
        frame.address = address;
        const bool read = layout_.frame_chain == FrameChain::frame_object
                              ? read_frame_object(address, frame)
                              : read_interpreter_frame(address, frame);
        if (!read) {
            chain.unreadable = address;
            return chain;
        }
        chain.frames.push_back(frame);
        address = frame.previous;
    }
    chain.ends = address == 0;
    return chain;
}

void ProofWalk::check_instruction(const Frame& frame, bool is_leaf) {
    const CheckedCode& code = objects_.check_code(frame.code);
    if (!code.sound) return;
    if (layout_.frame_chain == FrameChain::frame_object) {
        const auto offset_bytes = static_cast<int64_t>(frame.instruction);
        if (offset_bytes < -int64_t{layout_.instruction_unit} || offset_bytes > kMaxInstruction) {
            findings_.contradict("PyFrameObject.f_lasti", fmt::format("instruction {}", offset_bytes));
            return;
        }
        // What is called has been loaded first: a caller is not at its first instruction.
        if (!is_leaf)
            findings_.expect(offset_bytes > 0, "PyFrameObject.f_lasti",
                             fmt::format("a caller at instruction {}", offset_bytes));
        findings_.expect(line_of(layout_.line_table, {code.lines, true}, code.first_line,
                                 static_cast<int32_t>(offset_bytes))
                             .has_value(),
                         "the line table", fmt::format("no line for instruction {}", offset_bytes));
        return;
    }
    uint64_t start = code.bytecode;
    const auto copies = layout_.offset("PyCodeObject", "co_tlbc");
    if (copies && frame.bytecode_copy != 0) {
        const uint64_t array = view_.pointer(frame.code + *copies);
        const uint64_t count = view_.pointer(array + offset("_PyCodeArray", "size"));
        if (frame.bytecode_copy >= count) {
            findings_.contradict("_PyInterpreterFrame.tlbc_index",
                                 fmt::format("copy {} of {} of the bytecode", frame.bytecode_copy, count));
            return;
        }
        start = view_.pointer(array + offset("_PyCodeArray", "entries") + uint64_t{frame.bytecode_copy} * 8);
    }
    const auto at = static_cast<int64_t>(frame.instruction - start);
    // One unit before the first: not started (3.11, 3.12).
    if (at < -2 || at >= code.bytecode_bytes || at % 2 != 0)
        findings_.contradict("a frame's instruction",
                             fmt::format("at {} of {} bytes of bytecode", at, code.bytecode_bytes));
}

// Returns the index of the frame that the first contradiction is about.
size_t ProofWalk::check_frames(const Chain& chain) {
    const bool is_object = layout_.frame_chain == FrameChain::frame_object;
    if (chain.unreadable != 0) {
        findings_.contradict("the frames' chain",
                             fmt::format("leads to {}, which cannot be read", hex(chain.unreadable)));
        return chain.frames.empty() ? 0 : chain.frames.size() - 1;
    }
    bool is_leaf = true;
    unsigned python_frames = 0;
    for (size_t i = 0; i < chain.frames.size() && i < kMaxFramesLookedInto; ++i) {
        const Frame& frame = chain.frames[i];
        if (is_object && !objects_.is_frame(frame.address)) {
            findings_.contradict("the frames' chain",
                                 fmt::format("what is at {} is a \"{}\"", hex(frame.address),
                                             objects_.type_name(frame.address)));
            return i;
        }
        if (!is_object && frame.owner > kMaxOwner) {
            findings_.contradict("_PyInterpreterFrame.owner", fmt::format("owner {}", frame.owner));
            return i;
        }
        if (frame.is_shim) continue;
        if (const auto object_at = layout_.offset("_PyInterpreterFrame", "frame_obj"); object_at) {
            const uint64_t object = view_.pointer(frame.address + *object_at);
            if (object != 0 && !objects_.is_frame(object)) {
                findings_.contradict(
                    "_PyInterpreterFrame.frame_obj",
                    fmt::format("what is at {} is a \"{}\"", hex(object), objects_.type_name(object)));
                return i;
            }
        }
        const size_t before = findings_.contradictions.size();
        check_instruction(frame, is_leaf);
        if (findings_.contradictions.size() != before) return i;
        is_leaf = false;
        ++python_frames;
    }
    const size_t last = chain.frames.size() - 1;
    if (!chain.ends) return last;  // deeper than is looked at
    if (!chain.frames.back().is_entry) {
        findings_.contradict("the frames' chain", "ends with a frame that C code has not entered");
        return last;
    }
    findings_.frames += python_frames;
    if (python_frames > 1) ++findings_.whole_chains;
    return last;
}

// A thread that runs moves its frames while they are read: what a frame says against the layout counts only
// if a second reading finds the very same frame in the chain.
void ProofWalk::check_chain(const ThreadState& state) {
    const Chain chain = read_chain(state.address);
    if (chain.frames.empty() && chain.unreadable == 0) return;
    Findings before = findings_;
    const size_t checked = check_frames(chain);
    if (findings_.contradictions.size() == before.contradictions.size()) return;
    const Chain again = read_chain(state.address);
    const bool still_there =
        chain.frames.empty() ? again == chain
                             : std::ranges::find(again.frames, chain.frames[checked]) != again.frames.end() &&
                                   (chain.unreadable == 0 || again.unreadable == chain.unreadable);
    if (still_there) return;
    findings_ = std::move(before);
    ++findings_.moved;
}

void ProofWalk::look() {
    objects_.check_types();
    find_thread_states();
    findings_.thread_states = static_cast<unsigned>(states_.size());
    if (!findings_.contradictions.empty()) return;
    check_thread_ids();
    check_attached();
    check_bindings();
    check_gils();
    for (size_t i = 0; i < states_.size() && i < kMaxChains; ++i) check_chain(states_[i]);
}

}  // namespace pyperf
