// SPDX-License-Identifier: Apache-2.0
#include "elf/python_version_text.h"

#include <cstring>

#include "elf/code_reader.h"

namespace pyperf {
namespace {

constexpr size_t kMaxVersionText = 32;

// A CPython that is or may come, whose level is one of the four that exist.
bool is_plausible(const PythonVersion& version) {
    return version.major >= 2 && version.major <= 9 &&
           (version.level == 0xa || version.level == 0xb || version.level == 0xc || version.level == 0xf);
}

std::optional<PythonVersion> checked_hex(uint64_t hex) {
    if (hex > UINT32_MAX) return std::nullopt;
    const PythonVersion version = PythonVersion::from_hex(static_cast<uint32_t>(hex));
    if (!is_plausible(version)) return std::nullopt;
    return version;
}

// Py_GetVersion hands PY_VERSION to its formatting call: one of the addresses in its code is that of a string
// that is a version from its first byte to its NUL. (Strings in .rodata are no evidence by themselves: the
// linker merges this one into the tail of others, and there are version numbers of other things.)
Result<PythonVersion> version_in_code(const ElfImage& image, const ElfSymbol& get_version) {
    auto code = read_function(image, get_version);
    if (!code) return code.error();
    std::optional<PythonVersion> found;
    for (const AddressReference& reference : code->addresses) {
        if (reference.use != AddressReference::Use::address) continue;
        const auto text = image.read_string(reference.target, kMaxVersionText);
        if (!text || text->empty()) continue;
        const auto version = PythonVersion::parse(*text);
        if (!version || !is_plausible(*version)) continue;
        if (found && *found != *version) {
            return Error{image.name() + ": the code of Py_GetVersion refers to two versions, " +
                         found->to_string() + " and " + version->to_string()};
        }
        found = *version;
    }
    if (!found) return Error{image.name() + ": the code of Py_GetVersion names no version", -ENOENT};
    return *found;
}

}  // namespace

Result<VersionFound> find_version(const ElfImage& image, const std::optional<ElfSymbol>& py_version,
                                  const std::optional<ElfSymbol>& get_version,
                                  const std::vector<uint8_t>& debug_offsets) {
    std::vector<VersionFound> found;
    if (py_version) {
        if (const auto hex = image.read_u64(py_version->value)) {
            if (const auto version = checked_hex(*hex)) found.push_back({*version, "Py_Version"});
        }
    }
    if (debug_offsets.size() >= 16) {
        uint64_t hex = 0;
        std::memcpy(&hex, debug_offsets.data() + 8, sizeof hex);
        if (const auto version = checked_hex(hex)) found.push_back({*version, "_Py_DebugOffsets"});
    }
    std::string why;
    if (found.empty() && get_version) {
        const auto version = version_in_code(image, *get_version);
        if (version) {
            found.push_back({*version, "Py_GetVersion"});
        } else {
            why = " (" + version.error().message + ")";
        }
    }
    if (found.empty()) {
        return Error{image.name() + ": holds CPython, but does not tell its exact version" + why +
                         "; add a record for its build-id (pyoffsets add)",
                     -ENOENT};
    }
    for (const VersionFound& other : found) {
        if (other.version != found.front().version) {
            return Error{image.name() + ": contradicts itself: " + found.front().source + " says " +
                         found.front().version.to_string() + ", " + other.source + " says " +
                         other.version.to_string()};
        }
    }
    return found.front();
}

}  // namespace pyperf
