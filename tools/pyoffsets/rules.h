// SPDX-License-Identifier: Apache-2.0
// What neither headers nor debug information say: how each minor version goes about frames, line tables, the
// thread's own state and names. One row per minor version, each with its source.
#pragma once

#include "layout/layout.h"
#include "result.h"

namespace pyperf::offsets {

struct Rules {
    FrameChain frame_chain;
    LineTable line_table;
    ThreadBinding thread_binding;
    StringKind string_kind;
    uint32_t instruction_unit;
    uint32_t executable_tag_mask;
};

// Fails for a minor version without a row: somebody has to read that version's sources first.
Result<Rules> rules_for(const PythonVersion& version);

}  // namespace pyperf::offsets
