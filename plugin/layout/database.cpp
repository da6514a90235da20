// SPDX-License-Identifier: Apache-2.0
#include "layout/database.h"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "layout/layout_file.h"

namespace pyperf {
namespace {

// A directory with more is no offset database; reading on would only delay the start.
constexpr size_t kMaxDirectoryEntries = 20000;
constexpr size_t kMaxLayoutFiles = 1000;

struct DirectoryCloser {
    void operator()(DIR* directory) const { closedir(directory); }
};

bool same_build(const Layout& layout, const BuildFlavour& flavour) {
    return layout.free_threaded == flavour.free_threaded && layout.trace_refs == flavour.trace_refs;
}

}  // namespace

std::vector<std::string> Database::default_directories() {
    std::vector<std::string> all;
    const char* replaced = std::getenv("PYPERF_OFFSETS_PATH");
    std::string_view rest = replaced && *replaced ? replaced : PYPERF_OFFSETS_DIR;
    while (!rest.empty()) {
        const std::string_view part = rest.substr(0, rest.find(':'));
        if (!part.empty()) all.emplace_back(part);
        rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    }
    all.emplace_back("/etc/pyperf/offsets.d");
    std::erase_if(all, [](const std::string& directory) {
        std::error_code error;
        return !std::filesystem::is_directory(directory, error);
    });
    return all;
}

Database Database::open(const std::vector<std::string>& directories) {
    Database database;
    for (size_t i = 0; i < directories.size(); i++) database.read_directory(directories[i], i);
    std::ranges::sort(database.entries_, {},
                      [](const DatabaseEntry& entry) -> const std::string& { return entry.layout.name; });
    return database;
}

void Database::read_directory(const std::string& directory, size_t index) {
    const std::unique_ptr<DIR, DirectoryCloser> stream(opendir(directory.c_str()));
    if (!stream) {
        warnings_.push_back(
            fmt::format("{}: the directory cannot be read: {}", directory, std::strerror(errno)));
        return;
    }
    std::vector<std::string> names;
    size_t seen = 0;
    while (const dirent* entry = readdir(stream.get())) {
        const std::string_view name = entry->d_name;
        if (++seen > kMaxDirectoryEntries || names.size() >= kMaxLayoutFiles) {
            warnings_.push_back(fmt::format("{}: has too many entries, the rest is not read", directory));
            break;
        }
        if (name.ends_with(".toml") && name.front() != '.') names.emplace_back(name);
    }
    std::ranges::sort(names);
    for (const std::string& name : names) {
        const std::string path = directory + (directory.ends_with('/') ? "" : "/") + name;
        auto layout = read_layout_file(path);
        if (!layout) {
            warnings_.push_back(layout.error().message);
            continue;
        }
        const auto same = std::ranges::find_if(
            entries_, [&](const DatabaseEntry& entry) { return entry.layout.name == layout->name; });
        if (same != entries_.end())
            *same = {std::move(*layout), path, index};
        else
            entries_.push_back({std::move(*layout), path, index});
    }
}

std::vector<const Layout*> Database::lookup(const PythonVersion& version, const BuildFlavour& flavour) const {
    std::vector<const DatabaseEntry*> found;
    for (const DatabaseEntry& entry : entries_)
        if (same_build(entry.layout, flavour) &&
            entry.layout.covers(version, flavour.architecture, flavour.c_library))
            found.push_back(&entry);
    std::ranges::stable_sort(found, std::ranges::greater{}, &DatabaseEntry::directory);
    std::vector<const Layout*> layouts;
    for (const DatabaseEntry* entry : found) layouts.push_back(&entry->layout);
    return layouts;
}

const Layout* Database::candidate(const PythonVersion& version, const BuildFlavour& flavour) const {
    if (!version.is_final()) return nullptr;
    const DatabaseEntry* newest = nullptr;
    for (const DatabaseEntry& entry : entries_) {
        const Layout& layout = entry.layout;
        if (layout.last.major != version.major || layout.last.minor != version.minor ||
            !same_build(layout, flavour) ||
            !layout.covers(layout.last, flavour.architecture, flavour.c_library))
            continue;
        if (layout.last >= version) return nullptr;
        if (!newest || newest->layout.last < layout.last ||
            (newest->layout.last == layout.last && newest->directory < entry.directory))
            newest = &entry;
    }
    return newest ? &newest->layout : nullptr;
}

const Layout* Database::find(std::string_view name) const {
    for (const DatabaseEntry& entry : entries_)
        if (entry.layout.name == name) return &entry.layout;
    return nullptr;
}

}  // namespace pyperf
