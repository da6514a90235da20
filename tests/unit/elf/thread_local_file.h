// SPDX-License-Identifier: Apache-2.0
// The ELF file around a function that reads a thread-local variable.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "elf_builder.h"

namespace pyperf_test {

// All but the function's code. A fuzz target's input is this and the code.
struct ThreadLocalHead {
    uint8_t aarch64 = 0;
    uint8_t executable = 0;
    uint8_t align_shift = 3;
    uint8_t got_relocation = 0;  // type of that of the table's first word; 0: none
    uint8_t second_relocation = 0;
    uint8_t has_symbol = 0;
    uint16_t tls_bytes = 64;
    uint64_t symbol_value = 16;
    int64_t addend = 0;
    uint64_t got[2] = {};
};
static_assert(sizeof(ThreadLocalHead) == 40);

// Where thread_local_file() has the table and the code.
constexpr uint64_t kGotVaddr = ElfBuilder::kBase + 1024;
constexpr uint64_t kCodeVaddr = kGotVaddr + 16;

inline std::vector<uint8_t> thread_local_file(const ThreadLocalHead& head, std::span<const uint8_t> code) {
    ElfBuilder builder;
    builder.machine = (head.aarch64 & 1) != 0 ? EM_AARCH64 : EM_X86_64;
    builder.type = (head.executable & 1) != 0 ? ET_EXEC : ET_DYN;
    builder.tls_bytes = head.tls_bytes;
    builder.tls_align = uint64_t{1} << (head.align_shift % 16);
    ElfBuilder::Bytes got(sizeof head.got);
    std::memcpy(got.data(), head.got, sizeof head.got);
    builder.section(".got", got);
    builder.section(".text", {code.begin(), code.end()});
    builder.symbol("variable", head.symbol_value, 8, STT_TLS);
    builder.symbol("reader", kCodeVaddr, code.size());
    // R_X86_64_DTPMOD64, _TPOFF64 and _TLSDESC are below 256, those of aarch64 from 1024 on.
    const uint32_t base = (head.aarch64 & 1) != 0 ? 1024 : 0;
    const uint32_t symbol = head.has_symbol & 1;
    if (head.got_relocation != 0) builder.rela(kGotVaddr, base + head.got_relocation, symbol, head.addend);
    if (head.second_relocation != 0)
        builder.rela(kGotVaddr + 8, base + head.second_relocation, symbol, head.addend);
    return builder.build();
}

}  // namespace pyperf_test
