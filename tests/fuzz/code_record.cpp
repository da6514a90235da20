// SPDX-License-Identifier: Apache-2.0
// A code object's record under the layouts of the database, and the pieces that are fetched for it
// afterwards. Names are valid UTF-8; only a piece that is cut is missing, once, and not longer than any real
// one; a fetched piece is no longer missing, and one that is refused leaves everything as it was.
#include "decode/code_object.h"

#include "input.h"
#include "layouts.h"

using namespace pyperf;
using namespace pyperf_test;

namespace {

bool is_cut(const CodeObject& code, CodePiece piece) {
    if (piece == CodePiece::name) return code.name_cut;
    if (piece == CodePiece::qualname) return code.qualname_cut;
    return piece == CodePiece::filename ? code.filename_cut : code.lines_cut;
}

void check(const CodeObject& code) {
    for (const std::string* text : {&code.name, &code.qualname, &code.filename})
        require(is_utf8(*text), "names are valid UTF-8");
    for (const MissingPiece& missing : code.missing) {
        const bool lines = missing.piece == CodePiece::lines;
        require(is_cut(code, missing.piece), "only a piece that is cut is missing");
        require(missing.bytes <= (lines ? max_line_table_bytes : max_name_bytes), "a missing piece's length");
        require(missing.object_address != 0, "a missing piece is somewhere");
        require(std::ranges::count(code.missing, missing.piece, &MissingPiece::piece) == 1,
                "missing only once");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Input input(data, size);
    const Layout& layout = layout_number(input.take<uint8_t>());
    const auto record = std::as_bytes(input.rest());
    auto code = decode_code_record(record, layout);
    if (!code) {
        require_told(code.error());
        return 0;
    }
    check(*code);
    for (const MissingPiece& missing : std::vector<MissingPiece>(code->missing)) {
        const CodeObject before = *code;
        const auto fetched = record.last(std::min<size_t>(missing.bytes, record.size()));
        if (complete_code_object(*code, missing.piece, missing.state, fetched, layout)) {
            require(!is_cut(*code, missing.piece) && code->missing.size() + 1 == before.missing.size(),
                    "a fetched piece is not missing");
        } else {
            require(code->name == before.name && code->qualname == before.qualname &&
                        code->filename == before.filename && code->missing.size() == before.missing.size(),
                    "a refused piece changes nothing");
        }
        check(*code);
    }
    return 0;
}
