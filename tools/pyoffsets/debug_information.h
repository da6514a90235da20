// SPDX-License-Identifier: Apache-2.0
// Structures from an interpreter's own debug information (libdw).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "layout/layout.h"
#include "result.h"
#include "structure_source.h"

namespace pyperf::offsets {

struct DebugStructures {
    std::optional<PythonVersion> version;  // by the value of the Py_Version symbol (3.11+)
    std::string architecture;              // "x86_64", "aarch64"
    std::string c_library;                 // "glibc", "musl": by the library that the file needs
    std::unique_ptr<StructureSource> source;
};

// path: an ELF file with DWARF, like an unstripped libpython3.11.so.1.0. Errors: no such file, no ELF, no
// debug information, another machine or C library.
Result<DebugStructures> read_debug_information(const std::string& path);

}  // namespace pyperf::offsets
