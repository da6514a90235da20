// SPDX-License-Identifier: Apache-2.0
// Stack records: ids and instructions, which CodeTable (code_table.h) turns into names and lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "records.h"
#include "result.h"

namespace pyperf {

struct Stack {
    uint32_t pid = 0;
    uint64_t id = 0;
    bool truncated = false;            // the root side is missing
    std::vector<pyperf_frame> frames;  // leaf first
};

// Decodes a struct pyperf_stack_record, of which `record` needs to hold only the frames that are there. Fails
// for a record that contradicts itself.
Result<Stack> decode_stack_record(std::span<const std::byte> record);

}  // namespace pyperf
