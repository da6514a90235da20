// SPDX-License-Identifier: Apache-2.0
// What an ELF file says about the CPython interpreter in it: its exact version, where its root variables lie,
// and what its own tables say about its structures. In: an ElfImage. Out: an InterpreterImage, all addresses
// as the file has them.
//
// Nothing here is guessed: a fact that the file does not tell is absent. Which facts each version has, and
// how they are found in a stripped file, is in docs/design.md (CPython facts, sections 1, 3, 5 and 6).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "elf/image.h"
#include "layout/layout.h"
#include "result.h"

namespace pyperf {

// Where a thread-local variable of the interpreter is found.
struct TlsVariable {
    enum class Kind {
        thread_pointer_offset,  // at thread pointer + offset
        got_module_and_offset,  // in module *(u64 *)got_word of the thread's DTV, at `offset` in its block
        got_thread_pointer_offset,  // at thread pointer + *(s64 *)got_word + offset
        got_descriptor,             // a TLS descriptor at got_word: its second word is filled in at run time
    };
    Kind kind = Kind::thread_pointer_offset;
    int64_t offset = 0;
    uint64_t got_word = 0;  // address in the file; 0 for thread_pointer_offset
    bool operator==(const TlsVariable&) const = default;
};

struct InterpreterImage {
    std::string name;          // of the file, for messages
    std::string build_id;      // hex; empty: none
    std::string architecture;  // "x86_64", "aarch64"
    PythonVersion version;
    std::string version_source;         // "Py_Version", "Py_GetVersion", "_Py_DebugOffsets"
    std::optional<bool> free_threaded;  // nothing: the file does not tell
    std::optional<bool>
        trace_refs;  // two more words in front of every object; nothing: the file does not tell

    // Addresses in the file.
    std::optional<uint64_t> runtime;          // _PyRuntime (3.7 and later)
    std::optional<uint64_t> code_type;        // PyCode_Type
    std::optional<uint64_t> frame_type;       // PyFrame_Type
    std::optional<uint64_t> instance_type;    // PyInstance_Type (2.7)
    std::optional<uint64_t> none;             // _Py_NoneStruct
    std::optional<uint64_t> current;          // _PyThreadState_Current (2.7, 3.6)
    std::optional<uint64_t> interp_head;      // the pointer to the first interpreter state, of every version
    std::optional<uint64_t> auto_tls_key;     // the int autoTLSkey (2.7, 3.6)
    std::optional<uint64_t> key_head;         // keyhead (2.7)
    std::optional<uint64_t> gil_locked;       // gil_locked (3.6)
    std::optional<uint64_t> gil_last_holder;  // gil_last_holder (3.6), only in files that are not stripped

    std::optional<TlsVariable> current_tls;  // _Py_tss_tstate (3.12 and later)
    std::optional<TlsVariable> bound_tls;    // _Py_tss_gilstate (3.15 and later)

    std::optional<uint64_t> code_type_basicsize;
    std::map<std::string, uint32_t, std::less<>>
        code_members;  // member name -> offset, from PyCode_Type.tp_members
    std::map<std::string, uint32_t, std::less<>> frame_members;  // likewise of PyFrame_Type
    std::vector<uint8_t>
        debug_offsets;  // _Py_DebugOffsets and what follows it, up to 2048 bytes; empty: none

    SegmentMap segments;  // for the load bias
    // The variables above that this library finds through its relocations, so that an executable can take
    // them over.
    std::set<std::string, std::less<>> replaceable;
};

// Whether the file could hold an interpreter at all. Cheap: one look at .dynsym and the section names;
// .symtab only if both say nothing. Copies of a library's variables (R_*_COPY) in an executable do not count.
bool might_hold_python(const ElfImage& image);

// Examines the file. Nothing: no CPython in it. Errors: there is one, but its exact version cannot be told,
// or the file contradicts itself.
Result<std::optional<InterpreterImage>> examine_interpreter(const ElfImage& image);

}  // namespace pyperf
