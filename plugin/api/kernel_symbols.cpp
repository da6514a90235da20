// SPDX-License-Identifier: Apache-2.0
#include "api/kernel_symbols.h"

#include <bcc/bcc_syms.h>

namespace pyperf {

KernelSymbols::~KernelSymbols() {
    if (table_) bcc_free_symcache(table_, -1);
}

const char* KernelSymbols::name(uint64_t address) {
    const auto known = names_.find(address);
    if (known != names_.end()) return known->second.empty() ? nullptr : known->second.c_str();
    if (!table_) table_ = bcc_symcache_new(-1, nullptr);
    bcc_symbol symbol{};
    std::string& name = names_[address];
    if (table_ && bcc_symcache_resolve_no_demangle(table_, address, &symbol) == 0 && symbol.name)
        name = symbol.name;
    return name.empty() ? nullptr : name.c_str();
}

}  // namespace pyperf
