// SPDX-License-Identifier: Apache-2.0
// The exact CPython version of an ELF file. Part of interpreter_image.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "elf/image.h"
#include "layout/layout.h"
#include "result.h"

namespace pyperf {

struct VersionFound {
    PythonVersion version;
    std::string source;
};

// py_version, get_version: the symbols Py_Version (3.11 and later) and Py_GetVersion; debug_offsets: as in
// InterpreterImage. Where several of them speak they must agree.
Result<VersionFound> find_version(const ElfImage& image, const std::optional<ElfSymbol>& py_version,
                                  const std::optional<ElfSymbol>& get_version,
                                  const std::vector<uint8_t>& debug_offsets);

}  // namespace pyperf
