// SPDX-License-Identifier: Apache-2.0
#include "elf/interpreter_image.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "elf/code_reader.h"
#include "elf/object_types.h"
#include "elf/python_version_text.h"
#include "elf/thread_locals.h"

namespace pyperf {
namespace {

constexpr size_t kMaxDebugOffsets = 2048;
constexpr char kCookie[] = "xdebugpy";  // _Py_Debug_Cookie, Include/internal/pycore_debug_offsets.h (3.14)

// The symbols that are looked up, all at once.
enum Name : size_t {
    kGetVersion,
    kPyVersion,
    kRuntime,
    kCodeType,
    kFrameType,
    kInstanceType,
    kNone,
    kCurrent,
    kInterpHead,
    kAutoTlsKey,
    kKeyHead,
    kGilLocked,
    kGilLastHolder,
    kTssTstate,
    kTssGilstate,
    kGetCurrent,
    kGetThisThreadState,
    kInterpreterHead,
    kReInitTls,
    kDeleteKey,
    kThreadsInitialized,
    kNames,
};
constexpr std::array<std::string_view, kNames> kSymbolNames = {"Py_GetVersion",
                                                               "Py_Version",
                                                               "_PyRuntime",
                                                               "PyCode_Type",
                                                               "PyFrame_Type",
                                                               "PyInstance_Type",
                                                               "_Py_NoneStruct",
                                                               "_PyThreadState_Current",
                                                               "interp_head",
                                                               "autoTLSkey",
                                                               "keyhead",
                                                               "gil_locked",
                                                               "gil_last_holder",
                                                               "_Py_tss_tstate",
                                                               "_Py_tss_gilstate",
                                                               "_PyThreadState_GetCurrent",
                                                               "PyGILState_GetThisThreadState",
                                                               "PyInterpreterState_Head",
                                                               "PyThread_ReInitTLS",
                                                               "PyThread_delete_key",
                                                               "PyEval_ThreadsInitialized"};
using Symbols = std::vector<std::optional<ElfSymbol>>;

std::optional<uint64_t> address(const std::optional<ElfSymbol>& symbol) {
    if (!symbol || symbol->thread_local_) return std::nullopt;
    return symbol->value;
}

// The one address in `addresses`, however often; nothing if there is none or there are several.
std::optional<uint64_t> only(const std::vector<uint64_t>& addresses) {
    if (addresses.empty()) return std::nullopt;
    if (std::ranges::any_of(addresses, [&](uint64_t a) { return a != addresses.front(); }))
        return std::nullopt;
    return addresses.front();
}

// The one variable of `bytes` bytes that a function loads, directly or as a member of what its GOT points to.
std::optional<uint64_t> variable_loaded_by(const ElfImage& image, const std::optional<ElfSymbol>& function,
                                           uint32_t bytes) {
    if (!function) return std::nullopt;
    const auto code = read_function(image, *function);
    if (!code) return std::nullopt;
    std::vector<uint64_t> loads;
    for (const AddressReference& reference : code->addresses) {
        if (reference.bytes != bytes) continue;
        if (reference.use == AddressReference::Use::load_through) {
            if (const auto base = image.read_pointer(reference.target)) {
                loads.push_back(*base + static_cast<uint64_t>(reference.displacement));
            }
        } else if (reference.use == AddressReference::Use::load &&
                   !image.relocation_at(
                       reference.target)) {  // with one it is the GOT's word, not the variable
            loads.push_back(reference.target);
        }
    }
    return only(loads);
}

// keyhead of 2.7: the one address that both exported functions make which unlink nodes from the list (`q =
// &keyhead`, Python/thread.c).
std::optional<uint64_t> key_head_from_code(const ElfImage& image, const Symbols& symbols) {
    std::vector<uint64_t> made;
    for (const Name name : {kReInitTls, kDeleteKey}) {
        if (!symbols[name]) return std::nullopt;
        const auto code = read_function(image, *symbols[name]);
        if (!code) return std::nullopt;
        size_t here = 0;
        for (const AddressReference& reference : code->addresses) {
            // Immediates that are plain numbers (a lock's flag) are no addresses of this file.
            if (reference.use != AddressReference::Use::address) continue;
            const bool inside = std::ranges::any_of(image.segments(), [&](const ElfSegment& segment) {
                return segment.writable && reference.target >= segment.vaddr &&
                       reference.target - segment.vaddr < segment.memory_size;
            });
            if (!inside) continue;
            made.push_back(reference.target);
            ++here;
        }
        if (here == 0) return std::nullopt;
    }
    return only(made);
}

std::vector<uint8_t> read_debug_offsets(const ElfImage& image, const std::optional<uint64_t>& runtime) {
    if (!runtime) return {};
    std::vector<uint8_t> bytes(std::min<uint64_t>(image.bytes_at(*runtime), kMaxDebugOffsets));
    if (bytes.size() < 24 || !image.read_at_vaddr(*runtime, bytes)) return {};
    if (std::memcmp(bytes.data(), kCookie, 8) != 0) return {};
    return bytes;
}

// Free threading and trace-refs, from the debug offsets and from how far apart the members of a type object
// lie.
Result<void> find_abi(InterpreterImage& found, const std::optional<TypeObject>& code_type) {
    const bool could_be_free_threaded = found.version >= PythonVersion{3, 13, 0, 0xa, 0};
    if (!could_be_free_threaded) {
        found.free_threaded = false;
    } else if (!found.debug_offsets.empty()) {
        uint64_t flag = 0;
        std::memcpy(&flag, found.debug_offsets.data() + 16, sizeof flag);
        if (flag > 1) return Error{found.name + ": its _Py_DebugOffsets make no sense (free_threaded flag)"};
        found.free_threaded = flag == 1;
    }
    if (!code_type) return {};
    const bool large_header = code_type->header_bytes != 16;
    // From 3.13 on trace-refs no longer changes the object header, so a larger one means free threading.
    if (could_be_free_threaded) {
        if (found.free_threaded && *found.free_threaded != large_header) {
            return Error{
                found.name +
                ": contradicts itself: _Py_DebugOffsets and the type objects disagree on free threading"};
        }
        found.free_threaded = large_header;
        found.trace_refs = false;
    } else {
        found.trace_refs = large_header;
    }
    return {};
}

}  // namespace

bool might_hold_python(const ElfImage& image) {
    static constexpr std::array<std::string_view, 3> names = {"Py_GetVersion", "_PyRuntime",
                                                              "_PyThreadState_Current"};
    const auto any = [](const Symbols& symbols) {
        return std::ranges::any_of(symbols, [](const auto& symbol) { return symbol.has_value(); });
    };
    const Symbols dynamic = image.dynamic_symbols(names);
    if (dynamic[0] || image.section(".PyRuntime")) return true;
    if (any(dynamic)) {
        const auto copies = image.copied_variables();
        for (size_t i = 1; i < names.size(); ++i) {
            if (dynamic[i] && !copies.contains(std::string(names[i]))) return true;
        }
        return false;
    }
    return any(image.symbols(names));
}

Result<std::optional<InterpreterImage>> examine_interpreter(const ElfImage& image) {
    if (!might_hold_python(image)) return std::optional<InterpreterImage>();
    const Symbols symbols = image.symbols(kSymbolNames);

    InterpreterImage found;
    found.name = image.name();
    found.build_id = image.build_id();
    found.architecture = to_string(image.architecture());
    found.segments = image.segment_map();

    found.runtime = address(symbols[kRuntime]);
    if (const auto section = image.section(".PyRuntime")) {
        if (!found.runtime) found.runtime = section->vaddr;
    }
    found.current = address(symbols[kCurrent]);
    if (!found.runtime && !found.current) {
        // Py_GetVersion alone: a stub or a part of an interpreter. There is nothing to start from.
        return Error{image.name() +
                         ": has Py_GetVersion, but neither _PyRuntime nor _PyThreadState_Current; "
                         "add a record for its build-id (pyoffsets add)",
                     -ENOENT};
    }
    found.debug_offsets = read_debug_offsets(image, found.runtime);
    auto version = find_version(image, symbols[kPyVersion], symbols[kGetVersion], found.debug_offsets);
    if (!version) return version.error();
    found.version = version->version;
    found.version_source = version->source;

    found.code_type = address(symbols[kCodeType]);
    found.frame_type = address(symbols[kFrameType]);
    found.instance_type = address(symbols[kInstanceType]);
    found.none = address(symbols[kNone]);
    std::optional<TypeObject> code_type;
    if (found.code_type) code_type = read_type_object(image, *found.code_type, "code");
    if (code_type) {
        found.code_type_basicsize = code_type->basicsize;
        found.code_members = code_type->members;
    }
    if (found.frame_type) {
        if (auto type = read_type_object(image, *found.frame_type, "frame")) {
            found.frame_members = std::move(type->members);
        }
    }
    if (auto abi = find_abi(found, code_type); !abi) return abi.error();

    const auto& thread_state_of = symbols[kGetThisThreadState];
    found.interp_head = variable_loaded_by(image, symbols[kInterpreterHead], 8);
    if (const auto own = address(symbols[kInterpHead])) {
        if (found.interp_head && *found.interp_head != *own) {
            return Error{image.name() +
                         ": contradicts itself: its symbols and its code disagree on where interp_head is"};
        }
        found.interp_head = own;
    }
    if (!found.runtime) {
        found.auto_tls_key = address(symbols[kAutoTlsKey]);
        if (!found.auto_tls_key) found.auto_tls_key = variable_loaded_by(image, thread_state_of, 4);
        found.key_head = address(symbols[kKeyHead]);
        if (!found.key_head) found.key_head = key_head_from_code(image, symbols);
        found.gil_locked = address(symbols[kGilLocked]);
        if (!found.gil_locked) found.gil_locked = variable_loaded_by(image, symbols[kThreadsInitialized], 4);
        found.gil_last_holder = address(symbols[kGilLastHolder]);
    }

    for (const Name name : {kRuntime, kCodeType, kFrameType, kInstanceType, kNone, kCurrent}) {
        if (image.relocations_name(kSymbolNames[name])) found.replaceable.emplace(kSymbolNames[name]);
    }

    auto current_tls = find_thread_local(image, symbols[kGetCurrent], symbols[kTssTstate]);
    if (!current_tls) return current_tls.error();
    found.current_tls = *current_tls;
    auto bound_tls = find_thread_local(image, thread_state_of, symbols[kTssGilstate]);
    if (!bound_tls) return bound_tls.error();
    found.bound_tls = *bound_tls;
    return std::optional(std::move(found));
}

}  // namespace pyperf
