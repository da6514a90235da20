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

// The name of a symbol up to its NUL, or the first `limit` bytes of it.
std::string_view name_of(const SymbolTable& table, const Elf64_Sym& symbol, size_t limit) {
    if (symbol.st_name >= table.strings.size()) return {};
    const auto* begin = reinterpret_cast<const char*>(table.strings.data()) + symbol.st_name;
    return {begin, ::strnlen(begin, std::min(limit, table.strings.size() - symbol.st_name))};
}

size_t count_of(const SymbolTable& table) {
    return table.entries.size() / sizeof(Elf64_Sym);
}

Elf64_Sym symbol_at(const SymbolTable& table, size_t index) {
    Elf64_Sym symbol;
    std::memcpy(&symbol, table.entries.data() + index * sizeof symbol, sizeof symbol);
    return symbol;
}

}  // namespace

uint32_t RelocationTable::number_of(std::shared_ptr<const SymbolTable> symbols) {
    const auto known = std::ranges::find(tables_, symbols);
    const auto number = static_cast<uint32_t>(known - tables_.begin());
    if (known == tables_.end()) tables_.push_back(std::move(symbols));
    return number;
}

void RelocationTable::add_rela(const std::vector<uint8_t>& bytes,
                               std::shared_ptr<const SymbolTable> symbols) {
    const size_t count = bytes.size() / sizeof(Elf64_Rela);
    const uint32_t table = number_of(std::move(symbols));
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
    const uint32_t table = number_of(nullptr);
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
    if (entry.symbol >= count_of(*table)) return {};
    const Elf64_Sym symbol = symbol_at(*table, entry.symbol);
    if (symbol.st_shndx != SHN_UNDEF) value = symbol.st_value;
    return std::string(name_of(*table, symbol, kMaxSymbolName));
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
        // First which symbols have this name, then whether an entry has one of them: a name for each entry
        // would cost much more, and a hostile file has the name many times.
        std::vector<bool> has_name(count_of(*tables_[i]), false);
        for (size_t index = 1; index < has_name.size(); ++index)
            has_name[index] =
                name_of(*tables_[i], symbol_at(*tables_[i], index), symbol.size() + 1) == symbol;
        const auto is_named = [&](const Entry& entry) {
            return entry.table == i && entry.symbol < has_name.size() && has_name[entry.symbol];
        };
        if (std::ranges::any_of(entries_, is_named)) return true;
    }
    return false;
}

std::map<std::string, uint64_t> RelocationTable::of_type(uint32_t type) const {
    std::map<std::string, uint64_t> found;
    for (const Entry& entry : entries_) {
        if (entry.type != type) continue;
        if (found.size() >= kMaxOfType) break;
        std::optional<uint64_t> value;
        std::string name = symbol_name(entry, value);
        if (!name.empty() && name.size() < kMaxSymbolName) found.emplace(std::move(name), entry.vaddr);
    }
    return found;
}

}  // namespace pyperf
