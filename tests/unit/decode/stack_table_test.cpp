// SPDX-License-Identifier: Apache-2.0
#include "decode/stack_table.h"

#include "catch2_header.h"

using namespace pyperf;

namespace {

Stack stack_of(uint64_t id, std::vector<pyperf_frame> frames) {
    return {42, id, false, std::move(frames)};
}

bool same(const pyperf_frame& a, const pyperf_frame& b) {
    return a.code_id == b.code_id && a.class_id == b.class_id && a.instruction == b.instruction &&
           a.flags == b.flags;
}

}  // namespace

TEST_CASE("a stack comes back as it was, truncated or not, with frames that differ in one field only") {
    const std::vector<pyperf_frame> frames = {{1, 0, 2, 0}, {1, 0, 4, 0},  {1, 7, 2, 0}, {2, 0, 2, 0},
                                              {1, 0, 2, 1}, {1, 0, -2, 0}, {1, 0, 2, 0}};
    StackTable table;
    Stack cut = stack_of(9, frames);
    cut.truncated = true;
    REQUIRE(table.add(stack_of(8, frames)));
    REQUIRE(table.add(cut));
    REQUIRE(table.add(stack_of(7, {})));
    CHECK(table.size() == 3);
    CHECK_FALSE(table.find(6));
    CHECK(table.find(7)->frames.empty());
    CHECK_FALSE(table.find(8)->truncated);
    CHECK(table.find(9)->truncated);
    for (const uint64_t id : {8, 9}) {
        const auto found = table.find(id);
        REQUIRE(found);
        CHECK(found->pid == 42);
        REQUIRE(found->frames.size() == frames.size());
        for (size_t i = 0; i < frames.size(); ++i) CHECK(same(found->frames[i], frames[i]));
    }
}

TEST_CASE("frames that are known already cost four bytes each") {
    StackTable table;
    std::vector<pyperf_frame> deep;
    for (int32_t i = 0; i < 1000; ++i) deep.push_back({5, 0, i * 2, 0});
    REQUIRE(table.add(stack_of(1, deep)));
    const size_t first = table.bytes();
    std::swap(deep[0], deep[1]);
    REQUIRE(table.add(stack_of(2, deep)));
    CHECK(table.bytes() - first >= 4000);
    CHECK(table.bytes() - first < 4200);
    CHECK(table.find(2)->frames[0].instruction == 2);
    const size_t second = table.bytes();
    REQUIRE(table.add(stack_of(2, deep)));  // again
    CHECK(table.bytes() == second);
}

TEST_CASE("a full table refuses what is new, counts it, and loses nothing") {
    StackTable table{10'000};
    uint64_t id = 1;
    while (table.add(stack_of(id, {{id, 0, 0, 0}, {3, 0, 0, 0}}))) {
        REQUIRE(++id < 1000);
        REQUIRE(table.bytes() < 10'200);
    }
    CHECK(id > 10);
    CHECK(table.refused() == 1);
    CHECK_FALSE(table.contains(id));
    CHECK(table.add(stack_of(1, {})));  // known
    CHECK(table.find(1)->frames.size() == 2);
}
