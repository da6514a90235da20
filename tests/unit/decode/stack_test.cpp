// SPDX-License-Identifier: Apache-2.0
#include "decode/stack.h"

#include <cstring>

#include "catch2_header.h"
#include "unit/decode/bytes_of.h"

using namespace pyperf;
using namespace pyperf_test;

namespace {

constexpr size_t frames_begin = offsetof(pyperf_stack_record, frames);

// A record whose head says `count` frames, and that has `there` of them.
Bytes record_of(uint32_t count, size_t there) {
    Bytes bytes(frames_begin + there * sizeof(pyperf_frame));
    const uint32_t type = PYPERF_RECORD_STACK;
    const uint32_t pid = 4118;
    const uint64_t id = 0xfedcba9876543210;
    const auto put = [&bytes](size_t at, const auto& value) {
        std::memcpy(&bytes[at], &value, sizeof value);
    };
    put(offsetof(pyperf_stack_record, type), type);
    put(offsetof(pyperf_stack_record, pid), pid);
    put(offsetof(pyperf_stack_record, content_id), id);
    put(offsetof(pyperf_stack_record, frame_count), count);
    for (size_t i = 0; i < there; ++i) {
        const pyperf_frame frame = {100 + i, i, static_cast<int32_t>(2 * i) - 1, PYPERF_FRAME_ENTRY};
        put(frames_begin + i * sizeof frame, frame);
    }
    return bytes;
}

}  // namespace

TEST_CASE("a stack record gives its frames, leaf first") {
    const auto stack = decode_stack_record(record_of(3, 3));
    REQUIRE(stack);
    CHECK(stack->pid == 4118);
    CHECK(stack->id == 0xfedcba9876543210);
    CHECK_FALSE(stack->truncated);
    REQUIRE(stack->frames.size() == 3);
    CHECK(stack->frames[0].code_id == 100);
    CHECK(stack->frames[0].instruction == -1);
    CHECK(stack->frames[2].code_id == 102);
    CHECK(stack->frames[2].class_id == 2);
    CHECK(stack->frames[2].instruction == 3);
    CHECK(stack->frames[2].flags == PYPERF_FRAME_ENTRY);
}

TEST_CASE("a stack may be empty, as deep as the walker goes, and truncated") {
    const auto empty = decode_stack_record(record_of(0, 0));
    REQUIRE(empty);
    CHECK(empty->frames.empty());
    Bytes deepest = record_of(PYPERF_MAX_FRAMES, PYPERF_MAX_FRAMES);
    deepest[offsetof(pyperf_stack_record, truncated)] = std::byte{1};
    const auto deep = decode_stack_record(deepest);
    REQUIRE(deep);
    CHECK(deep->frames.size() == PYPERF_MAX_FRAMES);
    CHECK(deep->frames.back().code_id == 100 + PYPERF_MAX_FRAMES - 1);
    CHECK(deep->truncated);
}

TEST_CASE("the room behind the frames that a record says is not read") {
    const auto stack = decode_stack_record(record_of(1, 4));
    REQUIRE(stack);
    CHECK(stack->frames.size() == 1);
}

TEST_CASE("a stack record that contradicts itself is refused") {
    const Bytes whole = record_of(2, 2);
    for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
        const Bytes part(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(bytes));
        if (decode_stack_record(part)) FAIL("decoded " << bytes << " bytes");
    }
    CHECK_FALSE(decode_stack_record(record_of(3, 2)));
    CHECK_FALSE(decode_stack_record(record_of(1, 0)));
    CHECK_FALSE(decode_stack_record(record_of(PYPERF_MAX_FRAMES + 1, PYPERF_MAX_FRAMES + 1)));
    CHECK_FALSE(decode_stack_record(record_of(0xffffffff, 2)));
    // Times the size of a frame it is 0 in 32 bits.
    CHECK_FALSE(decode_stack_record(record_of(1u << 29, 2)));
    Bytes other = whole;
    other[0] = std::byte{PYPERF_RECORD_CODE};
    CHECK_FALSE(decode_stack_record(other));
}
