// SPDX-License-Identifier: Apache-2.0
// Makes the bytes of perf records, as the kernel would with sample_id_all and TIME and CPU in sample_type.
#pragma once

#include <linux/perf_event.h>

#include <cstring>
#include <string>
#include <vector>

namespace pyperf_test {

class RecordBuilder {
  public:
    explicit RecordBuilder(uint32_t type, uint16_t misc = 0) {
        bytes_.resize(sizeof(perf_event_header));
        header_.type = type;
        header_.misc = misc;
    }

    template <typename T>
    RecordBuilder& put(T value) {
        const auto at = bytes_.size();
        bytes_.resize(at + sizeof(T));
        std::memcpy(bytes_.data() + at, &value, sizeof(T));
        return *this;
    }

    // With its NUL, filled up to eight bytes as the kernel does.
    RecordBuilder& put_string(const std::string& text) {
        for (const char byte : text) put(byte);
        do put(char{0});
        while (bytes_.size() % 8 != 0);
        return *this;
    }

    std::vector<std::byte> done(uint64_t time_ns = 1, uint32_t cpu = 0) {
        put(time_ns).put(cpu).put(uint32_t{0});
        header_.size = static_cast<uint16_t>(bytes_.size());
        std::memcpy(bytes_.data(), &header_, sizeof(header_));
        return bytes_;
    }

  private:
    perf_event_header header_{};
    std::vector<std::byte> bytes_;
};

inline std::vector<std::byte> exec_record(int32_t pid, const std::string& comm, uint64_t time_ns = 1) {
    return RecordBuilder(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC)
        .put(pid)
        .put(pid)
        .put_string(comm)
        .done(time_ns);
}

inline std::vector<std::byte> task_record(uint32_t type, int32_t pid, int32_t parent, int32_t tid) {
    return RecordBuilder(type).put(pid).put(parent).put(tid).put(parent).put(uint64_t{9}).done();
}

inline std::vector<std::byte> mapping_by_inode(int32_t pid, const std::string& path, uint64_t inode) {
    return RecordBuilder(PERF_RECORD_MMAP2)
        .put(pid)
        .put(pid)
        .put(uint64_t{0x7f0000001000})
        .put(uint64_t{0x2000})
        .put(uint64_t{0x1000})
        .put(uint32_t{8})
        .put(uint32_t{1})
        .put(inode)
        .put(uint64_t{3})
        .put(uint32_t{5})
        .put(uint32_t{2})
        .put_string(path)
        .done();
}

inline std::vector<std::byte> mapping_by_build_id(int32_t pid, const std::string& path, uint8_t size) {
    RecordBuilder record(PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID);
    record.put(pid).put(pid).put(uint64_t{0x400000}).put(uint64_t{0x1000}).put(uint64_t{0});
    record.put(size).put(uint8_t{0}).put(uint16_t{0});
    for (uint8_t i = 0; i < 20; ++i) record.put(static_cast<uint8_t>(0xf0 + i));
    return record.put(uint32_t{5}).put(uint32_t{2}).put_string(path).done();
}

}  // namespace pyperf_test
