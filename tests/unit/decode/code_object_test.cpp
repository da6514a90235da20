// SPDX-License-Identifier: Apache-2.0
#include "decode/code_object.h"

#include <random>
#include <string>
#include <string_view>

#include "catch2_header.h"
#include "unit/decode/made_records.h"

using namespace pyperf;
using namespace pyperf_test;
using namespace std::string_view_literals;

namespace {

CodeObject decoded(const MadeCode& made, const Layout& layout = layout_311()) {
    auto code = decode_code_record(made.bytes(), layout);
    INFO((code ? std::string() : code.error().message));
    REQUIRE(code);
    return *code;
}

std::vector<uint8_t> plain(const Bytes& bytes) {
    std::vector<uint8_t> out;
    for (const std::byte byte : bytes) out.push_back(std::to_integer<uint8_t>(byte));
    return out;
}

struct MadeClass {
    pyperf_class_record record{};

    explicit MadeClass(std::string_view name) {
        record.type = PYPERF_RECORD_CLASS;
        record.pid = 77;
        record.class_id = 0x51;
        record.name.address = 0x5000;
        record.name.bytes = name.size();
        record.name.copied = static_cast<uint32_t>(name.size());
        std::memcpy(record.data, name.data(), name.size());
    }
    Bytes bytes(size_t size = sizeof(pyperf_class_record)) const {
        Bytes out(sizeof record);
        std::memcpy(out.data(), &record, sizeof record);
        out.resize(size);
        return out;
    }
};

}  // namespace

TEST_CASE("a whole code record gives all of the code object") {
    const CodeObject code = decoded({});
    CHECK(code.id == 0x1234567890abcdef);
    CHECK(code.pid == 77);
    CHECK(code.address == 0x7f0000001000);
    CHECK(code.version == 99);
    CHECK(code.name == "run");
    CHECK(code.qualname == "Server.run");
    CHECK(code.filename == "/\xe5\x87\xbd.py");
    CHECK(code.first_line == 10);
    CHECK(code.flags == 3);
    CHECK(code.first_traceable == 8);  // bytes, of code units
    CHECK(code.line_format == LineTable::locations);
    CHECK(code.lines == plain(MadeCode().lines.data));
    CHECK_FALSE(code.name_cut);
    CHECK_FALSE(code.qualname_cut);
    CHECK_FALSE(code.filename_cut);
    CHECK_FALSE(code.lines_cut);
    CHECK(code.missing.empty());
}

TEST_CASE("a code record of 2.7 has byte strings, no qualified name and no untraced beginning") {
    MadeCode made;
    made.name = piece(bytes_of("caf\xc3\xa9"sv), 0, 0x1000);
    made.qualname = {};
    made.filename = piece(bytes_of("/\xff.py"sv), 0, 0x3000);
    const CodeObject code = decoded(made, layout_27());
    CHECK(code.name == "caf\xc3\xa9");
    CHECK(code.qualname.empty());
    CHECK_FALSE(code.qualname_cut);
    CHECK(code.filename == "/\xef\xbf\xbdxff.py");
    CHECK_FALSE(code.first_traceable);
    CHECK(code.line_format == LineTable::lnotab_unsigned);
    CHECK(code.missing.empty());
}

TEST_CASE("the code unit of the first line cannot leave what an instruction can be") {
    MadeCode made;
    made.head.first_traceable = 0xffffffff;
    REQUIRE(decoded(made).first_traceable);
    CHECK(*decoded(made).first_traceable > 0x7ffffff0);
}

TEST_CASE("what the record has not whole is there as far as it goes, and listed") {
    MadeCode made;
    made.name = cut_piece(bytes_of("abcdefgh"sv), 600, ascii_state, 0x1000);
    made.qualname = cut_piece(bytes_of("caf\xe9"sv), 601, latin1_state, 0x2000);
    Bytes odd = bytes_of(u"/\u51fd"sv);
    odd.push_back(std::byte{0x12});  // half of a character
    made.filename = cut_piece(odd, 2000, ucs2_state, 0x3000);
    made.lines = cut_piece(made.lines.data, 9000, 0, 0x4000);
    const CodeObject code = decoded(made);
    CHECK(code.name == "abcdefgh");
    CHECK(code.qualname == "caf\xc3\xa9");
    CHECK(code.filename == "/\xe5\x87\xbd");
    CHECK(code.lines.size() == 4);
    CHECK(code.name_cut);
    CHECK(code.qualname_cut);
    CHECK(code.filename_cut);
    CHECK(code.lines_cut);

    REQUIRE(code.missing.size() == 4);
    const CodePiece pieces[] = {CodePiece::name, CodePiece::qualname, CodePiece::filename, CodePiece::lines};
    const uint64_t bytes[] = {600, 601, 2000, 9000};
    // ASCII characters lie behind the shorter header.
    const uint64_t data[] = {0x1000 + 48, 0x2000 + 72, 0x3000 + 72, 0x4000 + 32};
    const uint32_t states[] = {ascii_state, latin1_state, ucs2_state, 0};
    for (size_t i = 0; i < 4; ++i) {
        CHECK(code.missing[i].piece == pieces[i]);
        CHECK(code.missing[i].object_address == 0x1000 * (i + 1));
        CHECK(code.missing[i].data_address == data[i]);
        CHECK(code.missing[i].bytes == bytes[i]);
        CHECK(code.missing[i].state == states[i]);
    }
}

TEST_CASE("of 2.7 the rest is behind the byte string's header, and a cut sequence is left off") {
    MadeCode made;
    made.name = cut_piece(bytes_of("ab\xc3"sv), 700, 0, 0x1000);
    made.qualname = {};
    made.filename = piece(bytes_of("/a.py"sv), 0, 0x3000);
    made.lines = cut_piece({}, 9000, 0, 0x4000);
    const CodeObject code = decoded(made, layout_27());
    CHECK(code.name == "ab");
    REQUIRE(code.missing.size() == 2);
    CHECK(code.missing[0].data_address == 0x1000 + 36);
    CHECK(code.missing[1].data_address == 0x4000 + 36);
}

TEST_CASE("a piece that could not be read is cut, and where its data is has to be read first") {
    MadeCode made;
    made.name = failed_piece(3, ascii_state, 0x1000);
    made.lines = failed_piece(100, 0, 0x4000);
    const CodeObject code = decoded(made);
    CHECK(code.name.empty());
    CHECK(code.name_cut);
    CHECK(code.qualname == "Server.run");
    CHECK(code.lines.empty());
    CHECK(code.lines_cut);
    REQUIRE(code.missing.size() == 2);
    CHECK(code.missing[0].piece == CodePiece::name);
    CHECK(code.missing[0].object_address == 0x1000);
    CHECK_FALSE(code.missing[0].data_address);
    CHECK(code.missing[0].bytes == 0);
    CHECK(code.missing[1].piece == CodePiece::lines);
    CHECK_FALSE(code.missing[1].data_address);
}

TEST_CASE("a str whose header could not be read is not an empty one") {
    // Its length and its state are then 0, and no str has such a state.
    MadeCode made;
    made.name = piece({}, 0, 0x1000);
    made.filename = piece({}, ascii_state, 0x3000);  // empty indeed
    const CodeObject code = decoded(made);
    CHECK(code.name.empty());
    CHECK(code.name_cut);
    REQUIRE(code.missing.size() == 1);
    CHECK(code.missing[0].piece == CodePiece::name);
    CHECK(code.missing[0].object_address == 0x1000);
    CHECK_FALSE(code.missing[0].data_address);
    CHECK(code.missing[0].bytes == 0);
    CHECK(code.filename.empty());
    CHECK_FALSE(code.filename_cut);
    // A layout without qualified names sends none.
    made.qualname = {};
    CHECK_FALSE(decoded(made).qualname_cut);
}

TEST_CASE("a piece that is longer than any real one, or has no address, is cut but not listed") {
    MadeCode made;
    made.name = cut_piece(bytes_of("abc"sv), max_name_bytes + 1, ascii_state, 0x1000);
    made.qualname = cut_piece(bytes_of("abc"sv), max_name_bytes, ascii_state, 0x2000);
    made.filename = cut_piece(bytes_of("abc"sv), 100, ascii_state, 0);
    made.lines = cut_piece({}, max_line_table_bytes + 1, 0, 0x4000);
    CodeObject code = decoded(made);
    CHECK(code.name_cut);
    CHECK(code.filename_cut);
    CHECK(code.lines_cut);
    REQUIRE(code.missing.size() == 1);
    CHECK(code.missing[0].piece == CodePiece::qualname);

    made.lines = cut_piece({}, max_line_table_bytes, 0, 0x4000);
    CHECK(decoded(made).missing.size() == 2);
    made.lines = cut_piece({}, UINT64_MAX, 0, 0x4000);
    CHECK(decoded(made).missing.size() == 1);
}

TEST_CASE("a record that is shorter or longer than it can be is refused") {
    const Bytes whole = MadeCode().bytes();
    for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
        const std::span<const std::byte> part(whole.data(), bytes);
        if (decode_code_record(part, layout_311())) FAIL("decoded " << bytes << " bytes");
    }
    // The ring rounds up; more than any record has is none of ours.
    Bytes padded = whole;
    padded.resize(sizeof(pyperf_code_record));
    CHECK(decode_code_record(padded, layout_311()));
    padded.resize(sizeof(pyperf_code_record) + 1);
    CHECK_FALSE(decode_code_record(padded, layout_311()));
}

TEST_CASE("a record that contradicts itself is refused") {
    MadeCode made;
    made.head.type = PYPERF_RECORD_STACK;
    CHECK_FALSE(decode_code_record(made.bytes(), layout_311()));

    for (MadePiece MadeCode::*piece :
         {&MadeCode::name, &MadeCode::qualname, &MadeCode::filename, &MadeCode::lines}) {
        MadeCode more_than_there;
        (more_than_there.*piece).text.copied = PYPERF_CODE_DATA_MAX;
        (more_than_there.*piece).text.bytes = PYPERF_CODE_DATA_MAX;
        CHECK_FALSE(decode_code_record(more_than_there.bytes(), layout_311()));
        MadeCode enormous;
        (enormous.*piece).text.copied = 0xffffffff;
        (enormous.*piece).text.bytes = UINT64_MAX;
        CHECK_FALSE(decode_code_record(enormous.bytes(), layout_311()));
        MadeCode more_than_it_has;
        (more_than_it_has.*piece).text.bytes = (more_than_it_has.*piece).text.copied - 1;
        CHECK_FALSE(decode_code_record(more_than_it_has.bytes(), layout_311()));
    }
}

TEST_CASE("a name that the layout's strings cannot have is refused") {
    MadeCode made;
    made.name.text.state = 0;
    CHECK_FALSE(decode_code_record(made.bytes(), layout_311()));
    made = {};
    made.filename.text.state = 3 << 2 | 1 << 5;
    CHECK_FALSE(decode_code_record(made.bytes(), layout_311()));
    made = {};
    made.qualname.data[0] = std::byte{0xe9};  // ASCII, it says
    CHECK_FALSE(decode_code_record(made.bytes(), layout_311()));
    // The line table is no str: its state word means nothing.
    made = {};
    made.lines.text.state = 0xffffffff;
    CHECK(decode_code_record(made.bytes(), layout_311()));
}

TEST_CASE("whatever bytes are in a record, it is decoded within them or refused") {
    std::mt19937 random(3);
    const Bytes whole = MadeCode().bytes();
    size_t decoded = 0;
    for (int round = 0; round < 20000; ++round) {
        Bytes bytes = whole;
        for (auto changes = 1 + random() % 4; changes > 0; --changes)
            bytes[random() % bytes.size()] = static_cast<std::byte>(random() & 0xff);
        if (random() % 4 == 0) bytes.resize(random() % (bytes.size() + 1));
        // Of exactly its size, so that a sanitizer sees a read behind it.
        const Bytes exact(bytes.begin(), bytes.end());
        const auto code = decode_code_record(exact, round % 2 ? layout_311() : layout_27());
        if (!code) continue;
        ++decoded;
        REQUIRE(code->lines.size() <= exact.size());
        for (const MissingPiece& missing : code->missing) {
            REQUIRE(missing.object_address != 0);
            REQUIRE(missing.bytes <=
                    (missing.piece == CodePiece::lines ? max_line_table_bytes : max_name_bytes));
        }
    }
    CHECK(decoded > 1000);
}

TEST_CASE("the layout that a record wants is its index, whichever there are") {
    MadeCode made;
    made.head.layout = 0xfffffff0;
    REQUIRE(layout_of_code_record(made.bytes()));
    CHECK(*layout_of_code_record(made.bytes()) == 0xfffffff0);
    Bytes short_one = made.bytes();
    short_one.resize(offsetof(pyperf_code_record, layout) + 4);
    CHECK(layout_of_code_record(short_one));
    short_one.pop_back();
    CHECK_FALSE(layout_of_code_record(short_one));
    CHECK_FALSE(layout_of_code_record({}));
    made.head.type = PYPERF_RECORD_CLASS;
    CHECK_FALSE(layout_of_code_record(made.bytes()));
}

TEST_CASE("what was fetched takes its place, and is missing no longer") {
    MadeCode made;
    made.name = cut_piece(bytes_of("abc"sv), 6, ascii_state, 0x1000);
    made.filename = failed_piece(5, 0, 0x3000);
    made.lines = cut_piece({}, 3, 0, 0x4000);
    CodeObject code = decoded(made);
    REQUIRE(code.missing.size() == 3);
    REQUIRE(complete_code_object(code, CodePiece::name, ascii_state, bytes_of("abcdef"sv), layout_311()));
    CHECK(code.name == "abcdef");
    CHECK_FALSE(code.name_cut);
    CHECK(code.filename_cut);
    REQUIRE(code.missing.size() == 2);
    CHECK(code.missing[0].piece == CodePiece::filename);
    // The state is the one that was read with the data.
    REQUIRE(complete_code_object(code, CodePiece::filename, ucs4_state, bytes_of(U"/\U0001f40d"sv),
                                 layout_311()));
    CHECK(code.filename == "/\xf0\x9f\x90\x8d");
    CHECK_FALSE(code.filename_cut);
    REQUIRE(complete_code_object(code, CodePiece::lines, 0, bytes_of("\x80\x81\x82"sv), layout_311()));
    CHECK(code.lines == std::vector<uint8_t>{0x80, 0x81, 0x82});
    CHECK_FALSE(code.lines_cut);
    CHECK(code.missing.empty());
    CHECK(code.qualname == "Server.run");
}

TEST_CASE("what was fetched and cannot be changes nothing") {
    MadeCode made;
    made.name = cut_piece(bytes_of("abc"sv), 6, ascii_state, 0x1000);
    CodeObject code = decoded(made);
    const Layout layout = layout_311();
    CHECK_FALSE(complete_code_object(code, CodePiece::name, 0, bytes_of("abcdef"sv), layout));
    CHECK_FALSE(complete_code_object(code, CodePiece::name, ascii_state, bytes_of("abc\xe9"sv), layout));
    CHECK_FALSE(complete_code_object(code, CodePiece::name, ascii_state, Bytes(max_name_bytes + 1), layout));
    CHECK_FALSE(complete_code_object(code, CodePiece::lines, 0, Bytes(max_line_table_bytes + 1), layout));
    CHECK(code.name == "abc");
    CHECK(code.name_cut);
    CHECK(code.lines == plain(made.lines.data));
    REQUIRE(code.missing.size() == 1);
    CHECK(code.missing[0].piece == CodePiece::name);
    CHECK(complete_code_object(code, CodePiece::name, ascii_state, Bytes(max_name_bytes, std::byte{'n'}),
                               layout));
    CHECK(complete_code_object(code, CodePiece::lines, 0, Bytes(max_line_table_bytes), layout));
}

TEST_CASE("where a piece's data begins follows from the layout and the state") {
    CHECK(data_offset(layout_311(), CodePiece::name, ascii_state) == 48u);
    CHECK(data_offset(layout_311(), CodePiece::filename, latin1_state) == 72u);
    CHECK(data_offset(layout_311(), CodePiece::qualname, ucs4_state) == 72u);
    CHECK(data_offset(layout_311(), CodePiece::lines, 0) == 32u);
    CHECK_FALSE(data_offset(layout_311(), CodePiece::name, 0));
    CHECK(data_offset(layout_27(), CodePiece::name, 0) == 36u);
    CHECK(data_offset(layout_27(), CodePiece::lines, 0) == 36u);
    Layout silent = layout_311();
    silent.structs.erase("PyBytesObject");
    silent.structs["PyCompactUnicodeObject"].size.reset();
    CHECK_FALSE(data_offset(silent, CodePiece::lines, 0));
    CHECK_FALSE(data_offset(silent, CodePiece::name, latin1_state));
    CHECK(data_offset(silent, CodePiece::name, ascii_state) == 48u);
}

TEST_CASE("a class's name is what is behind its last dot") {
    const auto name_of = [](std::string_view name) {
        const auto decoded = decode_class_record(MadeClass(name).bytes());
        REQUIRE(decoded);
        CHECK(decoded->id == 0x51);
        CHECK(decoded->pid == 77);
        CHECK_FALSE(decoded->cut);
        return decoded->name;
    };
    CHECK(name_of("Server") == "Server");
    CHECK(name_of("collections.abc.Sized") == "Sized");
    CHECK(name_of("m.Caf\xc3\xa9") == "Caf\xc3\xa9");
    CHECK(name_of("Caf\xe9") == "Caf\xef\xbf\xbdxe9");
    CHECK(name_of("").empty());
}

TEST_CASE("a class's name may be cut or missing") {
    MadeClass cut("m.Na\xc3");
    cut.record.name.bytes = 600;
    auto decoded = decode_class_record(cut.bytes());
    REQUIRE(decoded);
    CHECK(decoded->name == "Na");
    CHECK(decoded->cut);
    MadeClass failed("");
    failed.record.name.error = 1;
    decoded = decode_class_record(failed.bytes());
    REQUIRE(decoded);
    CHECK(decoded->name.empty());
    CHECK(decoded->cut);
}

TEST_CASE("a class record that contradicts itself is refused") {
    const MadeClass made("Server");
    constexpr size_t data_begin = offsetof(pyperf_class_record, data);
    for (size_t bytes = 0; bytes < data_begin + 6; ++bytes)
        CHECK_FALSE(decode_class_record(made.bytes(bytes)));
    CHECK(decode_class_record(made.bytes(data_begin + 6)));
    CHECK_FALSE(decode_class_record(made.bytes(sizeof(pyperf_class_record) + 1)));
    MadeClass wrong = made;
    wrong.record.type = PYPERF_RECORD_CODE;
    CHECK_FALSE(decode_class_record(wrong.bytes()));
    wrong = made;
    wrong.record.name.copied = 7;
    CHECK_FALSE(decode_class_record(wrong.bytes()));
    wrong = made;
    wrong.record.name.copied = PYPERF_NAME_MAX + 1;
    wrong.record.name.bytes = PYPERF_NAME_MAX + 1;
    CHECK_FALSE(decode_class_record(wrong.bytes()));
}
