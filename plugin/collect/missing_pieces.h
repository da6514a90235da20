// SPDX-License-Identifier: Apache-2.0
// What a code object's record could not bring: too long for it, or not in memory just then. It is read from
// the target while that lives.
#pragma once

#include "decode/code_object.h"
#include "layout/layout.h"
#include "process/memory.h"
#include "result.h"

namespace pyperf {

// Fetches each piece that is listed as missing, its object's header first where that is not known. What
// cannot be had stays listed. Errors: the last reason why a piece could not be had, for people.
Result<void> fetch_missing_pieces(CodeObject& code, const ProcessMemory& memory, const Layout& layout);

}  // namespace pyperf
