// SPDX-License-Identifier: Apache-2.0
// Line tables of every format. Code that has not started is on its first line; the beginning of a table
// answers nothing or what the whole table answers; and lines count from the first line, so moving that moves
// the answer.
#include "decode/line_table.h"

#include "input.h"

using namespace pyperf;
using namespace pyperf_test;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    constexpr LineTable formats[] = {LineTable::lnotab_unsigned, LineTable::lnotab_signed,
                                     LineTable::pep626_pairs, LineTable::locations};
    Input input(data, size);
    const LineTable format = formats[input.take<uint8_t>() % 4];
    const auto cut = input.take<uint8_t>();
    const auto offset = int32_t{input.take<int16_t>()};
    const auto first_line = input.take<int32_t>();
    const auto table = input.rest();

    const auto line = line_of(format, {table, true}, first_line, offset);
    if (offset < 0) require(line == first_line, "code that has not started is on its first line");
    Input again(table.data(), table.size());
    const auto beginning = again.take_bytes(cut);
    const auto early = line_of(format, {beginning, false}, first_line, offset);
    require(!early || early == line, "the beginning of a table answers what the whole does");
    const auto from_zero = line_of(format, {table, true}, 0, offset);
    if (line && from_zero)
        require(int64_t{*line} - first_line == *from_zero, "lines count from the first line");
    return 0;
}
