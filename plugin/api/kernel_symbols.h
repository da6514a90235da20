// SPDX-License-Identifier: Apache-2.0
// Names of kernel addresses, by libbcc's table of /proc/kallsyms.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

namespace pyperf {

class KernelSymbols {
  public:
    KernelSymbols() = default;
    ~KernelSymbols();
    KernelSymbols(const KernelSymbols&) = delete;
    KernelSymbols& operator=(const KernelSymbols&) = delete;

    // The function that holds the address; nullptr: not known. Lives as long as this object. The table is
    // read with the first question.
    const char* name(uint64_t address);

  private:
    void* table_ = nullptr;
    std::unordered_map<uint64_t, std::string> names_;
};

}  // namespace pyperf
