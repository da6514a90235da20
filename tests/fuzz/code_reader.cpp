// SPDX-License-Identifier: Apache-2.0
// Machine code of both architectures. Code that is cut off, or read up to its first return only, refers to
// the beginning of what the whole refers to; an instruction makes at most two references; and what is loaded
// is as large as some register.
#include "elf/code_reader.h"

#include "input.h"

using namespace pyperf;
using namespace pyperf_test;

namespace {

template <typename T>
bool begins_with(const std::vector<T>& whole, const std::vector<T>& part) {
    return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

bool begins_with(const CodeReferences& whole, const CodeReferences& part) {
    return begins_with(whole.addresses, part.addresses) &&
           begins_with(whole.thread_locals, part.thread_locals) &&
           begins_with(whole.thread_pointer_offsets, part.thread_pointer_offsets);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Input input(data, size);
    const bool x86 = (input.take<uint8_t>() & 1) == 0;
    const auto cut = input.take<uint8_t>();
    const auto vaddr = input.take<uint64_t>();
    const auto architecture = x86 ? Architecture::x86_64 : Architecture::aarch64;
    const auto code = input.rest().first(std::min<size_t>(input.rest().size(), kMaxFunctionBytes));

    const auto whole = read_code(architecture, code, vaddr, true);
    require(static_cast<bool>(whole), "both architectures can be read");
    require(whole->addresses.size() + whole->thread_locals.size() <= 2 * code.size(), "number of references");
    for (const AddressReference& reference : whole->addresses)
        require(reference.bytes <= 64, "a load's or store's size");
    const auto to_return = read_code(architecture, code, vaddr, false);
    require(to_return && begins_with(*whole, *to_return), "reading to the first return gives the beginning");
    Input again(code.data(), code.size());
    const auto beginning = read_code(architecture, again.take_bytes(cut), vaddr, true);
    require(beginning && begins_with(*whole, *beginning), "code that is cut off gives the beginning");
    return 0;
}
