// SPDX-License-Identifier: Apache-2.0
#include "elf/relocations.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace pyperf {
namespace {

// More than any interpreter has (about 40,000); DT_RELR packs 63 into one word, so the file's size is no
// bound.
constexpr size_t kMaxRelocations = 4'000'000;

}  // namespace

void RelocationTable::add_rela(const std::vector<uint8_t>& bytes,
                               std::shared_ptr<const SymbolTable> symbols) {
    const size_t count = bytes.size() / sizeof(Elf64_Rela);
    const auto table = static_cast<uint32_t>(tables_.size());
    tables_.push_back(std::move(symbols));
    for (size_t i = 0; i < count && entries_.size() < kMaxRelocations; ++i) {
        Elf64_Rela rela;
        std::memcpy(&rela, bytes.data() + i * sizeof rela, sizeof rela);
        entries_.push_back({rela.r_offset, rela.r_addend, static_cast<uint32_t>(ELF64_R_TYPE(rela.r_info)),
                            static_cast<uint32_t>(ELF64_R_SYM(rela.r_info)), table});
    }
}

void RelocationTable::add_relr(const std::vector<uint8_t>& bytes) {
    // generic-abi, "Relative relocations in a compact form": an even word is an address; an odd one is a
    // bitmap for the 63 words that follow the last one.
    const auto table = static_cast<uint32_t>(tables_.size());
    tables_.push_back(nullptr);
    uint64_t base = 0;
    for (size_t at = 0; at + 8 <= bytes.size() && entries_.size() < kMaxRelocations; at += 8) {
        uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, sizeof word);
        if ((word & 1) == 0) {
            entries_.push_back({word, 0, kRelrType, 0, table});
            base = word + 8;
            continue;
        }
        for (uint32_t bit = 0; bit < 63; ++bit) {
            if ((word >> (bit + 1)) & 1) entries_.push_back({base + 8 * bit, 0, kRelrType, 0, table});
        }
        base += 63 * 8;
    }
}

void RelocationTable::finish() {
    std::ranges::stable_sort(entries_, {}, &Entry::vaddr);
}

std::string RelocationTable::symbol_name(const Entry& entry, std::optional<uint64_t>& value) const {
    const auto& table = tables_[entry.table];
    if (!table || entry.symbol == 0) return {};
    if (entry.symbol >= table->entries.size() / sizeof(Elf64_Sym)) return {};
    Elf64_Sym symbol;
    std::memcpy(&symbol, table->entries.data() + entry.symbol * sizeof symbol, sizeof symbol);
    if (symbol.st_shndx != SHN_UNDEF) value = symbol.st_value;
    if (symbol.st_name >= table->strings.size()) return {};
    const auto* begin = reinterpret_cast<const char*>(table->strings.data()) + symbol.st_name;
    return std::string(begin, ::strnlen(begin, table->strings.size() - symbol.st_name));
}

std::optional<ElfRelocation> RelocationTable::find(uint64_t vaddr) const {
    const auto at = std::ranges::lower_bound(entries_, vaddr, {}, &Entry::vaddr);
    if (at == entries_.end() || at->vaddr != vaddr) return std::nullopt;
    ElfRelocation relocation{at->vaddr, at->type, at->addend, {}, {}};
    relocation.symbol = symbol_name(*at, relocation.symbol_value);
    return relocation;
}

bool RelocationTable::names(std::string_view symbol) const {
    for (size_t i = 0; i < tables_.size(); ++i) {
        if (!tables_[i]) continue;
        // The symbol's number first: comparing numbers is cheaper than making a name for each relocation.
        const auto& [symbols, strings] = *tables_[i];
        for (uint32_t index = 1; index < symbols.size() / sizeof(Elf64_Sym); ++index) {
            std::optional<uint64_t> value;
            const Entry probe{0, 0, 0, index, static_cast<uint32_t>(i)};
            if (symbol_name(probe, value) != symbol) continue;
            if (std::ranges::any_of(entries_, [&](const Entry& entry) {
                    return entry.symbol == index && tables_[entry.table] == tables_[i];
                })) {
                return true;
            }
        }
    }
    return false;
}

std::map<std::string, uint64_t> RelocationTable::of_type(uint32_t type) const {
    std::map<std::string, uint64_t> found;
    for (const Entry& entry : entries_) {
        if (entry.type != type) continue;
        std::optional<uint64_t> value;
        std::string name = symbol_name(entry, value);
        if (!name.empty()) found.emplace(std::move(name), entry.vaddr);
    }
    return found;
}

}  // namespace pyperf
