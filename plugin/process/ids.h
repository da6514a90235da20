// SPDX-License-Identifier: Apache-2.0
// Numbers that must not be mixed up: process ids as the host counts them and as a container does, and
// addresses in a target (never pointers of ours).
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace pyperf {

// A process or thread id in the pid namespace that pyperf runs in.
struct HostPid {
    int32_t value = 0;
    auto operator<=>(const HostPid&) const = default;
};

// A process or thread id in the innermost pid namespace of the target: what the target itself sees.
struct NamespacePid {
    int32_t value = 0;
    auto operator<=>(const NamespacePid&) const = default;
};

// An address in a target's memory.
struct TargetAddress {
    uint64_t value = 0;
    auto operator<=>(const TargetAddress&) const = default;
    TargetAddress operator+(uint64_t bytes) const { return {value + bytes}; }
    explicit operator bool() const { return value != 0; }
};

}  // namespace pyperf

template <>
struct std::hash<pyperf::HostPid> {
    size_t operator()(pyperf::HostPid pid) const noexcept { return std::hash<int32_t>()(pid.value); }
};
