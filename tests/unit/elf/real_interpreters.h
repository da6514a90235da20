// SPDX-License-Identifier: Apache-2.0
// The interpreters on this machine that tests examine: those of pyenv (shared libraries, not stripped), the
// system's own, and Debian's from the test cache (stripped executables; see scripts/interpreters).
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace pyperf_test {

struct RealInterpreter {
    std::string file;     // that holds the interpreter
    std::string version;  // what it must say; empty: only known by asking
    std::string python;   // the command to run; empty: cannot be run here
    bool stripped = false;
};

inline std::vector<std::filesystem::path> sorted_entries(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> entries;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
        entries.push_back(entry.path());
    std::sort(entries.begin(), entries.end());
    return entries;
}

inline std::vector<RealInterpreter> pyenv_interpreters() {
    std::vector<RealInterpreter> found;
    const char* home = std::getenv("HOME");
    if (!home) return found;
    for (const auto& version : sorted_entries(std::filesystem::path(home) / ".pyenv/versions")) {
        for (const auto& library : sorted_entries(version / "lib")) {
            const std::string name = library.filename().string();
            if (name.starts_with("libpython") && name.ends_with(".so.1.0")) {
                found.push_back({library.string(), version.filename().string(),
                                 (version / "bin/python").string(), false});
            }
        }
    }
    return found;
}

inline std::vector<RealInterpreter> debian_interpreters() {
    std::vector<RealInterpreter> found;
    const char* set = std::getenv("PYPERF_TEST_CACHE");
    const std::filesystem::path cache = set ? set : "/var/cache/pyperf-tests";
    for (const auto& package : sorted_entries(cache / "dev")) {
        // python3.11-minimal-3.11.2-6+deb12u8
        const std::string name = package.filename().string();
        const size_t minimal = name.find("-minimal-");
        if (!name.starts_with("python") || minimal == std::string::npos) continue;
        const std::string version = name.substr(minimal + 9);
        const auto file = package / "usr/bin" / name.substr(0, minimal);
        if (std::filesystem::exists(file)) {
            found.push_back({file.string(), version.substr(0, version.find('-')), "", true});
        }
    }
    for (const auto& program : sorted_entries(cache / "forky/usr/bin")) {
        const std::string name = program.filename().string();
        if (name.starts_with("python3.") && name.find_first_not_of("0123456789", 8) == std::string::npos) {
            found.push_back({program.string(), "", "", true});
        }
    }
    return found;
}

inline std::vector<RealInterpreter> system_interpreters() {
    const std::filesystem::path python = "/usr/bin/python3";
    std::error_code ignored;
    const auto file = std::filesystem::canonical(python, ignored);
    if (ignored) return {};
    return {{file.string(), "", python.string(), true}};
}

inline std::vector<RealInterpreter> all_interpreters() {
    auto all = pyenv_interpreters();
    for (auto& one : debian_interpreters()) all.push_back(one);
    for (auto& one : system_interpreters()) all.push_back(one);
    return all;
}

}  // namespace pyperf_test
