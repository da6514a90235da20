// SPDX-License-Identifier: Apache-2.0
// Which C library a file is (or has linked into it), and where that keeps what a profiler reads: values of
// pthread keys and the table of thread-local blocks (DTV). In: an ElfImage. Out: numbers for struct
// pyperf_libc.
#pragma once

#include <optional>
#include <string_view>

#include "elf/image.h"
#include "records.h"

namespace pyperf {

enum class LibcKind { unknown, glibc, musl };
std::string_view to_string(LibcKind kind);

struct LibcFacts {
    LibcKind kind = LibcKind::unknown;
    // key_table == 0: values of keys cannot be found. dtv_entry_bytes == 0: the DTV cannot be used.
    pyperf_libc layout{};
};

// Nothing: the file neither is a C library nor has one linked into it that its symbols would tell of.
std::optional<LibcFacts> examine_libc(const ElfImage& image);

// What holds in every process of this architecture whose C library is not known: on x86_64 the thread pointer
// is the thread's id in glibc and in musl; nothing else can be said.
LibcFacts unknown_libc();

}  // namespace pyperf
