// SPDX-License-Identifier: Apache-2.0
// The text that line_tables.py prints: code objects with their line tables and the interpreter's own answers.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "decode/line_table.h"

namespace pyperf::test {

struct LineTableCase {
    std::string name;
    LineTable format{};
    int32_t first_line = 0;
    int32_t step = 1;  // bytes of bytecode that each line stands for
    std::vector<uint8_t> table;
    std::vector<std::optional<int32_t>> lines;  // nothing: the interpreter gives no line
};

// The next code object of `in`; nothing at its end. Text that is not of this form makes it stop with `failed`
// set.
std::optional<LineTableCase> read_line_table_case(std::istream& in, bool& failed);

}  // namespace pyperf::test
