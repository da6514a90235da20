// SPDX-License-Identifier: Apache-2.0
// The dynamic relocations of one ELF file, by the address of the word that each fills. In: the bytes of its
// relocation sections. Pure; part of image.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elf/image.h"

namespace pyperf {

constexpr uint32_t kShtRelr = 19;           // SHT_RELR; elf.h has it from glibc 2.36 on
constexpr uint32_t kRelrType = UINT32_MAX;  // our own number: a relative relocation packed in DT_RELR

// Names overlap in their table, so a small file can have any number of long ones. These are more than
// anything of CPython's needs.
constexpr size_t kMaxSymbolName = 256;
constexpr size_t kMaxOfType = 4096;

struct SymbolTable {
    std::vector<uint8_t> entries;  // Elf64_Sym
    std::vector<uint8_t> strings;
};

class RelocationTable {
  public:
    void add_rela(const std::vector<uint8_t>& bytes, std::shared_ptr<const SymbolTable> symbols);
    void add_relr(const std::vector<uint8_t>& bytes);
    void finish();

    // Its symbol's name is cut at kMaxSymbolName bytes.
    std::optional<ElfRelocation> find(uint64_t vaddr) const;
    // Symbol name -> address, of all relocations of one type that name a symbol; not more than kMaxOfType,
    // and none whose name is that long.
    std::map<std::string, uint64_t> of_type(uint32_t type) const;

    // Whether any relocation is against this symbol.
    bool names(std::string_view symbol) const;

  private:
    struct Entry {
        uint64_t vaddr;
        int64_t addend;
        uint32_t type;
        uint32_t symbol;
        uint32_t table;  // index in tables_
    };
    uint32_t number_of(std::shared_ptr<const SymbolTable> symbols);
    std::string symbol_name(const Entry& entry, std::optional<uint64_t>& value) const;

    std::vector<Entry> entries_;                              // by vaddr, once finished
    std::vector<std::shared_ptr<const SymbolTable>> tables_;  // each once
};

struct ElfImage::Relocations {
    RelocationTable table;
};

}  // namespace pyperf
