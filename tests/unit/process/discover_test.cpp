// SPDX-License-Identifier: Apache-2.0
#include "process/discover.h"

#include <chrono>

#include "catch2_header.h"
#include "elf/real_interpreters.h"
#include "process/child.h"
#include "process/identity.h"
#include "process/memory.h"

using namespace pyperf;
using namespace pyperf_test;

namespace {

// Prints the address of None, which is known to be that of _Py_NoneStruct, and waits.
const char* const kProgram =
    "import sys\n"
    "sys.stdout.write('%d\\n' % id(None)); sys.stdout.flush()\n"
    "sys.stdin.readline()\n";

}  // namespace

TEST_CASE("running interpreters are found, and their addresses are right") {
    auto interpreters = pyenv_interpreters();
    for (auto& one : system_interpreters()) interpreters.push_back(one);
    if (interpreters.empty()) FAIL("no interpreter on this machine");
    ImageCache cache;
    for (const RealInterpreter& real : interpreters) {
        INFO(real.python);
        Child child({real.python, "-c", kProgram});
        const std::string none = child.read_line();
        auto found = examine_process(child.pid(), cache);
        REQUIRE(found);
        REQUIRE(*found);
        const PythonProcess& process = **found;
        CHECK(process.pid == child.pid());
        CHECK(process.start_time_ticks == *read_start_time(child.pid()));
        if (!real.version.empty()) CHECK(process.interpreter.image->version.to_string() == real.version);
        CHECK(std::to_string(process.interpreter.addresses.none.value) == none);
        CHECK(process.interpreter.initialised == Initialised::yes);
        CHECK(process.interpreter.resolved);
        CHECK(process.others.empty());
        CHECK(process.libc.kind == LibcKind::glibc);

        // The interpreter's first state is on the heap or in _PyRuntime: readable either way, and linked to
        // nothing else.
        const ProcessMemory memory(child.pid());
        const auto head = memory.read<uint64_t>(process.interpreter.addresses.interp_head);
        REQUIRE(head);
        CHECK(memory.read<uint64_t>({*head}));

        const pyperf_process record = process.record();
        CHECK(record.start_time_ticks == process.start_time_ticks);
        CHECK(record.interp_head_addr == process.interpreter.addresses.interp_head.value);
        CHECK(record.code_type_addr == process.interpreter.addresses.code_type.value);
        CHECK(record.libc.key_table != 0);
        if (process.interpreter.image->current_tls) CHECK(record.current_tls.kind != PYPERF_SLOT_NONE);
    }
}

TEST_CASE("a file is examined once, also one without CPython") {
    ImageCache cache;
    Child first({"/bin/cat"});
    Child second({"/bin/cat"});
    first.write_line("x");
    second.write_line("x");
    first.read_line();
    second.read_line();
    const auto one = examine_process(first.pid(), cache);
    REQUIRE(one);
    CHECK_FALSE(*one);
    const size_t examined = cache.examined();
    CHECK(examined >= 2);  // cat and the C library
    const auto two = examine_process(second.pid(), cache);
    REQUIRE(two);
    CHECK_FALSE(*two);
    CHECK(cache.examined() == examined);
}

TEST_CASE("processes that are gone or have no memory") {
    ImageCache cache;
    HostPid pid;
    { pid = Child({"/bin/cat"}).pid(); }
    const auto gone = examine_process(pid, cache);
    REQUIRE_FALSE(gone);
    CHECK(gone.error().code == -ESRCH);
}
