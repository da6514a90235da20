// SPDX-License-Identifier: Apache-2.0
// Where the interpreter's thread-local variables are, from the code of the exported functions that read them.
// Part of interpreter_image.cpp.
#pragma once

#include <optional>

#include "elf/interpreter_image.h"

namespace pyperf {

// reader: an exported function that reads the variable and no other thread-local. symbol: the variable's own
// symbol, where the file has it. Nothing: neither tells. Errors: both tell, and not the same.
Result<std::optional<TlsVariable>> find_thread_local(const ElfImage& image,
                                                     const std::optional<ElfSymbol>& reader,
                                                     const std::optional<ElfSymbol>& symbol);

}  // namespace pyperf
