// SPDX-License-Identifier: Apache-2.0
// The room's front door: is this process a CPython, which one, and where is everything in it? In: a pid. Out:
// a PythonProcess with absolute addresses. It does not know layouts: what needs one (the thread key inside
// _PyRuntime, whether an interpreter runs) is up to its callers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "elf/interpreter_image.h"
#include "process/ids.h"
#include "process/image_cache.h"
#include "process/libc.h"
#include "records.h"

namespace pyperf {

// Whether the interpreter has been set up: its pointer to the first interpreter state is not NULL.
enum class Initialised { no, yes, unknown };

// Where one interpreter lies in one process. An address that is 0: not there, or the file does not tell.
struct InterpreterAddresses {
    TargetAddress runtime;
    TargetAddress code_type;
    TargetAddress frame_type;
    TargetAddress instance_type;
    TargetAddress none;
    TargetAddress current;
    TargetAddress interp_head;
    TargetAddress auto_tls_key;
    TargetAddress key_head;
    TargetAddress gil_locked;
    TargetAddress gil_last_holder;
};

struct LoadedInterpreter {
    std::shared_ptr<const InterpreterImage> image;
    uint64_t load_bias = 0;  // what the process added to the file's addresses
    std::string path;        // as the process names it; any bytes
    InterpreterAddresses addresses;
    pyperf_tls_slot current_tls{};
    pyperf_tls_slot bound_tls{};
    Initialised initialised = Initialised::unknown;
    // False: the dynamic linker has yet to fill in a word that says where a thread-local is: examine the
    // process again once it is initialised.
    bool resolved = true;
};

struct PythonProcess {
    HostPid pid;
    uint64_t start_time_ticks = 0;
    LoadedInterpreter interpreter;          // the one that is initialised, or the first
    std::vector<LoadedInterpreter> others;  // further ones in the same process
    LibcFacts libc;

    // The fields of the BPF side's entry that follow from all this. Left for the caller: layout, state, and
    // key_addr of versions that keep the key in _PyRuntime.
    pyperf_process record() const;
};

// Nothing: no CPython in it. Errors: the process is gone (-ESRCH) or cannot be read (-EPERM, -EACCES); it
// holds a CPython whose version cannot be told (-ENOENT), or that contradicts itself (-EINVAL).
Result<std::optional<PythonProcess>> examine_process(HostPid pid, ImageCache& cache);

}  // namespace pyperf
