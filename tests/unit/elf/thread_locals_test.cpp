// SPDX-License-Identifier: Apache-2.0
#include "elf/thread_locals.h"

#include "catch2_header.h"
#include "unit/elf/thread_local_file.h"

using namespace pyperf;
using namespace pyperf_test;
using Bytes = std::vector<uint8_t>;

namespace {

std::optional<TlsVariable> found(const ThreadLocalHead& head, const Bytes& code) {
    const auto image = ElfImage::open(file_of(thread_local_file(head, code)), "made");
    REQUIRE(image);
    const auto variable = find_thread_local(*image, image->symbol("reader"), image->symbol("variable"));
    REQUIRE(variable);
    return *variable;
}

// movabs $displacement,%rax; mov %fs:(%rax),%rax; ret
Bytes local_exec(int64_t displacement) {
    Bytes code{0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0x64, 0x48, 0x8b, 0x00, 0xc3};
    std::memcpy(code.data() + 2, &displacement, 8);
    return code;
}

// lea -0x17(%rip),%rdi; call; mov displacement(%rax),%rax; ret: the table's first word
Bytes local_dynamic(int32_t displacement) {
    Bytes code{0x48, 0x8d, 0x3d, 0xe9, 0xff, 0xff, 0xff, 0xe8, 0, 0,
               0,    0,    0x48, 0x8b, 0x80, 0,    0,    0,    0, 0xc3};
    std::memcpy(code.data() + 15, &displacement, 4);
    return code;
}

// mov -0x17(%rip),%rax; mov %fs:displacement(%rax),%rax; ret
Bytes initial_exec(int32_t displacement) {
    Bytes code{0x48, 0x8b, 0x05, 0xe9, 0xff, 0xff, 0xff, 0x64, 0x48, 0x8b, 0x80, 0, 0, 0, 0, 0xc3};
    std::memcpy(code.data() + 11, &displacement, 4);
    return code;
}

}  // namespace

TEST_CASE("a variable at a fixed distance lies whole in the block") {
    ThreadLocalHead head;  // 64 bytes in front of the thread pointer
    head.symbol_value = 1 << 20;
    CHECK(found(head, local_exec(-64)) == TlsVariable{TlsVariable::Kind::thread_pointer_offset, -64, 0});
    CHECK(found(head, local_exec(-8)) == TlsVariable{TlsVariable::Kind::thread_pointer_offset, -8, 0});
    for (const int64_t outside : {int64_t{-72}, int64_t{-7}, int64_t{0}, INT64_MAX, INT64_MIN})
        CHECK_FALSE(found(head, local_exec(outside)));
}

TEST_CASE("a symbol whose end wraps around is in no block") {
    ThreadLocalHead head;
    head.executable = 1;
    head.symbol_value = 56;
    CHECK(found(head, {0xc3}) == TlsVariable{TlsVariable::Kind::thread_pointer_offset, -8, 0});
    for (const uint64_t outside : {uint64_t{57}, UINT64_MAX, UINT64_MAX - 7}) {
        head.symbol_value = outside;
        CHECK_FALSE(found(head, {0xc3}));
    }
}

TEST_CASE("what is added to a word of the table stays in the block, or near by") {
    using Kind = TlsVariable::Kind;
    ThreadLocalHead head;
    head.symbol_value = 1 << 20;
    head.got_relocation = R_X86_64_DTPMOD64;
    head.got[1] = 16;
    CHECK(found(head, local_dynamic(8)) == TlsVariable{Kind::got_module_and_offset, 24, kGotVaddr});
    CHECK_FALSE(found(head, local_dynamic(48)));
    CHECK_FALSE(found(head, local_dynamic(-24)));
    head.got[1] = INT64_MAX;
    CHECK_FALSE(found(head, local_dynamic(8)));
    head.second_relocation = R_X86_64_DTPOFF64;
    head.has_symbol = 1;
    head.addend = INT64_MAX;
    CHECK_FALSE(found(head, local_dynamic(8)));

    ThreadLocalHead placed;
    placed.symbol_value = 1 << 20;
    placed.got_relocation = R_X86_64_TPOFF64;
    CHECK(found(placed, initial_exec(8)) == TlsVariable{Kind::got_thread_pointer_offset, 8, kGotVaddr});
    CHECK_FALSE(found(placed, initial_exec(-8)));
    CHECK_FALSE(found(placed, initial_exec(INT32_MAX)));
}
