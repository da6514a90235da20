// SPDX-License-Identifier: Apache-2.0
// The layouts of the offset database, for targets whose bytes mean something under a layout only.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "input.h"
#include "layout/layout_file.h"

namespace pyperf_test {

inline const pyperf::Layout& layout_number(size_t number) {
    static const std::vector<pyperf::Layout> layouts = [] {
        std::vector<std::string> files;
        for (const auto& entry : std::filesystem::directory_iterator(PYPERF_SOURCE_DIR "/offsets"))
            if (entry.path().extension() == ".toml") files.push_back(entry.path().string());
        std::ranges::sort(files);
        std::vector<pyperf::Layout> read;
        for (const std::string& file : files) {
            auto layout = pyperf::read_layout_file(file);
            require(static_cast<bool>(layout), "the layouts of the database can be read");
            read.push_back(*std::move(layout));
        }
        return read;
    }();
    require(!layouts.empty(), "the database has layouts");
    return layouts[number % layouts.size()];
}

}  // namespace pyperf_test
