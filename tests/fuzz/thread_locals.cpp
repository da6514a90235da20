// SPDX-License-Identifier: Apache-2.0
// A function that reads a thread-local variable: any code, any global offset table and any relocations of it,
// in a small ELF file. A variable at a fixed distance from the thread pointer lies whole in the file's own
// block; one that is found through the table has a relocation there.
#include "elf/thread_locals.h"

#include "input.h"
#include "unit/elf/thread_local_file.h"

using namespace pyperf;
using namespace pyperf_test;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Input input(data, size);
    const auto head = input.take<ThreadLocalHead>();
    const auto image = ElfImage::open(file_of(thread_local_file(head, input.rest())), "fuzz");
    if (!image) return 0;
    const auto reader = image->symbol("reader");
    const auto found = find_thread_local(*image, reader, image->symbol("variable"));
    if (!found) {
        require_told(found.error());
        return 0;
    }
    if (!*found) return 0;
    const TlsVariable& variable = **found;
    const auto& tls = image->tls();
    if (variable.kind != TlsVariable::Kind::thread_pointer_offset) {
        require(image->relocation_at(variable.got_word).has_value(), "a word of the table has a relocation");
        require(variable.offset >= 0, "nothing lies in front of a variable");
        if (variable.kind == TlsVariable::Kind::got_module_and_offset)
            require(tls && static_cast<uint64_t>(variable.offset) + 8 <= tls->memory_size,
                    "it lies in the block");
        return 0;
    }
    require(tls.has_value(), "a fixed distance needs a block of the file's own");
    const auto align = static_cast<int64_t>(tls->align);
    const auto bytes = static_cast<int64_t>(tls->memory_size);
    const auto up = [&](int64_t value) { return (value + align - 1) / align * align; };
    const int64_t first = image->architecture() == Architecture::x86_64 ? -up(bytes) : up(16);
    require(variable.offset >= first && variable.offset <= first + bytes - 8,
            "the variable lies in the block");
    return 0;
}
