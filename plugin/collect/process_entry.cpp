// SPDX-License-Identifier: Apache-2.0
#include "collect/process_entry.h"

#include <initializer_list>
#include <string_view>

namespace pyperf {
namespace {

// The address of a member of _PyRuntime under one of its names in the versions; 0: this layout has none.
uint64_t runtime_member(const LoadedInterpreter& interpreter, const Layout& layout,
                        std::initializer_list<std::string_view> names) {
    if (!interpreter.addresses.runtime) return 0;
    for (const auto name : names)
        if (const auto offset = layout.offset("_PyRuntimeState", name))
            return interpreter.addresses.runtime.value + *offset;
    return 0;
}

}  // namespace

pyperf_process make_process_entry(const PythonProcess& process, const Layout& layout) {
    const auto& interpreter = process.interpreter;
    pyperf_process entry = process.record();
    if (layout.thread_binding == ThreadBinding::runtime_key) {
        const auto slot = runtime_member(interpreter, layout, {"autoTSSkey", "gilstate.autoTSSkey"});
        const auto key = layout.offset("Py_tss_t", "_key");
        if (slot && key) entry.key_addr = slot + *key;
    }
    if (!entry.current_addr)
        entry.current_addr = runtime_member(interpreter, layout, {"gilstate.tstate_current"});
    if (!entry.interp_head_addr)
        entry.interp_head_addr = runtime_member(interpreter, layout, {"interpreters.head"});
    return entry;
}

}  // namespace pyperf
