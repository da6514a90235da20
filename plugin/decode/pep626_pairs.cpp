// SPDX-License-Identifier: Apache-2.0
// co_linetable of 3.10 (PEP 626; Objects/lnotab_notes.txt, 3.10): pairs (length in bytes, signed line delta).
// Each covers the range that begins where the one before ends; -128 marks a range without a line. Deltas
// above 127 and lengths above 254 are split over several pairs, some of them empty.
#include "decode/line_table.h"

namespace pyperf {
namespace {

constexpr int8_t no_line = -128;

}  // namespace

std::optional<int32_t> line_in_pep626_pairs(LineTableBytes table, int32_t first_line, int32_t offset) {
    int64_t line = first_line;
    int64_t last_line_with_code = first_line;
    int64_t end = 0;
    for (size_t at = 0; at + 1 < table.bytes.size(); at += 2) {
        const uint8_t length = table.bytes[at];
        const auto delta = static_cast<int8_t>(table.bytes[at + 1]);
        end += length;
        if (delta != no_line) {
            line += delta;
            if (length > 0) last_line_with_code = line;
        }
        if (end > offset) return as_line(last_line_with_code);
    }
    return {};
}

}  // namespace pyperf
