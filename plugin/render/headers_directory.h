// SPDX-License-Identifier: Apache-2.0
// Where the stand-ins for kernel headers lie (bpf/headers in the tree).
#pragma once

#include <string>

#include "result.h"

namespace pyperf {

// The directory beside the library that runs (PREFIX/share/pyperf/bpf-headers, so that an installation can be
// moved), else the one it was built from. Fails when neither is there.
Result<std::string> headers_directory();

}  // namespace pyperf
