// SPDX-License-Identifier: Apache-2.0
// What one function's machine code refers to: constant addresses, and thread-local variables. In: the
// function's bytes. Out: a list of references in the order of the code. Pure; it knows nothing of Python.
//
// The reader follows constants through registers along straight-line code. It does not follow branches, so
// what it returns is a claim about the code, to be checked by whoever uses it (against relocations, contents,
// a second function).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "elf/image.h"
#include "result.h"

namespace pyperf {

struct AddressReference {
    enum class Use {
        address,       // the address itself is made: lea, mov immediate, adrp + add
        load,          // a value is loaded from it
        load_through,  // a value is loaded from (pointer in the word at `target`) + displacement: through the
                       // GOT
        store,         // a value is stored to it
    };
    Use use = Use::address;
    uint64_t target = 0;       // virtual address
    int64_t displacement = 0;  // load_through only
    uint32_t bytes = 0;        // of the load or store
    bool operator==(const AddressReference&) const = default;
};

struct ThreadLocalReference {
    enum class Kind {
        thread_pointer,  // at thread pointer + displacement (local-exec)
        got_module,      // GOT pair {module id, offset} at `got`, then + displacement (general- and
                         // local-dynamic)
        got_offset,      // the word at `got` is the offset from the thread pointer (initial-exec)
        got_descriptor,  // GOT pair {function, argument} at `got` (TLSDESC)
    };
    Kind kind = Kind::thread_pointer;
    uint64_t got = 0;
    int64_t displacement = 0;
    uint32_t bytes = 0;  // of the load
    bool operator==(const ThreadLocalReference&) const = default;
};

struct CodeReferences {
    std::vector<AddressReference> addresses;
    std::vector<ThreadLocalReference> thread_locals;
    std::vector<int64_t> thread_pointer_offsets;  // constants added to or subtracted from the thread pointer
};

// The most that is read of a function whose symbol has no size, and of one that claims to be larger.
constexpr uint64_t kMaxUnsizedFunctionBytes = 512;
constexpr uint64_t kMaxFunctionBytes = 16384;

// code: the function's bytes, which begin at virtual address `vaddr`. sized: false if the function's end is
// unknown, then reading stops at the first instruction that nothing falls through. Errors: no disassembler
// for this architecture.
Result<CodeReferences> read_code(Architecture architecture, std::span<const uint8_t> code, uint64_t vaddr,
                                 bool sized);

// The same for a function's symbol in a file. Errors: also if the file has no such bytes.
Result<CodeReferences> read_function(const ElfImage& image, const ElfSymbol& function);

}  // namespace pyperf
