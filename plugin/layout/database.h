// SPDX-License-Identifier: Apache-2.0
// The offset database: all layout files of some directories. A bad file costs itself only: it is left out
// with a warning. Which layout fits is asked for an exact version and build; nothing is ever guessed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "layout/layout.h"

namespace pyperf {

struct DatabaseEntry {
    Layout layout;
    std::string path;      // of its file
    size_t directory = 0;  // index in what open() was given: later ones win
};

// What has to be the same as in the target besides the version.
struct BuildFlavour {
    std::string architecture;  // "x86_64", "aarch64"
    std::string c_library;     // "glibc", "musl"; empty: not known, any
    bool free_threaded = false;
    bool trace_refs = false;
};

class Database {
  public:
    // The directories that exist of: the one compiled in (or those of PYPERF_OFFSETS_PATH, separated by ':',
    // in its place), /etc/pyperf/offsets.d.
    static std::vector<std::string> default_directories();

    // Reads every *.toml of the directories, in their order; a layout replaces one of the same name from an
    // earlier directory. Never fails: what cannot be read is in warnings().
    static Database open(const std::vector<std::string>& directories);

    // By name.
    const std::vector<DatabaseEntry>& entries() const { return entries_; }
    // One line each, with file and, if the content is wrong, line.
    const std::vector<std::string>& warnings() const { return warnings_; }

    // The layouts verified for exactly this version and build, those of later directories first; usually one.
    // A pre-release never has one.
    std::vector<const Layout*> lookup(const PythonVersion& version, const BuildFlavour& flavour) const;

    // For a final micro release newer than every verified range of its minor version: the layout with the
    // newest range of that minor version and build, to be used only with a proof. Otherwise nullptr.
    const Layout* candidate(const PythonVersion& version, const BuildFlavour& flavour) const;

    const Layout* find(std::string_view name) const;

  private:
    void read_directory(const std::string& directory, size_t index);

    std::vector<DatabaseEntry> entries_;
    std::vector<std::string> warnings_;
};

}  // namespace pyperf
