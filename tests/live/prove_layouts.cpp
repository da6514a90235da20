// SPDX-License-Identifier: Apache-2.0
// The live proof against running interpreters: the layout that is theirs is proven, and one with a wrong
// member is not.
//
//   prove_layouts OFFSETS PID...
//
// For each process: its own layout, then each of its members moved by 8 bytes. Prints a line for each that is
// neither proven nor refuted as it should be; exit code 1 if there is one.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <thread>

#include "collect/process_entry.h"
#include "layout/database.h"

#include "layout/layout_check.h"
#include "layout/proof.h"
#include "layout/resolver.h"
#include "process/discover.h"
#include "process/memory.h"
#include "render/render.h"

using namespace pyperf;

namespace {

// Members that nothing in a running process need tell right from wrong. None leads to a wrong frame.
const std::map<std::string, std::string> not_provable = {
    {"PyInterpreterState.next", "there is one interpreter"},
    {"_PyRuntimeState.interpreters.head", "with one interpreter interpreters.main is the same"},
    {"PyInterpreterState.threads.head", "3.13 has threads.main behind it: the same list, from its end on"},
    {"PyThreadState.next", "the newest thread state may be the only one"},
    {"Py_tss_t._key", "what follows may be the key's number by chance"},
    {"PyCodeObject._co_firsttraceable", "bounds what a frame that has not begun is"},
    {"PyCodeObject.co_version", "identifies a code object, as any word would that never changes"},
    {"_PyInterpreterFrame.owner", "3.11: an octet of zeros follows, as most frames have"},
    {"_PyInterpreterFrame.localsplus", "bounds a read"},
    {"PyClassObject.cl_name", "2.7: no frame has an old-style instance"},
    {"PyInstanceObject.in_class", "2.7: no frame has an old-style instance"},
    {"_PyRuntimeState.ceval.gil.locked",
     "what follows may look like it; only the states that are asked for use it"},
    {"_PyRuntimeState.ceval.gil.last_holder", "the same"},
    {"_gil_runtime_state.enabled", "the same"},
    {"_gil_runtime_state.locked", "the same"},
    {"_gil_runtime_state.last_holder", "the same"},
    {"PyThreadState.state", "the same"},
};

// Does any program for this layout read the member? What none reads need not be proven.
bool is_read(const Layout& layout, const std::string& walker, const std::string& structure,
             std::string member) {
    // From 3.11 on a code object has its qualified name, and no walker looks at first arguments.
    if (layout.frame_chain != FrameChain::frame_object && structure == "PyTupleObject") return false;
    std::replace(member.begin(), member.end(), '.', '_');
    const std::regex use("\\bOFF_" + structure + "_" + member + "\\b");
    return std::distance(std::sregex_iterator(walker.begin(), walker.end(), use), std::sregex_iterator()) > 1;
}

Proof prove(const Layout& layout, const PythonProcess& python, int looks) {
    const ProcessMemory memory{python.pid};
    const TargetReader reader = [&memory](TargetAddress address, std::span<std::byte> out) -> Result<void> {
        return memory.read(address, out);
    };
    LayoutProof proof{layout, python, make_process_entry(python, layout), reader};
    for (int i = 0; i < looks && proof.proof().verdict == Verdict::undecided; ++i) {
        if (const auto look = proof.look(); !look) return {Verdict::undecided, look.error().message, {}};
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
    return proof.proof();
}

const char* name_of(Verdict verdict) {
    return verdict == Verdict::proven ? "proven" : verdict == Verdict::refuted ? "refuted" : "undecided";
}

int check(const Database& database, HostPid pid) {
    ImageCache cache;
    const auto python = examine_process(pid, cache);
    if (!python || !*python) {
        fmt::print("{}: no CPython: {}\n", pid.value, python ? "" : python.error().message);
        return 1;
    }
    const auto resolution =
        resolve_layout(database, *(**python).interpreter.image, to_string((**python).libc.kind));
    if (!resolution.layout) {
        fmt::print("{}: {}\n", pid.value, resolution.refusal);
        return 1;
    }
    const Layout& layout = *resolution.layout;
    const Proof right = prove(layout, **python, 200);
    fmt::print("{}: {}: {} frames, {} code objects\n", layout.name, name_of(right.verdict), right.last.frames,
               right.last.code_objects);
    if (right.verdict != Verdict::proven) {
        fmt::print("{}: FAILED: its own layout is {}: {}\n", layout.name, name_of(right.verdict),
                   right.reason);
        return 1;
    }
    RenderOptions options;
    options.show_gil_state = options.show_thread_state = options.show_pthread_id = true;
    const auto walker = render_walker(options, {}, layout);
    if (!walker) {
        fmt::print("{}: FAILED: {}\n", layout.name, walker.error().message);
        return 1;
    }
    int failures = 0, refuted = 0, beforehand = 0, undecided = 0;
    for (const auto& [structure, fields] : layout.structs) {
        for (const auto& [member, offset] : fields.members) {
            const std::string name = structure + "." + member;
            if (!is_read(layout, *walker, structure, member) || not_provable.contains(name)) continue;
            Layout wrong = layout;
            wrong.structs.find(structure)->second.members[member] = offset + 8;
            if (find_fault(wrong) || !contradictions(*(**python).interpreter.image, wrong).empty()) {
                ++beforehand;
                continue;
            }
            const Proof proof = prove(wrong, **python, 60);
            refuted += proof.verdict == Verdict::refuted;
            undecided += proof.verdict == Verdict::undecided;
            const bool bad = proof.verdict == Verdict::proven;
            if (bad || std::getenv("PROVE_VERBOSE"))
                fmt::print("{}: {}{} + 8 is {} {}\n", layout.name, bad ? "FAILED: " : "", name,
                           name_of(proof.verdict), proof.reason);
            failures += bad;
        }
    }
    fmt::print(
        "{}: of its members moved by 8: {} refuted without a process, {} by the proof, {} undecided, {} "
        "failures\n",
        layout.name, beforehand, refuted, undecided, failures);
    return failures + (refuted == 0);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        fmt::print("prove_layouts OFFSETS PID...\n");
        return 2;
    }
    const Database database = Database::open({argv[1]});
    int failures = 0;
    for (int i = 2; i < argc; ++i) failures += check(database, HostPid{std::atoi(argv[i])});
    return failures == 0 ? 0 : 1;
}
