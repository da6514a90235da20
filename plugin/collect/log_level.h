// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace pyperf {

enum class LogLevel { warning = 1, info = 2, debug = 3 };

}  // namespace pyperf
