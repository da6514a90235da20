// SPDX-License-Identifier: Apache-2.0
// co_lnotab of 3.6 - 3.9: pairs (bytecode delta unsigned, line delta signed) (PyCode_Addr2Line in
// Objects/codeobject.c, 3.6). The last pair holds up to the end of the code, so a whole table answers for
// every offset.
#include "decode/line_table.h"

namespace pyperf {

std::optional<int32_t> line_in_lnotab_signed(LineTableBytes table, int32_t first_line, int32_t offset) {
    int64_t line = first_line;
    int64_t address = 0;
    for (size_t at = 0; at + 1 < table.bytes.size(); at += 2) {
        address += table.bytes[at];
        if (address > offset) return as_line(line);
        line += static_cast<int8_t>(table.bytes[at + 1]);
    }
    if (!table.whole) return {};
    return as_line(line);
}

}  // namespace pyperf
