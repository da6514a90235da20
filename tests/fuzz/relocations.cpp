// SPDX-License-Identifier: Apache-2.0
// The bytes of relocation sections. Every address that a packed section (DT_RELR) spells out has its
// relocation, what is found is what was asked for, and a symbol that a relocation names is one that the table
// has.
#include "elf/relocations.h"

#include <elf.h>

#include "input.h"

using namespace pyperf;
using namespace pyperf_test;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Input input(data, size);
    const size_t symbol_bytes = input.take<uint16_t>();
    const size_t string_bytes = input.take<uint16_t>();
    const size_t packed_bytes = input.take<uint16_t>();
    const SymbolTable symbols{input.take_bytes(symbol_bytes), input.take_bytes(string_bytes)};
    const auto packed = input.take_bytes(packed_bytes);
    const std::vector<uint8_t> rela(input.rest().begin(), input.rest().end());

    RelocationTable table;
    table.add_rela(rela, std::make_shared<const SymbolTable>(symbols));
    table.add_relr(packed);
    table.finish();

    for (Input words(packed.data(), packed.size()); words.rest().size() >= 8;) {
        const auto word = words.take<uint64_t>();
        if ((word & 1) == 0)
            require(table.find(word).has_value(), "an address of DT_RELR has its relocation");
    }
    for (Input entries(rela.data(), rela.size()); entries.rest().size() >= sizeof(Elf64_Rela);) {
        const auto entry = entries.take<Elf64_Rela>();
        const auto found = table.find(entry.r_offset);
        require(found && found->vaddr == entry.r_offset, "an entry is found by its address");
        require(found->symbol.empty() || table.names(found->symbol),
                "the symbol of a relocation is named by one");
        for (const auto& [name, vaddr] : table.of_type(static_cast<uint32_t>(ELF64_R_TYPE(entry.r_info)))) {
            require(!name.empty() && table.find(vaddr), "a named relocation is there");
        }
        if (rela.size() > 64 * sizeof entry) break;  // once is enough for a large table
    }
    return 0;
}
