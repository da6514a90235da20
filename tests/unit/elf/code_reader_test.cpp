// SPDX-License-Identifier: Apache-2.0
#include "elf/code_reader.h"

#include "catch2_header.h"

using namespace pyperf;
using Bytes = std::vector<uint8_t>;
using Use = AddressReference::Use;
using Kind = ThreadLocalReference::Kind;

namespace {

CodeReferences read(Architecture architecture, const Bytes& code, uint64_t vaddr = 0x1000,
                    bool sized = true) {
    auto found = read_code(architecture, code, vaddr, sized);
    REQUIRE(found);
    return *found;
}
CodeReferences x86(const Bytes& code, uint64_t vaddr = 0x1000, bool sized = true) {
    return read(Architecture::x86_64, code, vaddr, sized);
}
// Instructions as words, as objdump prints them.
CodeReferences arm(std::initializer_list<uint32_t> words, uint64_t vaddr = 0x10000, bool sized = true) {
    Bytes code;
    for (const uint32_t word : words) {
        for (int i = 0; i < 4; ++i) code.push_back(static_cast<uint8_t>(word >> (8 * i)));
    }
    return read(Architecture::aarch64, code, vaddr, sized);
}

}  // namespace

TEST_CASE("x86_64: addresses that code makes, loads from and stores to") {
    // mov 0x10(%rip),%rax; ret                  (PyInterpreterState_Head of 3.6)
    CHECK(x86({0x48, 0x8b, 0x05, 0x10, 0, 0, 0, 0xc3}).addresses ==
          std::vector<AddressReference>{{Use::load, 0x1017, 0, 8}});
    // mov 0x10(%rip),%edi                       (an int)
    CHECK(x86({0x8b, 0x3d, 0x10, 0, 0, 0}).addresses ==
          std::vector<AddressReference>{{Use::load, 0x1016, 0, 4}});
    // lea -0x100(%rip),%rcx
    CHECK(x86({0x48, 0x8d, 0x0d, 0x00, 0xff, 0xff, 0xff}).addresses ==
          std::vector<AddressReference>{{Use::address, 0xf07, 0, 0}});
    // mov $0x6d227c,%ecx
    CHECK(x86({0xb9, 0x7c, 0x22, 0x6d, 0x00}).addresses ==
          std::vector<AddressReference>{{Use::address, 0x6d227c, 0, 0}});
    // mov 0x10(%rip),%rax; mov 0x28(%rax),%rax  (through the GOT)
    CHECK(x86({0x48, 0x8b, 0x05, 0x10, 0, 0, 0, 0x48, 0x8b, 0x40, 0x28}).addresses ==
          std::vector<AddressReference>{{Use::load, 0x1017, 0, 8}, {Use::load_through, 0x1017, 0x28, 8}});
    // mov %rax,0x10(%rip)
    CHECK(x86({0x48, 0x89, 0x05, 0x10, 0, 0, 0}).addresses ==
          std::vector<AddressReference>{{Use::store, 0x1017, 0, 8}});
}

TEST_CASE("x86_64: what is no longer in a register is not followed") {
    // mov 0x10(%rip),%rax; xor %eax,%eax; mov 0x28(%rax),%rcx
    CHECK(x86({0x48, 0x8b, 0x05, 0x10, 0, 0, 0, 0x31, 0xc0, 0x48, 0x8b, 0x48, 0x28}).addresses.size() == 1);
    // mov 0x10(%rip),%rax; call; mov 0x28(%rax),%rcx
    CHECK(x86({0x48, 0x8b, 0x05, 0x10, 0, 0, 0, 0xe8, 0, 0, 0, 0, 0x48, 0x8b, 0x48, 0x28}).addresses.size() ==
          1);
    // mov 0x10(%rip),%rax; ret; mov 0x28(%rax),%rcx: reached from elsewhere
    CHECK(x86({0x48, 0x8b, 0x05, 0x10, 0, 0, 0, 0xc3, 0x48, 0x8b, 0x48, 0x28}).addresses.size() == 1);
}

TEST_CASE("x86_64: thread-local variables in every access model") {
    // mov %fs:-0x18,%rax                          (local-exec)
    CHECK(x86({0x64, 0x48, 0x8b, 0x04, 0x25, 0xe8, 0xff, 0xff, 0xff}).thread_locals ==
          std::vector<ThreadLocalReference>{{Kind::thread_pointer, 0, -0x18, 8}});
    // mov %fs:0,%rax; lea -0x18(%rax),%rax; mov (%rax),%rax   (general-dynamic, relaxed by the linker)
    CHECK(x86({0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0, 0x48, 0x8d, 0x80, 0xe8, 0xff, 0xff, 0xff, 0x48, 0x8b,
               0x00})
              .thread_locals == std::vector<ThreadLocalReference>{{Kind::thread_pointer, 0, -0x18, 8}});
    // mov $-0x18,%rax; mov %fs:(%rax),%rax        (initial-exec, relaxed)
    CHECK(x86({0x48, 0xc7, 0xc0, 0xe8, 0xff, 0xff, 0xff, 0x64, 0x48, 0x8b, 0x00}).thread_locals ==
          std::vector<ThreadLocalReference>{{Kind::thread_pointer, 0, -0x18, 8}});
    // mov 0x10(%rip),%rax; mov %fs:(%rax),%rax    (initial-exec)
    CHECK(x86({0x48, 0x8b, 0x05, 0x10, 0, 0, 0, 0x64, 0x48, 0x8b, 0x00}).thread_locals ==
          std::vector<ThreadLocalReference>{{Kind::got_offset, 0x1017, 0, 8}});
    // data16 lea 0x100(%rip),%rdi; data16 data16 rex.W call __tls_get_addr; mov (%rax),%rax (general-dynamic)
    CHECK(
        x86({0x66, 0x48, 0x8d, 0x3d, 0x00, 0x01, 0, 0, 0x66, 0x66, 0x48, 0xe8, 0, 0, 0, 0, 0x48, 0x8b, 0x00})
            .thread_locals == std::vector<ThreadLocalReference>{{Kind::got_module, 0x1108, 0, 8}});
    // lea 0x100(%rip),%rdi; call; mov 0x18(%rax),%rax   (local-dynamic)
    CHECK(x86({0x48, 0x8d, 0x3d, 0x00, 0x01, 0, 0, 0xe8, 0, 0, 0, 0, 0x48, 0x8b, 0x40, 0x18}).thread_locals ==
          std::vector<ThreadLocalReference>{{Kind::got_module, 0x1107, 0x18, 8}});
    // data16 lea 0x100(%rip),%rdi; data16 rex.W call *0x200(%rip); mov (%rax),%rax      (-fno-plt)
    CHECK(x86({0x66, 0x48, 0x8d, 0x3d, 0x00, 0x01, 0, 0, 0x66, 0x48, 0xff, 0x15, 0x00, 0x02, 0, 0, 0x48, 0x8b,
               0x00})
              .thread_locals == std::vector<ThreadLocalReference>{{Kind::got_module, 0x1108, 0, 8}});
    // lea 0x100(%rip),%rax; call *(%rax); mov %fs:(%rax),%rax                          (TLS descriptor)
    CHECK(x86({0x48, 0x8d, 0x05, 0x00, 0x01, 0, 0, 0xff, 0x10, 0x64, 0x48, 0x8b, 0x00}).thread_locals ==
          std::vector<ThreadLocalReference>{{Kind::got_descriptor, 0x1107, 0, 8}});
    // musl's pthread_getspecific: mov %fs:0,%rax; mov 0x80(%rax),%rax
    CHECK(x86({0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0, 0x48, 0x8b, 0x80, 0x80, 0, 0, 0}).thread_locals ==
          std::vector<ThreadLocalReference>{{Kind::thread_pointer, 0, 0x80, 8}});
}

TEST_CASE("a function of unknown size ends at its first return") {
    // ret; mov 0x10(%rip),%rax
    const Bytes code{0xc3, 0x48, 0x8b, 0x05, 0x10, 0, 0, 0};
    CHECK(x86(code, 0x1000, true).addresses.size() == 1);
    CHECK(x86(code, 0x1000, false).addresses.empty());
    // ret; adr x0, .
    CHECK(arm({0xd65f03c0, 0x10000000}, 0x10000, true).addresses.size() == 1);
    CHECK(arm({0xd65f03c0, 0x10000000}, 0x10000, false).addresses.empty());
}

TEST_CASE("bytes that are no code end the reading") {
    CHECK(x86({}).addresses.empty());
    CHECK(x86({0x06, 0x48, 0x8b, 0x05, 0x10, 0, 0, 0}).addresses.empty());
    CHECK(x86({0x48, 0x8b, 0x05}).addresses.empty());
    CHECK(arm({0x00000000, 0xffffffff}).addresses.empty());
}

TEST_CASE("aarch64: addresses that code makes and loads from") {
    // adrp x0, 0x12000; add x0, x0, #0x345
    CHECK(arm({0xd0000000, 0x910d1400}).addresses ==
          std::vector<AddressReference>{{Use::address, 0x12345, 0, 0}});
    // adrp x0, 0x12000; ldr x0, [x0, #0x10]; ldr x1, [x0, #0x28]
    CHECK(arm({0xd0000000, 0xf9400800, 0xf9401401}).addresses ==
          std::vector<AddressReference>{{Use::load, 0x12010, 0, 8}, {Use::load_through, 0x12010, 0x28, 8}});
    // adrp x0, 0x12000; ldr w0, [x0, #0x10]
    CHECK(arm({0xd0000000, 0xb9401000}).addresses ==
          std::vector<AddressReference>{{Use::load, 0x12010, 0, 4}});
    // adrp x0, 0x12000; bl .; ldr x0, [x0, #0x10]
    CHECK(arm({0xd0000000, 0x94000000, 0xf9400800}).addresses.empty());
}

TEST_CASE("aarch64: thread-local variables and the thread pointer") {
    // mrs x0, tpidr_el0; add x0, x0, #0x0, lsl #12; add x0, x0, #0x18; ldr x0, [x0]    (local-exec)
    CHECK(arm({0xd53bd040, 0x91400000, 0x91006000, 0xf9400000}).thread_locals ==
          std::vector<ThreadLocalReference>{{Kind::thread_pointer, 0, 0x18, 8}});
    // mrs x1, tpidr_el0; adrp x0, 0x12000; ldr x2, [x0, #0x10]; add x0, x0, #0x10; blr x2; ldr x0, [x1, x0]
    CHECK(arm({0xd53bd041, 0xd0000000, 0xf9400802, 0x91004000, 0xd63f0040, 0xf8606820}).thread_locals ==
          std::vector<ThreadLocalReference>{{Kind::got_descriptor, 0x12010, 0, 8}});
    // mrs x0, tpidr_el0; sub x0, x0, #0x740; ret                                       (pthread_self of
    // glibc 2.36)
    CHECK(arm({0xd53bd040, 0xd11d0000, 0xd65f03c0}).thread_pointer_offsets == std::vector<int64_t>{-1856});
}
