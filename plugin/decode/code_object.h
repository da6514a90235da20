// SPDX-License-Identifier: Apache-2.0
// The room `decode`: in come the records that the BPF programs sent (bpf/records.h) and a layout; out go
// names, lines and frames. Pure functions over bytes: no file descriptors, no clock, no globals, and no
// knowledge of BPF, of processes or of how anything is shown. A record is checked like any foreign input.
//
// This file: code objects and classes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "layout/layout.h"
#include "records.h"
#include "result.h"

namespace pyperf {

enum class CodePiece { name, qualname, filename, lines };

// A piece that the record has not whole: it was longer than a record's share, or a read failed.
struct MissingPiece {
    CodePiece piece{};
    uint64_t object_address = 0;           // of the str or bytes object in the target
    std::optional<uint64_t> data_address;  // of its first character or byte; nothing if a read failed: then
                                           // the object's header has to be read first
    uint64_t bytes = 0;                    // that the whole piece has; 0 if a read failed
    uint32_t state = 0;                    // str: the state word
};

struct CodeObject {
    uint64_t id = 0;
    uint32_t pid = 0;
    uint64_t address = 0;
    uint32_t version = 0;  // co_version, 0 where there is none
    std::string name;      // UTF-8, as the three next
    std::string qualname;  // empty before 3.11
    std::string filename;
    int32_t first_line = 0;
    uint32_t flags = 0;  // co_flags
    // From 3.11 on: byte offset of the first instruction that belongs to a line (2 * _co_firsttraceable).
    std::optional<int32_t> first_traceable;
    LineTable line_format{};
    std::vector<uint8_t> lines;
    bool name_cut = false;  // these four: only the beginning is there (nothing, if a read failed)
    bool qualname_cut = false;
    bool filename_cut = false;
    bool lines_cut = false;
    // What user space can fetch from the target. A piece that is longer than any real one is cut, but not
    // listed.
    std::vector<MissingPiece> missing;
};

// The most that a piece may have to be fetched: real names have some hundred bytes, real line tables up to
// some hundred KiB (the longest of the standard library: 66 KiB); more is not worth a hostile target's
// demand.
inline constexpr uint64_t max_name_bytes = uint64_t{64} << 10;
inline constexpr uint64_t max_line_table_bytes = uint64_t{4} << 20;

// Which layout a code record wants: pyperf_code_record.layout. Fails for bytes that are no code record.
Result<uint32_t> layout_of_code_record(std::span<const std::byte> record);

// Decodes a struct pyperf_code_record, of which `record` may hold less than sizeof: only the data that is
// there. Fails for a record that contradicts itself, or with a name that the layout's strings cannot have.
Result<CodeObject> decode_code_record(std::span<const std::byte> record, const Layout& layout);

// Puts a piece that user space fetched into its place; `data` is the whole piece, `state` the str's state
// word. On success the piece is no longer listed as missing; on failure `code` is as before.
Result<void> complete_code_object(CodeObject& code, CodePiece piece, uint32_t state,
                                  std::span<const std::byte> data, const Layout& layout);

// Where the data of a piece begins behind its object's address, in bytes; nothing if the layout does not say,
// or the state word is not possible.
std::optional<uint32_t> data_offset(const Layout& layout, CodePiece piece, uint32_t state);

struct ClassName {
    uint64_t id = 0;
    uint32_t pid = 0;
    std::string name;  // the part of tp_name behind its last dot, UTF-8
    bool cut = false;
};

// Decodes a struct pyperf_class_record; the same rules.
Result<ClassName> decode_class_record(std::span<const std::byte> record);

}  // namespace pyperf
