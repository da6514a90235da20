// SPDX-License-Identifier: Apache-2.0
// Records as the BPF programs send them, made by the tests, and layouts for them.
#pragma once

#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>

#include "layout/layout.h"
#include "records.h"
#include "unit/decode/bytes_of.h"

namespace pyperf_test {

// The state words of CPython up to 3.13 (and later with the GIL).
inline constexpr uint32_t ascii_state = 1 << 2 | 1 << 5 | 1 << 6;
inline constexpr uint32_t latin1_state = 1 << 2 | 1 << 5;
inline constexpr uint32_t ucs2_state = 2 << 2 | 1 << 5;
inline constexpr uint32_t ucs4_state = 4 << 2 | 1 << 5;

inline pyperf::Layout layout_311() {
    pyperf::Layout layout;
    layout.name = "made-3.11";
    layout.line_table = pyperf::LineTable::locations;
    layout.string_kind = pyperf::StringKind::unicode;
    layout.structs["PyASCIIObject"] = {
        48, {{"state", 32}, {"state.kind_shift", 2}, {"state.compact_shift", 5}, {"state.ascii_shift", 6}}};
    layout.structs["PyCompactUnicodeObject"] = {72, {}};
    layout.structs["PyBytesObject"] = {33, {{"ob_size", 16}, {"ob_sval", 32}}};
    layout.structs["PyCodeObject"] = {192, {{"_co_firsttraceable", 168}}};
    return layout;
}

inline pyperf::Layout layout_27() {
    pyperf::Layout layout;
    layout.name = "made-2.7";
    layout.line_table = pyperf::LineTable::lnotab_unsigned;
    layout.string_kind = pyperf::StringKind::bytes;
    layout.structs["PyStringObject"] = {40, {{"ob_size", 16}, {"ob_sval", 36}}};
    return layout;
}

struct MadePiece {
    Bytes data;
    pyperf_text text{};
};

// A piece that is whole in the record.
inline MadePiece piece(const Bytes& data, uint32_t state, uint64_t address) {
    MadePiece made{data, {}};
    made.text.address = address;
    made.text.bytes = data.size();
    made.text.copied = static_cast<uint32_t>(data.size());
    made.text.state = state;
    return made;
}

// One of which only what was copied is there; the object has `bytes`.
inline MadePiece cut_piece(const Bytes& copied, uint64_t bytes, uint32_t state, uint64_t address) {
    MadePiece made = piece(copied, state, address);
    made.text.bytes = bytes;
    return made;
}

// One whose data could not be read.
inline MadePiece failed_piece(uint64_t bytes, uint32_t state, uint64_t address) {
    MadePiece made = cut_piece({}, bytes, state, address);
    made.text.error = 1;
    return made;
}

struct MadeCode {
    pyperf_code_record head{};
    MadePiece name, qualname, filename, lines;

    MadeCode() {
        head.type = PYPERF_RECORD_CODE;
        head.pid = 77;
        head.code_id = 0x1234567890abcdef;
        head.code_addr = 0x7f0000001000;
        head.first_line = 10;
        head.flags = 3;
        head.layout = 5;
        head.version = 99;
        head.first_traceable = 4;
        name = piece(bytes_of(std::string_view("run")), ascii_state, 0x1000);
        qualname = piece(bytes_of(std::string_view("Server.run")), ascii_state, 0x2000);
        filename = piece(bytes_of(std::u16string_view(u"/\u51fd.py")), ucs2_state, 0x3000);
        // Two code units of the first line, two of the next one (Objects/locations.md).
        lines =
            piece({std::byte{0x80 | 13 << 3 | 1}, std::byte{0}, std::byte{0x80 | 13 << 3 | 1}, std::byte{2}},
                  0, 0x4000);
    }

    // As long as its data, as the BPF program sends it.
    Bytes bytes() const {
        pyperf_code_record record = head;
        record.name = name.text;
        record.qualname = qualname.text;
        record.filename = filename.text;
        record.lines = lines.text;
        Bytes out(offsetof(pyperf_code_record, data));
        std::memcpy(out.data(), &record, out.size());
        for (const MadePiece* made : {&name, &qualname, &filename, &lines})
            out.insert(out.end(), made->data.begin(), made->data.end());
        return out;
    }
};

}  // namespace pyperf_test
