// SPDX-License-Identifier: Apache-2.0
// co_linetable of 3.11 and later (Objects/locations.md, 3.11; InternalDocs/code_objects.md, 3.13): entries
// that begin with a byte with bit 7 set: bits 3-6 are the kind, bits 0-2 the length in code units less one.
// The bytes behind it have bit 7 clear and hold columns, and for some kinds the line delta.
#include "decode/line_table.h"

namespace pyperf {
namespace {

enum Kind : uint32_t {
    one_line_0 = 10,  // 10 - 12: line delta is kind - 10
    one_line_2 = 12,
    no_columns = 13,  // a signed varint: the line delta
    long_form = 14,   // the same, then three varints
    none = 15,        // no line
};
constexpr int64_t code_unit_bytes = 2;
constexpr uint32_t max_varint_groups = 6;  // of six bits: all that an int of 32 bits and its sign need

struct Varint {
    uint64_t value = 0;
    size_t bytes = 0;
};

// The varint at the beginning of `bytes`; nothing if it does not end in them, or is longer than any real one.
std::optional<Varint> read_varint(std::span<const uint8_t> bytes) {
    Varint read;
    for (uint32_t group = 0; group < max_varint_groups && group < bytes.size(); ++group) {
        const uint8_t byte = bytes[group];
        if ((byte & 0x80) != 0) return {};
        read.value |= static_cast<uint64_t>(byte & 0x3f) << (6 * group);
        read.bytes = group + 1;
        if ((byte & 0x40) == 0) return read;
    }
    return {};
}

std::optional<int64_t> line_delta(uint32_t kind, std::span<const uint8_t> rest) {
    if (kind >= one_line_0 && kind <= one_line_2) return static_cast<int64_t>(kind) - one_line_0;
    if (kind != no_columns && kind != long_form) return 0;
    const std::optional<Varint> varint = read_varint(rest);
    if (!varint) return {};
    const auto magnitude = static_cast<int64_t>(varint->value >> 1);
    return (varint->value & 1) != 0 ? -magnitude : magnitude;
}

}  // namespace

std::optional<int32_t> line_in_locations(LineTableBytes table, int32_t first_line, int32_t offset) {
    int64_t line = first_line;
    int64_t end = 0;
    std::span<const uint8_t> rest = table.bytes;
    while (!rest.empty()) {
        const uint8_t head = rest[0];
        if ((head & 0x80) == 0) return {};
        const uint32_t kind = (head >> 3) & 0xf;
        rest = rest.subspan(1);
        const std::optional<int64_t> delta = line_delta(kind, rest);
        if (!delta) return {};
        line += *delta;
        end += ((head & 7) + 1) * code_unit_bytes;
        // An entry without a line leaves `line` at that of the entry before: the stated rule.
        if (end > offset) return as_line(line);
        while (!rest.empty() && (rest[0] & 0x80) == 0) rest = rest.subspan(1);
    }
    return {};
}

}  // namespace pyperf
