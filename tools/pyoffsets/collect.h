// SPDX-License-Identifier: Apache-2.0
// From a source of structures to a layout: every structure and member that layout/structures.h asks for in
// this version, and the rules of rules.h. Complete or an error that names what is missing.
#pragma once

#include "layout/layout.h"
#include "result.h"
#include "structure_source.h"

namespace pyperf::offsets {

// version: of what the source describes; a final release. The layout has no name, range, architectures or
// provenance yet (first = last = version).
Result<Layout> collect_layout(const StructureSource& source, const PythonVersion& version);

}  // namespace pyperf::offsets
