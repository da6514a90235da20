// SPDX-License-Identifier: Apache-2.0
#include "elf/relocations.h"

#include <elf.h>

#include <cstring>

#include "catch2_header.h"

using namespace pyperf;
using Bytes = std::vector<uint8_t>;

namespace {

template <typename T>
Bytes bytes_of(const std::vector<T>& entries) {
    Bytes bytes(entries.size() * sizeof(T));
    std::memcpy(bytes.data(), entries.data(), bytes.size());
    return bytes;
}

// `count` symbols behind the empty one, each `step` bytes farther in `names` than the one before.
std::shared_ptr<const SymbolTable> symbols(uint32_t count, uint32_t step, const std::string& names) {
    std::vector<Elf64_Sym> entries(count + 1);
    for (uint32_t i = 1; i <= count; ++i) entries[i] = {1 + (i - 1) * step, 0, 0, 1, 0x1000 + i, 8};
    Bytes strings{0};
    strings.insert(strings.end(), names.begin(), names.end());
    strings.push_back(0);
    return std::make_shared<const SymbolTable>(SymbolTable{bytes_of(entries), strings});
}

// One relocation for each symbol.
Bytes relocations(uint32_t count, uint32_t type) {
    std::vector<Elf64_Rela> entries;
    for (uint64_t i = 1; i <= count; ++i) entries.push_back({8 * i, ELF64_R_INFO(i, uint64_t{type}), 0});
    return bytes_of(entries);
}

}  // namespace

TEST_CASE("a name that a table has many times is looked for once") {
    constexpr uint32_t many = 200'000;
    RelocationTable table;
    const auto names = symbols(many, 0, "wanted");
    table.add_rela(relocations(1, R_X86_64_64), symbols(1, 0, "other"));
    table.add_rela(bytes_of(std::vector<Elf64_Rela>(many)), names);  // none of them names one
    table.finish();
    CHECK(table.names("other"));
    CHECK_FALSE(table.names("wanted"));
    CHECK_FALSE(table.names("wante"));
    CHECK_FALSE(table.names(""));
}

TEST_CASE("names that share their bytes are not copied without end") {
    constexpr uint32_t many = 100'000;
    RelocationTable table;
    table.add_rela(relocations(many, R_X86_64_COPY), symbols(many, 1, std::string(many, 'x')));
    table.finish();
    REQUIRE(table.find(8));
    CHECK(table.find(8)->symbol == std::string(kMaxSymbolName, 'x'));
    CHECK(table.of_type(R_X86_64_COPY).size() == kMaxSymbolName - 1);
    CHECK(table.names("x"));
    CHECK(table.names(std::string(1000, 'x')));

    std::string numbers;
    for (uint32_t i = 0; i < many; ++i) numbers += std::to_string(100'000 + i) + '\0';
    RelocationTable other;
    other.add_rela(relocations(many, R_X86_64_COPY), symbols(many, 7, numbers));
    other.finish();
    CHECK(other.of_type(R_X86_64_COPY).size() == kMaxOfType);
    CHECK(other.of_type(R_X86_64_64).empty());
}
