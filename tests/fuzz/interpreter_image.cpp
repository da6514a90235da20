// SPDX-License-Identifier: Apache-2.0
// An ELF file that may hold CPython, or be a C library. Every fact is in its range: a version that exists,
// debug offsets that begin with their cookie and lie in the file, sizes and member offsets within what a type
// object can say, thread-locals inside the thread's block; and nothing is found in a file that
// might_hold_python() rules out.
#include "elf/interpreter_image.h"

#include "input.h"
#include "process/libc.h"
#include "unit/elf/elf_builder.h"

using namespace pyperf;
using namespace pyperf_test;

namespace {

void check(const InterpreterImage& found, const ElfImage& image, size_t file_bytes) {
    require(found.version.major >= 2 && found.version.hex() != 0, "a version that exists");
    require(PythonVersion::from_hex(found.version.hex()) == found.version, "a version is its PY_VERSION_HEX");
    require(found.runtime || found.current, "there is a root to start from");
    if (!found.debug_offsets.empty()) {
        const std::string_view cookie(reinterpret_cast<const char*>(found.debug_offsets.data()), 8);
        require(found.debug_offsets.size() >= 24 && cookie == "xdebugpy",
                "debug offsets begin with the cookie");
        require(found.debug_offsets.size() <= std::min<size_t>(2048, file_bytes),
                "debug offsets lie in the file");
    }
    if (found.code_type_basicsize)
        require(*found.code_type_basicsize != 0 && *found.code_type_basicsize <= 1 << 20,
                "size of a code object");
    for (const auto* members : {&found.code_members, &found.frame_members}) {
        require(members->size() <= 64, "number of members");
        for (const auto& [name, offset] : *members)
            require(name.size() < 64 && offset <= 65536, "a member's name and offset");
    }
    for (const auto& tls : {found.current_tls, found.bound_tls}) {
        if (!tls || tls->kind != TlsVariable::Kind::thread_pointer_offset) continue;
        const auto reach = static_cast<int64_t>(image.tls()->memory_size + image.tls()->align + 16);
        require(tls->offset >= -reach && tls->offset + 8 <= reach, "a thread-local lies in the block");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto image = ElfImage::open(file_of({data, data + size}), "fuzz");
    if (!image) return 0;
    const auto found = examine_interpreter(*image);
    if (!found) {
        require_told(found.error());
    } else if (*found) {
        require(might_hold_python(*image), "what holds CPython might hold it");
        check(**found, *image, size);
    }
    if (const auto libc = examine_libc(*image)) {
        require(libc->kind != LibcKind::unknown, "a C library that is found is a known one");
        require(libc->layout.thread_id_delta <= 0, "the thread's descriptor lies at or below its pointer");
    }
    return 0;
}
