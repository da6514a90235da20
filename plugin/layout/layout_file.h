// SPDX-License-Identifier: Apache-2.0
// One file of the offset database: TOML that a person can read and compare, format 1 (docs/offsets.md). The
// reader is strict, for what it lets pass becomes addresses that are read in other processes: it knows every
// key, asks for every member that the version has, and checks ranges, overlaps and that rules and members
// fit. Nothing here knows where the files lie.
#pragma once

#include <string>
#include <string_view>

#include "layout/layout.h"
#include "result.h"

namespace pyperf {

inline constexpr int kLayoutFileSchema = 1;
inline constexpr size_t kLayoutFileMaxBytes = size_t{256} << 10;

// Reads a layout from the text of a file.
// text: whole content, ASCII (other characters as \uXXXX in strings). file_name: for messages only, and its
// stem (without folders and ".toml") has to be the layout's name. Errors: the first one found, "FILE:LINE:
// what".
Result<Layout> parse_layout(std::string_view text, const std::string& file_name);

// Reads a layout file. Opens regular files only, without waiting (a FIFO or a device is refused), up to
// kLayoutFileMaxBytes. Errors: as parse_layout, and those of the system with the file's name.
Result<Layout> read_layout_file(const std::string& path);

// The file's text for a layout: stable order (the one of structures.h), so that two files can be compared.
// comment: lines of ASCII for the head of the file, without "# "; may be empty.
std::string format_layout(const Layout& layout, std::string_view comment = "");

// Is the layout complete and free of contradictions? What parse_layout checks, for layouts that come from
// elsewhere.
Result<void> check_layout(const Layout& layout);

}  // namespace pyperf
