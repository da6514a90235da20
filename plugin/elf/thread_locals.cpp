// SPDX-License-Identifier: Apache-2.0
#include "elf/thread_locals.h"

#include <elf.h>

#include "elf/code_reader.h"

namespace pyperf {
namespace {

// Behind a variable that the dynamic linker places: a member of it, or its neighbour.
constexpr int64_t kMaxDisplacement = 1 << 20;

uint64_t round_up(uint64_t value, uint64_t align) {
    return (value + align - 1) / align * align;
}

// The thread pointer offset of a variable of the executable itself: "ELF Handling For Thread-Local Storage"
// section 3.
int64_t executable_offset(Architecture architecture, const ElfTls& tls, uint64_t in_block) {
    if (architecture == Architecture::x86_64) {  // variant II: the block ends at the thread pointer
        return static_cast<int64_t>(in_block) - static_cast<int64_t>(round_up(tls.memory_size, tls.align));
    }
    // Variant I: the block begins behind the 16 bytes of the thread control block.
    return static_cast<int64_t>(round_up(16, tls.align) + in_block);
}

// Sums of numbers that the file or its code chose: they wrap around as the machine's own do.
int64_t sum(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

// Whether the word at `offset` of a block lies whole in the file's own.
bool in_block(const ElfTls& tls, uint64_t offset) {
    return tls.memory_size >= 8 && offset <= tls.memory_size - 8;
}

// What the code claims, if the file's relocations agree that it is what it looks like.
std::optional<TlsVariable> checked(const ElfImage& image, const ThreadLocalReference& reference) {
    using Kind = ThreadLocalReference::Kind;
    using Where = TlsVariable::Kind;
    const bool x86 = image.architecture() == Architecture::x86_64;
    if (reference.bytes != 8) return std::nullopt;
    if (reference.kind == Kind::thread_pointer) {
        // A library cannot know its distance from the thread pointer, so this is an access to something of
        // libc's; and in an executable it must lie in the executable's own block.
        const auto& tls = image.tls();
        if (!tls) return std::nullopt;
        const int64_t first = executable_offset(image.architecture(), *tls, 0);
        if (reference.displacement < first ||
            !in_block(*tls, static_cast<uint64_t>(sum(reference.displacement, -first))))
            return std::nullopt;
        return TlsVariable{Where::thread_pointer_offset, reference.displacement, 0};
    }
    const auto relocation = image.relocation_at(reference.got);
    if (!relocation) return std::nullopt;
    const bool near_by = reference.displacement >= 0 && reference.displacement < kMaxDisplacement;
    switch (reference.kind) {
        case Kind::got_module: {
            if (relocation->type != (x86 ? uint32_t{R_X86_64_DTPMOD64} : uint32_t{R_AARCH64_TLS_DTPMOD})) {
                return std::nullopt;
            }
            // The second word: filled by the linker for a variable of this very file, else by a relocation.
            int64_t in_module = 0;
            if (const auto second = image.relocation_at(reference.got + 8)) {
                if (!second->symbol_value) return std::nullopt;
                in_module = sum(static_cast<int64_t>(*second->symbol_value), second->addend);
            } else {
                const auto word = image.read_u64(reference.got + 8);
                if (!word) return std::nullopt;
                in_module = static_cast<int64_t>(*word);
            }
            in_module = sum(in_module, reference.displacement);
            // It is a variable of this very file, so the file has a block, with the variable in it.
            if (!image.tls() || !in_block(*image.tls(), static_cast<uint64_t>(in_module)))
                return std::nullopt;
            return TlsVariable{Where::got_module_and_offset, in_module, reference.got};
        }
        case Kind::got_offset:
            if (!near_by ||
                relocation->type != (x86 ? uint32_t{R_X86_64_TPOFF64} : uint32_t{R_AARCH64_TLS_TPREL})) {
                return std::nullopt;
            }
            return TlsVariable{Where::got_thread_pointer_offset, reference.displacement, reference.got};
        case Kind::got_descriptor:
            if (!near_by ||
                relocation->type != (x86 ? uint32_t{R_X86_64_TLSDESC} : uint32_t{R_AARCH64_TLSDESC})) {
                return std::nullopt;
            }
            return TlsVariable{Where::got_descriptor, reference.displacement, reference.got};
        case Kind::thread_pointer:
            break;
    }
    return std::nullopt;
}

}  // namespace

Result<std::optional<TlsVariable>> find_thread_local(const ElfImage& image,
                                                     const std::optional<ElfSymbol>& reader,
                                                     const std::optional<ElfSymbol>& symbol) {
    std::optional<TlsVariable> from_code;
    bool several = false;
    if (reader) {
        if (const auto code = read_function(image, *reader)) {
            for (const ThreadLocalReference& reference : code->thread_locals) {
                const auto variable = checked(image, reference);
                if (!variable) continue;
                if (from_code && *from_code != *variable) several = true;
                from_code = variable;
            }
        }
    }
    if (several) from_code.reset();

    const auto& tls = image.tls();
    const bool has_symbol = symbol && symbol->thread_local_ && tls && in_block(*tls, symbol->value);
    if (!has_symbol) return from_code;
    const auto in_module = static_cast<int64_t>(symbol->value);
    const int64_t at = executable_offset(image.architecture(), *tls, symbol->value);
    if (!from_code) {
        // Only a file that is loaded first has its block at a fixed distance.
        if (!image.is_program()) return from_code;
        return std::optional(TlsVariable{TlsVariable::Kind::thread_pointer_offset, at, 0});
    }
    const bool agrees =
        (from_code->kind == TlsVariable::Kind::thread_pointer_offset && from_code->offset == at) ||
        (from_code->kind == TlsVariable::Kind::got_module_and_offset && from_code->offset == in_module) ||
        from_code->kind == TlsVariable::Kind::got_thread_pointer_offset ||
        from_code->kind == TlsVariable::Kind::got_descriptor;
    if (!agrees) {
        return Error{image.name() +
                     ": contradicts itself: its symbols and its code disagree on where a thread-local "
                     "variable of CPython is"};
    }
    return from_code;
}

}  // namespace pyperf
