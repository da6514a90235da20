// SPDX-License-Identifier: Apache-2.0
#include "decode/code_object.h"

#include <algorithm>
#include <utility>

#include "decode/record_bytes.h"
#include "decode/text.h"

namespace pyperf {
namespace {

constexpr size_t code_data_begin = offsetof(pyperf_code_record, data);
constexpr size_t class_data_begin = offsetof(pyperf_class_record, data);

Error malformed(const std::string& record, const std::string& what) {
    return {record + " record " + what + ": not decoded; please report this, it is an error of pyperf"};
}

struct PieceBytes {
    CodePiece piece{};
    pyperf_text text{};
    std::span<const std::byte> data;  // `copied` bytes
    bool cut() const { return text.error != 0 || text.bytes > text.copied; }
};

// Whether not even the header of a str could be read: its length and its state are 0 then, and an empty str
// has a state.
bool is_unread_str(const PieceBytes& piece, const Layout& layout) {
    return layout.string_kind == StringKind::unicode && piece.piece != CodePiece::lines &&
           piece.text.address != 0 && piece.data.empty() &&
           !read_unicode_state(piece.text.state, unicode_state_bits(layout));
}

// Takes a piece's share off the front of `data`.
Result<PieceBytes> take_piece(std::span<const std::byte>& data, CodePiece piece, const pyperf_text& text,
                              const Layout& layout) {
    if (text.copied > text.bytes) return malformed("code", "with more bytes than the object has");
    if (text.copied > data.size()) return malformed("code", "with less data than it says");
    PieceBytes taken{piece, text, data.first(text.copied)};
    if (is_unread_str(taken, layout)) taken.text.error = 1;
    data = data.subspan(text.copied);
    return taken;
}

Result<std::string> decode_name(const PieceBytes& piece, const Layout& layout) {
    if (layout.string_kind == StringKind::bytes) return decode_byte_string(piece.data, piece.cut());
    // Nothing was read: there may be no state word either.
    if (piece.data.empty()) return std::string();
    return decode_unicode(piece.text.state, piece.data, unicode_state_bits(layout));
}

std::vector<uint8_t> to_bytes(std::span<const std::byte> data) {
    std::vector<uint8_t> bytes(data.size());
    std::transform(data.begin(), data.end(), bytes.begin(),
                   [](std::byte byte) { return std::to_integer<uint8_t>(byte); });
    return bytes;
}

bool& cut_flag(CodeObject& code, CodePiece piece) {
    switch (piece) {
        case CodePiece::name:
            return code.name_cut;
        case CodePiece::qualname:
            return code.qualname_cut;
        case CodePiece::filename:
            return code.filename_cut;
        case CodePiece::lines:
            break;
    }
    return code.lines_cut;
}

std::string& text_of(CodeObject& code, CodePiece piece) {
    if (piece == CodePiece::name) return code.name;
    return piece == CodePiece::qualname ? code.qualname : code.filename;
}

Result<void> put_piece(CodeObject& code, const PieceBytes& piece, const Layout& layout) {
    if (piece.piece == CodePiece::lines) {
        code.lines = to_bytes(piece.data);
    } else {
        Result<std::string> text = decode_name(piece, layout);
        if (!text) return text.error();
        text_of(code, piece.piece) = *std::move(text);
    }
    cut_flag(code, piece.piece) = piece.cut();
    return {};
}

uint64_t most_bytes(CodePiece piece) {
    return piece == CodePiece::lines ? max_line_table_bytes : max_name_bytes;
}

void list_missing(CodeObject& code, const PieceBytes& piece, const Layout& layout) {
    const pyperf_text& text = piece.text;
    if (!piece.cut() || text.address == 0 || text.bytes > most_bytes(piece.piece)) return;
    MissingPiece missing{piece.piece, text.address, {}, 0, text.state};
    if (text.error == 0) {
        const std::optional<uint32_t> offset = data_offset(layout, piece.piece, text.state);
        if (offset) missing.data_address = text.address + *offset;
        missing.bytes = text.bytes;
    }
    code.missing.push_back(missing);
}

}  // namespace

std::optional<uint32_t> data_offset(const Layout& layout, CodePiece piece, uint32_t state) {
    const bool is_str = piece != CodePiece::lines;
    // 2.7's str is the bytes object of later versions, under its old name.
    if (layout.string_kind == StringKind::bytes) return layout.offset("PyStringObject", "ob_sval");
    if (!is_str) return layout.offset("PyBytesObject", "ob_sval");
    const Result<UnicodeState> read = read_unicode_state(state, unicode_state_bits(layout));
    if (!read) return {};
    return layout.size_of(read->ascii ? "PyASCIIObject" : "PyCompactUnicodeObject");
}

Result<uint32_t> layout_of_code_record(std::span<const std::byte> record) {
    const auto type = read_record_bytes<uint32_t>(record, offsetof(pyperf_code_record, type));
    const auto index = read_record_bytes<uint32_t>(record, offsetof(pyperf_code_record, layout));
    if (!type || !index || *type != PYPERF_RECORD_CODE) return malformed("code", "that is none");
    return *index;
}

Result<CodeObject> decode_code_record(std::span<const std::byte> record, const Layout& layout) {
    if (record.size() < code_data_begin) return malformed("code", "shorter than its head");
    if (record.size() > sizeof(pyperf_code_record)) return malformed("code", "longer than any");
    pyperf_code_record head{};
    std::memcpy(&head, record.data(), code_data_begin);
    if (head.type != PYPERF_RECORD_CODE) return malformed("code", "of another type");

    CodeObject code;
    code.id = head.code_id;
    code.pid = head.pid;
    code.address = head.code_addr;
    code.version = head.version;
    code.first_line = head.first_line;
    code.flags = head.flags;
    if (layout.offset("PyCodeObject", "_co_firsttraceable"))
        code.first_traceable =
            static_cast<int32_t>(std::min<uint32_t>(head.first_traceable, INT32_MAX / 2) * 2);
    code.line_format = layout.line_table;

    std::span<const std::byte> data = record.subspan(code_data_begin);
    const std::pair<CodePiece, pyperf_text> pieces[] = {{CodePiece::name, head.name},
                                                        {CodePiece::qualname, head.qualname},
                                                        {CodePiece::filename, head.filename},
                                                        {CodePiece::lines, head.lines}};
    for (const auto& [piece, text] : pieces) {
        const Result<PieceBytes> taken = take_piece(data, piece, text, layout);
        if (!taken) return taken.error();
        if (const Result<void> put = put_piece(code, *taken, layout); !put) return put.error();
        list_missing(code, *taken, layout);
    }
    return code;
}

Result<void> complete_code_object(CodeObject& code, CodePiece piece, uint32_t state,
                                  std::span<const std::byte> data, const Layout& layout) {
    if (data.size() > most_bytes(piece)) {
        return Error{"a code object's piece of " + std::to_string(data.size()) +
                     " bytes: longer than any real one, not used"};
    }
    PieceBytes whole{piece, {}, data};
    whole.text.bytes = data.size();
    whole.text.copied = static_cast<uint32_t>(data.size());
    whole.text.state = state;
    if (const Result<void> put = put_piece(code, whole, layout); !put) return put.error();
    std::erase_if(code.missing, [&](const MissingPiece& missing) { return missing.piece == piece; });
    return {};
}

Result<ClassName> decode_class_record(std::span<const std::byte> record) {
    if (record.size() < class_data_begin) return malformed("class", "shorter than its head");
    if (record.size() > sizeof(pyperf_class_record)) return malformed("class", "longer than any");
    pyperf_class_record head{};
    std::memcpy(&head, record.data(), class_data_begin);
    if (head.type != PYPERF_RECORD_CLASS) return malformed("class", "of another type");
    std::span<const std::byte> data = record.subspan(class_data_begin);
    const pyperf_text& text = head.name;
    if (text.copied > text.bytes) return malformed("class", "with more bytes than the name has");
    if (text.copied > data.size()) return malformed("class", "with less data than it says");

    ClassName decoded;
    decoded.id = head.class_id;
    decoded.pid = head.pid;
    decoded.cut = text.error != 0 || text.bytes > text.copied;
    decoded.name = decode_byte_string(data.first(text.copied), decoded.cut);
    if (const size_t dot = decoded.name.rfind('.'); dot != std::string::npos) decoded.name.erase(0, dot + 1);
    return decoded;
}

}  // namespace pyperf
