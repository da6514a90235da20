// SPDX-License-Identifier: Apache-2.0
// Ctrl-C and its relatives end a run with its results.
#pragma once

namespace pyperf::tool {

// SIGINT and SIGTERM, and SIGHUP unless it is ignored (nohup): from now on they are noted; a wait that they
// fall into ends with EINTR. SIGPIPE is ignored: a closed pipe is seen at the write.
void catch_signals();
// The last one that came; 0: none.
int caught_signal();
// While results are written, Ctrl-C does nothing, as in bcc's tools: an impatient second one must not lose
// them.
void ignore_interrupts();

}  // namespace pyperf::tool
