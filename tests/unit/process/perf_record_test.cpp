// SPDX-License-Identifier: Apache-2.0
#include "process/perf_record.h"

#include <algorithm>

#include "catch2_header.h"
#include "process/perf_record_bytes.h"

using namespace pyperf;
using namespace pyperf_test;

namespace {

template <typename T>
T parsed(const std::vector<std::byte>& bytes) {
    const auto timed = parse_perf_record(bytes);
    REQUIRE(timed);
    REQUIRE(std::holds_alternative<T>(timed->record));
    return std::get<T>(timed->record);
}

}  // namespace

TEST_CASE("perf records say what the kernel put in") {
    const auto exec = exec_record(77, "py\xff;\n", 123456789);
    CHECK(parse_perf_record(exec)->time_ns == 123456789);
    CHECK(parsed<ExecRecord>(exec).pid == HostPid{77});
    CHECK(parsed<ExecRecord>(exec).comm == "py\xff;\n");

    const auto fork = parsed<ForkRecord>(task_record(PERF_RECORD_FORK, 10, 9, 11));
    CHECK(fork.pid == HostPid{10});
    CHECK(fork.parent_pid == HostPid{9});
    CHECK(fork.tid == HostPid{11});
    const auto exit = parsed<ExitRecord>(task_record(PERF_RECORD_EXIT, 10, 9, 11));
    CHECK(exit.pid == HostPid{10});
    CHECK(exit.tid == HostPid{11});

    const auto lost = RecordBuilder(PERF_RECORD_LOST).put(uint64_t{1}).put(uint64_t{42}).done();
    CHECK(parsed<LostRecord>(lost).lost == 42);

    auto by_inode = parsed<MappingRecord>(mapping_by_inode(5, "/lib/\xe9\nlibpython3.11.so", 4711));
    CHECK(by_inode.pid == HostPid{5});
    CHECK(by_inode.address == TargetAddress{0x7f0000001000});
    CHECK(by_inode.bytes == 0x2000);
    CHECK(by_inode.file_offset == 0x1000);
    CHECK(by_inode.path == "/lib/\xe9\nlibpython3.11.so");
    CHECK(by_inode.inode == 4711);
    CHECK(by_inode.build_id.empty());
    CHECK(by_inode.file_key() == "inode:8:1:4711:3");

    const auto by_id = parsed<MappingRecord>(mapping_by_build_id(5, "/bin/x", 20));
    CHECK(by_id.build_id == "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff00010203");
    CHECK(by_id.file_key() == "build-id:f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff00010203");
    CHECK(by_id.path == "/bin/x");
    CHECK(parsed<MappingRecord>(mapping_by_build_id(5, "/bin/x", 8)).build_id == "f0f1f2f3f4f5f6f7");
}

TEST_CASE("records without interest are nothing, not an error") {
    const auto renamed = RecordBuilder(PERF_RECORD_COMM).put(1).put(2).put_string("worker").done();
    parsed<std::monostate>(renamed);
    parsed<std::monostate>(mapping_by_inode(5, "//anon", 0));
    parsed<std::monostate>(RecordBuilder(PERF_RECORD_THROTTLE).put(uint64_t{0}).done());
    parsed<std::monostate>(RecordBuilder(4096).done());
    // An id longer than the field that holds it.
    parsed<std::monostate>(mapping_by_build_id(5, "/bin/x", 21));
    parsed<std::monostate>(mapping_by_build_id(5, "/bin/x", 0));
}

TEST_CASE("a perf record cut anywhere is refused") {
    // Strings of seven bytes: their NUL is the last byte in front of the trailer.
    for (const auto& whole : {exec_record(1, "1234567"), task_record(PERF_RECORD_FORK, 1, 2, 3),
                              mapping_by_inode(1, "/123456", 9), mapping_by_build_id(1, "/123456", 20),
                              RecordBuilder(PERF_RECORD_LOST).put(uint64_t{1}).put(uint64_t{1}).done()}) {
        for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
            // The header says the old size: refused for that.
            CHECK_FALSE(parse_perf_record(std::span(whole).first(bytes)));
            // The header says the new one: then a field or the string's end is missing.
            auto cut = std::vector<std::byte>(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(bytes));
            if (bytes < sizeof(perf_event_header)) continue;
            perf_event_header header;
            std::memcpy(&header, cut.data(), sizeof(header));
            header.size = static_cast<uint16_t>(bytes);
            std::memcpy(cut.data(), &header, sizeof(header));
            CHECK_FALSE(parse_perf_record(cut));
        }
    }
    // A string without an end.
    auto endless = exec_record(1, "1234567");
    const auto text = endless.begin() + sizeof(perf_event_header) + 8;
    std::fill(text, endless.end() - 16, std::byte{'x'});
    CHECK_FALSE(parse_perf_record(endless));
}
