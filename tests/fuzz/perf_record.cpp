// SPDX-License-Identifier: Apache-2.0
// A record of a perf event. Its time and CPU are those of its last 16 bytes, texts end before the first NUL
// and inside the record, a build-id is at most 20 bytes in hex, a mapping has a key; and a record whose
// header states another size than it has is refused.
#include "process/perf_record.h"

#include <linux/perf_event.h>

#include "input.h"

using namespace pyperf;
using namespace pyperf_test;

namespace {

void check_text(const std::string& text, size_t record_bytes) {
    require(text.size() < record_bytes && text.find('\0') == std::string::npos, "a text lies in its record");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < sizeof(perf_event_header) || size > UINT16_MAX) {
        require(!parse_perf_record(std::as_bytes(std::span(data, size))), "a size that no record has");
        return 0;
    }
    std::vector<uint8_t> record(data, data + size);
    auto stated = static_cast<uint16_t>(size + 1);
    const size_t size_at = offsetof(perf_event_header, size);
    std::memcpy(record.data() + size_at, &stated, sizeof stated);
    require(!parse_perf_record(std::as_bytes(std::span(record))),
            "the size that the header states is another");
    stated = static_cast<uint16_t>(size);
    std::memcpy(record.data() + size_at, &stated, sizeof stated);
    const auto timed = parse_perf_record(std::as_bytes(std::span(record)));
    if (!timed) {
        require_told(timed.error());
        return 0;
    }
    Input trailer(record.data() + size - 16, 16);
    require(timed->time_ns == trailer.take<uint64_t>() && timed->cpu == trailer.take<uint32_t>(),
            "time and CPU");
    if (const auto* exec = std::get_if<ExecRecord>(&timed->record)) check_text(exec->comm, size);
    if (const auto* mapping = std::get_if<MappingRecord>(&timed->record)) {
        check_text(mapping->path, size);
        require(mapping->build_id.size() <= 40 && mapping->build_id.size() % 2 == 0, "a build-id");
        require(mapping->build_id.empty() ? mapping->inode != 0 : mapping->inode == 0,
                "one thing names the file");
        require(!mapping->file_key().empty(), "a mapping has a key");
    }
    return 0;
}
