// SPDX-License-Identifier: Apache-2.0
#include "process/perf_record.h"

#include <fmt/format.h>
#include <linux/perf_event.h>

#include <cstring>
#include <optional>

namespace pyperf {
namespace {

// What sample_id_all puts behind every record: u64 time; u32 cpu, reserved.
constexpr size_t kTrailerBytes = 16;
// linux/perf_event.h has these since Linux 3.16 and 5.12; the numbers are the kernel's interface.
constexpr uint16_t kMiscExec = 1 << 13;
constexpr uint16_t kMiscBuildId = 1 << 14;
constexpr size_t kMaxBuildIdBytes = 20;

// Takes fields from the front of a record.
class Fields {
  public:
    explicit Fields(std::span<const std::byte> bytes) : rest_(bytes) {}

    template <typename T>
    T take() {
        T value{};
        if (rest_.size() < sizeof(T)) {
            short_ = true;
            return value;
        }
        std::memcpy(&value, rest_.data(), sizeof(T));
        rest_ = rest_.subspan(sizeof(T));
        return value;
    }

    // The bytes up to the NUL that must be there; the kernel pads with more of them.
    std::string take_string() {
        const auto* end = rest_.empty() ? nullptr : std::memchr(rest_.data(), 0, rest_.size());
        if (!end) {
            short_ = true;
            return {};
        }
        const auto* begin = reinterpret_cast<const char*>(rest_.data());
        return {begin, static_cast<const char*>(end)};
    }

    bool too_short() const { return short_; }

  private:
    std::span<const std::byte> rest_;
    bool short_ = false;
};

HostPid take_pid(Fields& fields) {
    return {fields.take<int32_t>()};
}

KernelRecord take_comm(Fields& fields, uint16_t misc) {
    ExecRecord exec;
    exec.pid = take_pid(fields);
    fields.take<int32_t>();  // tid
    exec.comm = fields.take_string();
    if (!(misc & kMiscExec)) return {};
    return exec;
}

// PERF_RECORD_FORK and PERF_RECORD_EXIT have one layout.
KernelRecord take_task(Fields& fields, uint32_t type) {
    const HostPid pid = take_pid(fields);
    const HostPid parent_pid = take_pid(fields);
    const HostPid tid = take_pid(fields);
    fields.take<int32_t>();   // the parent's tid
    fields.take<uint64_t>();  // time, once more
    if (type == PERF_RECORD_EXIT) return ExitRecord{pid, tid};
    return ForkRecord{parent_pid, pid, tid};
}

KernelRecord take_mmap2(Fields& fields, uint16_t misc) {
    MappingRecord mapping;
    mapping.pid = take_pid(fields);
    fields.take<int32_t>();  // tid
    mapping.address = {fields.take<uint64_t>()};
    mapping.bytes = fields.take<uint64_t>();
    mapping.file_offset = fields.take<uint64_t>();
    if (misc & kMiscBuildId) {
        const auto size = fields.take<uint8_t>();
        fields.take<uint8_t>();
        fields.take<uint16_t>();
        const auto id = fields.take<std::array<uint8_t, kMaxBuildIdBytes>>();
        if (size > kMaxBuildIdBytes) return {};
        for (size_t i = 0; i < size; ++i) mapping.build_id += fmt::format("{:02x}", id[i]);
    } else {
        mapping.device_major = fields.take<uint32_t>();
        mapping.device_minor = fields.take<uint32_t>();
        mapping.inode = fields.take<uint64_t>();
        mapping.inode_generation = fields.take<uint64_t>();
    }
    fields.take<uint32_t>();  // protection
    fields.take<uint32_t>();  // flags
    mapping.path = fields.take_string();
    if (mapping.build_id.empty() && mapping.inode == 0) return {};  // [vdso], //anon
    return mapping;
}

}  // namespace

std::string MappingRecord::file_key() const {
    if (!build_id.empty()) return "build-id:" + build_id;
    return fmt::format("inode:{}:{}:{}:{}", device_major, device_minor, inode, inode_generation);
}

Result<TimedRecord> parse_perf_record(std::span<const std::byte> record) {
    Fields head(record);
    const auto header = head.take<perf_event_header>();
    if (head.too_short() || header.size != record.size() || record.size() < sizeof(header) + kTrailerBytes)
        return Error{fmt::format("a perf record of {} bytes is too short", record.size()), -EBADMSG};
    Fields trailer(record.last(kTrailerBytes));
    TimedRecord timed;
    timed.time_ns = trailer.take<uint64_t>();
    timed.cpu = trailer.take<uint32_t>();

    Fields fields(record.subspan(sizeof(header), record.size() - sizeof(header) - kTrailerBytes));
    switch (header.type) {
        case PERF_RECORD_COMM:
            timed.record = take_comm(fields, header.misc);
            break;
        case PERF_RECORD_FORK:
        case PERF_RECORD_EXIT:
            timed.record = take_task(fields, header.type);
            break;
        case PERF_RECORD_MMAP2:
            timed.record = take_mmap2(fields, header.misc);
            break;
        case PERF_RECORD_LOST:
            fields.take<uint64_t>();  // the event's id
            timed.record = LostRecord{fields.take<uint64_t>()};
            break;
        default:
            break;
    }
    if (fields.too_short())
        return Error{
            fmt::format("a perf record of type {} and {} bytes is too short", header.type, record.size()),
            -EBADMSG};
    return timed;
}

}  // namespace pyperf
