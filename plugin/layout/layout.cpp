// SPDX-License-Identifier: Apache-2.0
#include "layout/layout.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

namespace pyperf {
namespace {

template <typename Rule>
struct RuleName {
    Rule value;
    std::string_view name;
};

constexpr std::array kFrameChains{RuleName<FrameChain>{FrameChain::frame_object, "frame_object"},
                                  RuleName<FrameChain>{FrameChain::cframe, "cframe"},
                                  RuleName<FrameChain>{FrameChain::current_frame, "current_frame"}};
constexpr std::array kLineTables{RuleName<LineTable>{LineTable::lnotab_unsigned, "lnotab_unsigned"},
                                 RuleName<LineTable>{LineTable::lnotab_signed, "lnotab_signed"},
                                 RuleName<LineTable>{LineTable::pep626_pairs, "pep626_pairs"},
                                 RuleName<LineTable>{LineTable::locations, "locations"}};
constexpr std::array kThreadBindings{RuleName<ThreadBinding>{ThreadBinding::key_list, "key_list"},
                                     RuleName<ThreadBinding>{ThreadBinding::pthread_key, "pthread_key"},
                                     RuleName<ThreadBinding>{ThreadBinding::runtime_key, "runtime_key"},
                                     RuleName<ThreadBinding>{ThreadBinding::thread_local_, "thread_local"}};
constexpr std::array kStringKinds{RuleName<StringKind>{StringKind::bytes, "bytes"},
                                  RuleName<StringKind>{StringKind::unicode, "unicode"}};

template <typename Table, typename Rule>
std::string_view name_in(const Table& table, Rule value) {
    for (const auto& entry : table)
        if (entry.value == value) return entry.name;
    return "?";
}

template <typename Rule, typename Table>
Result<Rule> value_in(const Table& table, std::string_view name) {
    std::string known;
    for (const auto& entry : table) {
        if (entry.name == name) return entry.value;
        known += known.empty() ? "" : ", ";
        known += entry.name;
    }
    return Error{fmt::format("\"{}\" is not known; one of: {}", name, known)};
}

// Reads a decimal number of at most three digits from the front of `text`; nothing if there is none or it is
// above `limit`.
std::optional<uint8_t> take_number(std::string_view& text, unsigned limit) {
    unsigned value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + std::min<size_t>(text.size(), 3), value);
    if (parsed.ec != std::errc{} || value > limit) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(parsed.ptr - text.data()));
    return static_cast<uint8_t>(value);
}

bool take(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

}  // namespace

PythonVersion PythonVersion::from_hex(uint32_t hex) {
    return {static_cast<uint8_t>(hex >> 24), static_cast<uint8_t>(hex >> 16 & 0xff),
            static_cast<uint8_t>(hex >> 8 & 0xff), static_cast<uint8_t>(hex >> 4 & 0xf),
            static_cast<uint8_t>(hex & 0xf)};
}

uint32_t PythonVersion::hex() const {
    return uint32_t{major} << 24 | uint32_t{minor} << 16 | uint32_t{micro} << 8 | (level & 0xfU) << 4 |
           (serial & 0xfU);
}

Result<PythonVersion> PythonVersion::parse(std::string_view text) {
    const Error error{
        fmt::format("\"{}\" is no CPython version like 3.13.0 or 3.14.0rc2", text.substr(0, 40))};
    std::string_view rest = text;
    const auto major = take_number(rest, 255);
    if (!major || !take(rest, ".")) return error;
    const auto minor = take_number(rest, 255);
    if (!minor || !take(rest, ".")) return error;
    const auto micro = take_number(rest, 255);
    if (!micro) return error;

    PythonVersion version{*major, *minor, *micro, 0xf, 0};
    if (take(rest, "a"))
        version.level = 0xa;
    else if (take(rest, "b"))
        version.level = 0xb;
    else if (take(rest, "rc") || take(rest, "c"))
        version.level = 0xc;  // 2.7's PY_VERSION said "c"
    if (!version.is_final()) {
        const auto serial = take_number(rest, 15);
        if (!serial) return error;
        version.serial = *serial;
    }
    take(rest, "+");
    if (!rest.empty()) return error;
    return version;
}

std::string PythonVersion::to_string() const {
    std::string text = fmt::format("{}.{}.{}", major, minor, micro);
    if (is_final()) return text;
    const std::string_view letters = level == 0xa ? "a" : level == 0xb ? "b" : level == 0xc ? "rc" : "?";
    return text + fmt::format("{}{}", letters, serial);
}

std::optional<uint32_t> Layout::offset(std::string_view structure, std::string_view member) const {
    const auto found = structs.find(structure);
    if (found == structs.end()) return std::nullopt;
    const auto entry = found->second.members.find(member);
    if (entry == found->second.members.end()) return std::nullopt;
    return entry->second;
}

std::optional<uint32_t> Layout::size_of(std::string_view structure) const {
    const auto found = structs.find(structure);
    return found == structs.end() ? std::nullopt : found->second.size;
}

bool Layout::covers(const PythonVersion& version, std::string_view architecture,
                    std::string_view c_library) const {
    const auto has = [](const std::vector<std::string>& list, std::string_view item) {
        return std::find(list.begin(), list.end(), item) != list.end();
    };
    return version.is_final() && first <= version && version <= last && has(architectures, architecture) &&
           (c_library.empty() || has(c_libraries, c_library));
}

std::string_view to_string(FrameChain value) {
    return name_in(kFrameChains, value);
}
std::string_view to_string(LineTable value) {
    return name_in(kLineTables, value);
}
std::string_view to_string(ThreadBinding value) {
    return name_in(kThreadBindings, value);
}
std::string_view to_string(StringKind value) {
    return name_in(kStringKinds, value);
}

template <>
Result<FrameChain> parse_rule(std::string_view name) {
    return value_in<FrameChain>(kFrameChains, name);
}
template <>
Result<LineTable> parse_rule(std::string_view name) {
    return value_in<LineTable>(kLineTables, name);
}
template <>
Result<ThreadBinding> parse_rule(std::string_view name) {
    return value_in<ThreadBinding>(kThreadBindings, name);
}
template <>
Result<StringKind> parse_rule(std::string_view name) {
    return value_in<StringKind>(kStringKinds, name);
}

}  // namespace pyperf
