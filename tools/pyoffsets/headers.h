// SPDX-License-Identifier: Apache-2.0
// Structures from CPython's own headers, as a C compiler for the target lays them out (libclang).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "layout/layout.h"
#include "result.h"
#include "structure_source.h"

namespace pyperf::offsets {

// For which machine and C library the headers are laid out.
struct HeaderTarget {
    std::string architecture;  // "x86_64", "aarch64"
    std::string c_library;     // "glibc", "musl"
    std::string include;       // its C library's headers; empty: the compiler's defaults (the machine's own)

    // "x86_64", "aarch64-musl", "aarch64-glibc=/usr/aarch64-linux-gnu/include". Without a directory: the one
    // where Debian's packages have that library's headers.
    static Result<HeaderTarget> parse(std::string_view text);
};

struct HeaderRequest {
    std::string directory;  // with Python.h and patchlevel.h: ".../include/python3.11"
    HeaderTarget target;
    std::vector<std::string> defines;  // "Py_GIL_DISABLED=1"
    // "objimpl.h=FILE": FILE's text is read in place of the directory's own header of that name.
    std::vector<std::string> replacements;
};

struct HeaderStructures {
    PythonVersion version;  // by patchlevel.h
    std::unique_ptr<StructureSource> source;
};

// Errors: no such directory or header, a version whose headers are not known, what the compiler says first.
Result<HeaderStructures> read_headers(const HeaderRequest& request);

}  // namespace pyperf::offsets
