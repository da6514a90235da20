// SPDX-License-Identifier: Apache-2.0
#include "collect/missing_pieces.h"

#include <cstddef>
#include <vector>

#include "decode/text.h"

namespace pyperf {
namespace {

// Reads the header of the object: how long it is and where its data lies.
Result<MissingPiece> locate(MissingPiece piece, const ProcessMemory& memory, const Layout& layout) {
    const auto at = [&](std::string_view structure, std::string_view member) {
        return TargetAddress{piece.object_address + layout.offset(structure, member).value_or(0)};
    };
    const bool is_bytes = layout.string_kind == StringKind::bytes;
    if (is_bytes || piece.piece == CodePiece::lines) {
        const auto size = memory.read<uint64_t>(at(is_bytes ? "PyStringObject" : "PyBytesObject", "ob_size"));
        if (!size) return size.error();
        piece.bytes = *size;
    } else {
        const auto length = memory.read<uint64_t>(at("PyASCIIObject", "length"));
        if (!length) return length.error();
        const auto state = memory.read<uint32_t>(at("PyASCIIObject", "state"));
        if (!state) return state.error();
        const auto read = read_unicode_state(*state, unicode_state_bits(layout));
        if (!read) return read.error();
        piece.state = *state;
        if (*length > max_name_bytes) return Error{"a name of more characters than any real one has"};
        piece.bytes = *length * read->char_bytes;
    }
    if (const auto offset = data_offset(layout, piece.piece, piece.state))
        piece.data_address = piece.object_address + *offset;
    return piece;
}

Result<void> fetch(CodeObject& code, MissingPiece piece, const ProcessMemory& memory, const Layout& layout) {
    if (!piece.data_address) {
        auto located = locate(piece, memory, layout);
        if (!located) return located.error();
        piece = *located;
    }
    if (!piece.data_address || piece.bytes > max_line_table_bytes)
        return Error{"a piece of a code object that is longer than any real one"};
    std::vector<std::byte> data(piece.bytes);
    if (auto read = memory.read(TargetAddress{*piece.data_address}, data); !read) return read;
    return complete_code_object(code, piece.piece, piece.state, data, layout);
}

}  // namespace

Result<void> fetch_missing_pieces(CodeObject& code, const ProcessMemory& memory, const Layout& layout) {
    Result<void> result;
    const auto missing = code.missing;
    for (const auto& piece : missing)
        if (auto fetched = fetch(code, piece, memory, layout); !fetched) result = fetched;
    return result;
}

}  // namespace pyperf
