// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace pyperf::tool {

inline constexpr int exit_done = 0;
inline constexpr int exit_failed = 1;
inline constexpr int exit_usage = 2;

}  // namespace pyperf::tool
