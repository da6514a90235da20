// SPDX-License-Identifier: Apache-2.0
// From an instruction to its line, by the interpreter's own tables: one file per format, all with one
// interface.
//
// The rule, the same for every format: the answer is the line that the interpreter itself gives
// (PyCode_Addr2Line). Where it gives none (3.10 and later have instructions without a line), it is the line
// of the nearest instruction before that has one, else the code object's first line. Tables are foreign
// bytes: one that is malformed, or that ends before the instruction, gives no answer rather than a wrong one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "layout/layout.h"

namespace pyperf {

struct LineTableBytes {
    std::span<const uint8_t> bytes;
    bool whole = true;  // false: the beginning of a table, whose rest could not be had
};

// The line of the instruction at byte offset `offset` in the bytecode; `first_line` (co_firstlineno) for a
// negative offset, which means that the code has not started.
std::optional<int32_t> line_of(LineTable format, LineTableBytes table, int32_t first_line, int32_t offset);

// The formats (see LineTable). `offset` is not negative.
std::optional<int32_t> line_in_lnotab_unsigned(LineTableBytes table, int32_t first_line, int32_t offset);
std::optional<int32_t> line_in_lnotab_signed(LineTableBytes table, int32_t first_line, int32_t offset);
std::optional<int32_t> line_in_pep626_pairs(LineTableBytes table, int32_t first_line, int32_t offset);
std::optional<int32_t> line_in_locations(LineTableBytes table, int32_t first_line, int32_t offset);

// A line as 64-bit sum, brought back to what the interpreter's int can hold; nothing if it cannot.
std::optional<int32_t> as_line(int64_t line);

}  // namespace pyperf
