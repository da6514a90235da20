// SPDX-License-Identifier: Apache-2.0
#include "decode/line_table.h"

#include <limits>

namespace pyperf {

std::optional<int32_t> as_line(int64_t line) {
    if (line < std::numeric_limits<int32_t>::min() || line > std::numeric_limits<int32_t>::max()) return {};
    return static_cast<int32_t>(line);
}

std::optional<int32_t> line_of(LineTable format, LineTableBytes table, int32_t first_line, int32_t offset) {
    if (offset < 0) return first_line;
    switch (format) {
        case LineTable::lnotab_unsigned:
            return line_in_lnotab_unsigned(table, first_line, offset);
        case LineTable::lnotab_signed:
            return line_in_lnotab_signed(table, first_line, offset);
        case LineTable::pep626_pairs:
            return line_in_pep626_pairs(table, first_line, offset);
        case LineTable::locations:
            return line_in_locations(table, first_line, offset);
    }
    return {};
}

}  // namespace pyperf
