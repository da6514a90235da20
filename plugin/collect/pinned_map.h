// SPDX-License-Identifier: Apache-2.0
// The maps that a user names to choose cgroups or mount namespaces, as bcc's tools take them: pinned in a BPF
// file system, filled by others.
#pragma once

#include <cstdint>
#include <string>

#include "result.h"

namespace pyperf {

// Fails, with the reason, unless a hash map with keys and values of these sizes is pinned at `path`. To be
// asked before libbcc is: that makes and pins a new, empty map where there is none.
Result<void> check_pinned_map(const std::string& path, uint32_t key_bytes, uint32_t value_bytes);

}  // namespace pyperf
