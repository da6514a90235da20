// SPDX-License-Identifier: Apache-2.0
#include "decode/line_table.h"

#include <array>
#include <fstream>
#include <limits>
#include <set>

#include "catch2_header.h"
#include "unit/decode/line_table_cases.h"

using namespace pyperf;

namespace {

constexpr int32_t far = 1 << 20;

std::optional<int32_t> line(LineTable format, std::vector<uint8_t> table, int32_t first_line,
                            int32_t offset) {
    return line_of(format, {table}, first_line, offset);
}

}  // namespace

TEST_CASE("lines are the interpreter's own, for every instruction of every construct") {
    // 3.14 and 3.15: line_tables.py run in a chroot; the others by pyenv's interpreters.
    const std::string version =
        GENERATE("2.7", "3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15");
    CAPTURE(version);
    std::ifstream in(PYPERF_SOURCE_DIR "/tests/unit/decode/data/lines-" + version + ".txt");
    REQUIRE(in.is_open());
    bool failed = false;
    size_t codes = 0;
    while (const auto code = test::read_line_table_case(in, failed)) {
        CAPTURE(code->name, code->first_line);
        ++codes;
        int32_t expected = code->first_line;
        for (size_t i = 0; i < code->lines.size(); ++i) {
            // The stated rule: an instruction without a line has that of the one before.
            expected = code->lines[i].value_or(expected);
            const auto offset = static_cast<int32_t>(i) * code->step;
            const auto decoded = line_of(code->format, {code->table}, code->first_line, offset);
            if (decoded != expected) {
                CAPTURE(offset);
                CHECK(decoded == expected);
            }
        }
    }
    CHECK_FALSE(failed);
    CHECK(codes >= 15);
}

TEST_CASE("the inputs have what is hard in a line table") {
    size_t without_line = 0;
    size_t backwards = 0;
    size_t far_jumps = 0;
    for (const std::string version : {"3.10", "3.13"}) {
        std::ifstream in(PYPERF_SOURCE_DIR "/tests/unit/decode/data/lines-" + version + ".txt");
        bool failed = false;
        while (const auto code = test::read_line_table_case(in, failed)) {
            std::optional<int32_t> before;
            for (const auto now : code->lines) {
                if (!now) {
                    ++without_line;
                    continue;
                }
                if (before && *now < *before) ++backwards;
                if (before && *now > *before + 127) ++far_jumps;
                before = now;
            }
        }
    }
    CHECK(without_line > 10);
    CHECK(backwards > 10);
    CHECK(far_jumps >= 4);
}

TEST_CASE("code that has not started is on its first line") {
    const auto format = GENERATE(LineTable::lnotab_unsigned, LineTable::lnotab_signed,
                                 LineTable::pep626_pairs, LineTable::locations);
    CHECK(line(format, {0x00, 0x05}, 7, -1) == 7);
    CHECK(line(format, {}, 7, std::numeric_limits<int32_t>::min()) == 7);
}

TEST_CASE("an empty lnotab means one line; later formats always have entries") {
    CHECK(line(LineTable::lnotab_unsigned, {}, 7, 10) == 7);
    CHECK(line(LineTable::lnotab_signed, {}, 7, 10) == 7);
    CHECK(line(LineTable::pep626_pairs, {}, 7, 10) == std::nullopt);
    CHECK(line(LineTable::locations, {}, 7, 10) == std::nullopt);
}

TEST_CASE("line deltas of the two lnotab formats differ in their sign") {
    CHECK(line(LineTable::lnotab_unsigned, {2, 0xff}, 1000, 2) == 1255);
    CHECK(line(LineTable::lnotab_signed, {2, 0xff}, 1000, 2) == 999);
    CHECK(line(LineTable::lnotab_signed, {2, 0xff}, 1000, 1) == 1000);
}

TEST_CASE("a table that ends before the instruction gives no line") {
    CHECK(line(LineTable::pep626_pairs, {4, 1}, 1, 3) == 2);
    CHECK(line(LineTable::pep626_pairs, {4, 1}, 1, 4) == std::nullopt);
    CHECK(line(LineTable::locations, {0xd8}, 1, 1) == 2);
    CHECK(line(LineTable::locations, {0xd8}, 1, 2) == std::nullopt);
}

TEST_CASE("the beginning of an lnotab answers only up to its last pair") {
    const std::array<uint8_t, 4> table{4, 1, 4, 1};
    const LineTableBytes cut{table, false};
    for (const auto format : {LineTable::lnotab_unsigned, LineTable::lnotab_signed}) {
        CHECK(line_of(format, cut, 1, 3) == 1);
        CHECK(line_of(format, cut, 1, 7) == 2);
        CHECK(line_of(format, cut, 1, 8) == std::nullopt);
        CHECK(line_of(format, {table}, 1, 8) == 3);
    }
}

TEST_CASE("3.10: a range without a line takes the line of the last one that covers code") {
    // Bytes 0-1 line 11, an empty range that goes to 16, then 2-3 without a line, then 4-5 on 16 + 1.
    const std::vector<uint8_t> table{2, 1, 0, 5, 2, 0x80, 2, 1};
    CHECK(line(LineTable::pep626_pairs, table, 10, 1) == 11);
    CHECK(line(LineTable::pep626_pairs, table, 10, 2) == 11);
    CHECK(line(LineTable::pep626_pairs, table, 10, 4) == 17);
    CHECK(line(LineTable::pep626_pairs, {2, 0x80, 2, 1}, 10, 0) == 10);
}

TEST_CASE("3.11 and later: each kind of entry") {
    // One code unit each: short form (column byte), one-line forms, no columns, long, none.
    const std::vector<uint8_t> table{0x80 | (5 << 3),  0x11,                 // short: delta 0
                                     0x80 | (12 << 3), 0x01, 0x02,           // +2
                                     0x80 | (13 << 3), 0x03,                 // -1
                                     0x80 | (14 << 3), 0x48, 0x02, 0, 0, 0,  // 8 + (2 << 6) = 136: +68
                                     0x80 | (15 << 3)};                      // no line
    CHECK(line(LineTable::locations, table, 100, 0) == 100);
    CHECK(line(LineTable::locations, table, 100, 2) == 102);
    CHECK(line(LineTable::locations, table, 100, 4) == 101);
    CHECK(line(LineTable::locations, table, 100, 6) == 169);
    CHECK(line(LineTable::locations, table, 100, 8) == 169);
    CHECK(line(LineTable::locations, table, 100, 10) == std::nullopt);
}

TEST_CASE("3.11 and later: malformed entries give no line") {
    CHECK(line(LineTable::locations, {0x00}, 1, 0) == std::nullopt);  // no entry begins with bit 7 clear
    const uint8_t no_columns = 0x80 | (13 << 3);
    CHECK(line(LineTable::locations, {no_columns}, 1, 0) == std::nullopt);
    CHECK(line(LineTable::locations, {no_columns, 0x40}, 1, 0) == std::nullopt);
    CHECK(line(LineTable::locations, {no_columns, 0x40, 0x80}, 1, 0) == std::nullopt);
    CHECK(line(LineTable::locations, {no_columns, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x01}, 1, 0) ==
          std::nullopt);
}

TEST_CASE("a line that no int can hold is no line") {
    constexpr int32_t most = std::numeric_limits<int32_t>::max();
    constexpr int32_t least = std::numeric_limits<int32_t>::min();
    CHECK(line(LineTable::lnotab_unsigned, {0, 1}, most, 0) == std::nullopt);
    CHECK(line(LineTable::lnotab_signed, {0, 0xff}, least, 0) == std::nullopt);
    CHECK(line(LineTable::pep626_pairs, {2, 1}, most, 0) == std::nullopt);
    CHECK(line(LineTable::locations, {0xd8}, most, 0) == std::nullopt);
    // ... and coming back from there is allowed: only the answer has to fit.
    CHECK(line(LineTable::pep626_pairs, {0, 1, 2, 0xff}, most, 0) == most);
}
