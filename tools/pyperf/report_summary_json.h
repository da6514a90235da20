// SPDX-License-Identifier: Apache-2.0
// The summary for programs (--summary-json). Pure. The keys are documented in pyperf(8).
#pragma once

#include <string>

#include "run_facts.h"

namespace pyperf::tool {

// One JSON object and a newline. Texts are escaped as in the other outputs, so they are valid whatever a
// target's names hold.
std::string summary_json(const RunFacts& facts);

}  // namespace pyperf::tool
