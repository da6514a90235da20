// SPDX-License-Identifier: Apache-2.0
// The layouts of offsets/, which the tests take and break: their names, texts and contents.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "catch2_header.h"
#include "layout/layout_file.h"

namespace pyperf_test {

inline const std::string shipped_folder = PYPERF_SOURCE_DIR "/offsets";

inline std::vector<std::string> shipped_names() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(shipped_folder))
        if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    REQUIRE(names.size() >= 31);
    return names;
}

inline std::string shipped_text(const std::string& name) {
    std::ifstream stream(shipped_folder + "/" + name + ".toml", std::ios::binary);
    REQUIRE(stream);
    return {std::istreambuf_iterator<char>(stream), {}};
}

inline pyperf::Layout shipped(const std::string& name) {
    auto layout = pyperf::read_layout_file(shipped_folder + "/" + name + ".toml");
    if (!layout) FAIL(layout.error().message);
    return *layout;
}

// The text with the only `from` in it replaced.
inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
    INFO("replaced: " << from);
    const size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    REQUIRE(text.find(from, at + 1) == std::string::npos);
    return text.replace(at, from.size(), to);
}

// The number of the line in which the first `part` begins.
inline size_t line_of(const std::string& text, std::string_view part) {
    INFO("sought: " << part);
    const size_t at = text.find(part);
    REQUIRE(at != std::string::npos);
    return 1 + static_cast<size_t>(std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(at), '\n'));
}

inline void write_file(const std::string& path, std::string_view text) {
    std::ofstream stream(path, std::ios::binary | std::ios::trunc);
    stream << text;
    stream.close();
    REQUIRE(stream);
}

inline bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

}  // namespace pyperf_test
