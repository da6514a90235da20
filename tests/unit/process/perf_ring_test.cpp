// SPDX-License-Identifier: Apache-2.0
#include "process/perf_ring.h"

#include <algorithm>

#include "catch2_header.h"
#include "process/perf_record_bytes.h"
#include "process/record_order.h"

using namespace pyperf;
using namespace pyperf_test;

namespace {

constexpr size_t kRingBytes = 256;

// Writes a record where the kernel would, and gives the position behind it.
uint64_t write(std::vector<std::byte>& ring, uint64_t at, const std::vector<std::byte>& record) {
    for (const std::byte byte : record) ring[at++ % ring.size()] = byte;
    return at;
}

using Records = std::vector<std::vector<std::byte>>;

std::pair<bool, Records> split(const std::vector<std::byte>& ring, uint64_t tail, uint64_t head) {
    Records records;
    const bool sound = split_records(ring, tail, head, [&](std::span<const std::byte> bytes) {
        records.emplace_back(bytes.begin(), bytes.end());
    });
    return {sound, records};
}

TimedRecord at_time(uint64_t time_ns, int32_t pid) {
    return {time_ns, 0, ExecRecord{{pid}, ""}};
}

std::vector<int32_t> release(RecordOrder& order, uint64_t before_ns, uint64_t after_ns) {
    std::vector<int32_t> pids;
    order.release(before_ns, after_ns, [&](const KernelRecord& record) {
        pids.push_back(std::get<ExecRecord>(record).pid.value);
    });
    return pids;
}

}  // namespace

TEST_CASE("a ring's records come out as they went in, around its end and around the counter's") {
    for (const uint64_t start :
         {uint64_t{0}, uint64_t{kRingBytes - 24}, uint64_t{kRingBytes * 7 - 48}, UINT64_MAX - 63}) {
        const uint64_t tail = start & ~uint64_t{7};
        std::vector<std::byte> ring(kRingBytes);
        const Records in = {exec_record(1, "first"), exec_record(2, "second one"),
                            mapping_by_inode(3, "/x", 1)};
        uint64_t head = tail;
        for (const auto& record : in) head = write(ring, head, record);
        const auto [sound, out] = split(ring, tail, head);
        CHECK(sound);
        CHECK(out == in);
    }
    CHECK(split(std::vector<std::byte>(kRingBytes), 8, 8) == std::pair{true, Records{}});
}

TEST_CASE("a ring that makes no sense is left, not followed") {
    std::vector<std::byte> ring(kRingBytes);
    const auto record = exec_record(1, "x");
    const uint64_t head = write(ring, 0, record);
    CHECK(split(ring, 0, head).first);
    CHECK_FALSE(split(ring, 0, head - 8).first);        // longer than what is there
    CHECK_FALSE(split(ring, 0, 4).first);               // half a header
    CHECK_FALSE(split(ring, 4, head).first);            // not where a record begins
    CHECK_FALSE(split(ring, 0, kRingBytes + 8).first);  // more than the ring holds
    CHECK_FALSE(split(ring, 8, 0).first);               // backwards
    CHECK_FALSE(split({}, 0, 0).first);                 // no ring
    CHECK_FALSE(split(std::vector<std::byte>(24), 0, 8).first);
    const auto with_size = [&](uint16_t size) {
        auto broken = ring;
        std::memcpy(broken.data() + offsetof(perf_event_header, size), &size, sizeof(size));
        return split(broken, 0, head);
    };
    for (const unsigned size : {0U, 4U, 7U, 9U, 31U, 0xfff8U})
        CHECK_FALSE(with_size(static_cast<uint16_t>(size)).first);
    // What came before is good.
    const uint64_t second = write(ring, head, std::vector<std::byte>(16));
    const auto [sound, out] = split(ring, 0, second);
    CHECK_FALSE(sound);
    CHECK(out == Records{record});
}

TEST_CASE("records of several CPUs are handed out in the order of time, late ones after their causes") {
    RecordOrder order;
    const uint64_t slack = RecordOrder::kClockSlackNs;
    // CPU 0 was read before CPU 1, and both before the clock said 10000 + slack.
    order.add(at_time(3000, 3));
    order.add(at_time(9000, 9));
    order.add(at_time(1000, 1));
    order.add(at_time(4000, 4));
    order.add(at_time(10001, 11));  // its cause may have come to CPU 0 after it was read
    CHECK(release(order, 10000 + slack, 20000) == std::vector{1, 3, 4, 9});
    CHECK(order.held() == 1);
    order.add(at_time(10000, 10));  // there it is
    CHECK(release(order, 20001 + slack, 21000) == std::vector{10, 11});
    CHECK(order.held() == 0);

    // Same stamp: as they were read.
    for (const int32_t pid : {5, 3, 4}) order.add(at_time(30000, pid));
    CHECK(release(order, 40000, 40000) == std::vector{5, 3, 4});

    // A stamp from the future holds nothing up.
    order.add(at_time(UINT64_MAX, 7));
    CHECK(release(order, 50000, 50000).empty());
    CHECK(release(order, 60000, 60000) == std::vector{7});
    CHECK(release(order, 0, 0).empty());
}
