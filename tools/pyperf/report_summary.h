// SPDX-License-Identifier: Apache-2.0
// The summary for people: where each tick went, what it cost, what was left out and what to do about it.
// Pure.
#pragma once

#include <string>

#include "run_facts.h"

namespace pyperf::tool {

// Lines of at most 80 columns, as long as no single word is longer.
std::string summary_text(const RunFacts& facts);

}  // namespace pyperf::tool
