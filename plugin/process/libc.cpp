// SPDX-License-Identifier: Apache-2.0
#include "process/libc.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "elf/code_reader.h"

namespace pyperf {
namespace {

constexpr uint64_t kMaxRodata = 4U << 20;

enum Name : size_t {
    kGnuVersion,   // glibc's own
    kSetupTls,     // glibc, linked statically (csu/libc-tls.c)
    kInitTp,       // musl, linked statically (src/env/__init_tls.c)
    kStartMain,    // both
    kGetSpecific,  // both; up to glibc 2.33 in libpthread
    kSelf,         // both
    kNames,
};
constexpr std::array<std::string_view, kNames> kSymbolNames = {
    "gnu_get_libc_version", "__libc_setup_tls",    "__init_tp",
    "__libc_start_main",    "pthread_getspecific", "pthread_self"};
using Symbols = std::vector<std::optional<ElfSymbol>>;

// musl's dynamic linker prints this with --help and when started without arguments (ldso/dynlink.c).
bool says_that_it_is_musl(const ElfImage& image) {
    static constexpr std::string_view text = "musl libc (";
    const auto section = image.section(".rodata");
    if (!section || !section->has_bytes || section->size > kMaxRodata) return false;
    std::vector<uint8_t> bytes(section->size);
    if (!image.read_at_vaddr(section->vaddr, bytes)) return false;
    return std::search(bytes.begin(), bytes.end(), text.begin(), text.end()) != bytes.end();
}

// glibc keeps struct pthread below the thread pointer on aarch64; how far is in the code of pthread_self.
std::optional<int32_t> pthread_self_delta(const ElfImage& image, const std::optional<ElfSymbol>& self) {
    if (image.architecture() == Architecture::x86_64) return 0;
    if (!self) return std::nullopt;
    const auto code = read_function(image, *self);
    if (!code || code->thread_pointer_offsets.size() != 1) return std::nullopt;
    const int64_t delta = code->thread_pointer_offsets.front();
    if (delta >= 0 || delta < -65536) return std::nullopt;
    return static_cast<int32_t>(delta);
}

LibcFacts glibc_facts(const ElfImage& image, const Symbols& symbols) {
    // struct pthread, nptl/descr.h: specific_1stblock and specific; checked with 2.21 - 2.43
    // (docs/design.md).
    const bool x86 = image.architecture() == Architecture::x86_64;
    LibcFacts facts;
    facts.kind = LibcKind::glibc;
    facts.layout.dtv = x86 ? 8 : 0;
    facts.layout.dtv_entry_bytes = 16;
    if (const auto self = pthread_self_delta(image, symbols[kSelf])) {
        facts.layout.thread_id_delta = *self;
        facts.layout.key_block = x86 ? 0x310 : *self + 0x110;
        facts.layout.key_table = x86 ? 0x510 : *self + 0x310;
    }
    return facts;
}

LibcFacts musl_facts(const ElfImage& image, const Symbols& symbols) {
    LibcFacts facts;
    facts.kind = LibcKind::musl;
    facts.layout.dtv = image.architecture() == Architecture::x86_64 ? 8 : -8;
    facts.layout.dtv_entry_bytes = 8;
    if (const auto self = pthread_self_delta(image, symbols[kSelf])) facts.layout.thread_id_delta = *self;
    if (!symbols[kGetSpecific]) return facts;
    // `self->tsd[key]`: the only thing that it reads at a fixed distance from the thread pointer is tsd.
    const auto code = read_function(image, *symbols[kGetSpecific]);
    if (!code || code->thread_locals.size() != 1) return facts;
    const ThreadLocalReference& tsd = code->thread_locals.front();
    if (tsd.kind != ThreadLocalReference::Kind::thread_pointer || tsd.bytes != 8) return facts;
    if (tsd.displacement < -4096 || tsd.displacement > 4096) return facts;
    facts.layout.key_table = static_cast<int32_t>(tsd.displacement);
    facts.layout.key_indirect = 1;
    return facts;
}

}  // namespace

std::string_view to_string(LibcKind kind) {
    switch (kind) {
        case LibcKind::glibc:
            return "glibc";
        case LibcKind::musl:
            return "musl";
        case LibcKind::unknown:
            break;
    }
    return "unknown C library";
}

LibcFacts unknown_libc() {
    return {};
}

std::optional<LibcFacts> examine_libc(const ElfImage& image) {
    const Symbols dynamic = image.dynamic_symbols(kSymbolNames);
    if (dynamic[kGnuVersion]) return glibc_facts(image, dynamic);
    if (dynamic[kStartMain] && dynamic[kGetSpecific] && says_that_it_is_musl(image)) {
        return musl_facts(image, dynamic);
    }
    if (image.needs_libraries()) return std::nullopt;  // its C library is another file
    const Symbols all = image.symbols(kSymbolNames);
    if (all[kSetupTls] || all[kGnuVersion]) return glibc_facts(image, all);
    if (all[kInitTp] && all[kGetSpecific]) return musl_facts(image, all);
    return std::nullopt;
}

}  // namespace pyperf
