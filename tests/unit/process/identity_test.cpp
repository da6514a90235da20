// SPDX-License-Identifier: Apache-2.0
#include "process/identity.h"

#include <sys/prctl.h>

#include <algorithm>

#include "catch2_header.h"
#include "process/child.h"

using namespace pyperf;
using namespace pyperf_test;

TEST_CASE("the start time is field 22, whatever the name is") {
    const std::string rest =
        " S 17 5 5 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 158486 12345 678 18446744073709551615 1\n";
    for (const char* name : {"python3", "a b", ") S 1 2 3", "((", "))", "a\nb", ""}) {
        INFO(name);
        const auto stat = parse_stat("42 (" + std::string(name) + ")" + rest);
        REQUIRE(stat);
        CHECK(stat->comm == name);
        CHECK(stat->parent == HostPid{17});
        CHECK(stat->start_time_ticks == 158486);
        CHECK(stat->cpu_ticks == 5 + 6);
    }
    for (const char* broken : {"", "42", "42 (x", "42 (x)", "42 (x) S 17 5 5", ")(", "42 (x) S y 5"}) {
        INFO(broken);
        CHECK_FALSE(parse_stat(broken));
    }
}

TEST_CASE("this very process") {
    const HostPid self{::getpid()};
    const auto stat = read_stat(self);
    REQUIRE(stat);
    CHECK(stat->parent == HostPid{::getppid()});
    CHECK(stat->start_time_ticks > 0);
    CHECK(*read_start_time(self) == stat->start_time_ticks);
    CHECK(*read_namespace_pid(self) == NamespacePid{self.value});
    CHECK(read_executable_path(self)->ends_with("/unit_process"));
    const auto processes = list_processes();
    REQUIRE(processes);
    CHECK(std::count(processes->begin(), processes->end(), self) == 1);
    CHECK(*list_threads(self) == std::vector<HostPid>{self});
}

TEST_CASE("a process that is gone is told apart from one that cannot be read") {
    HostPid pid;
    {
        Child child({"/bin/cat"});
        pid = child.pid();
        CHECK(read_stat(pid));
    }
    const auto gone = read_stat(pid);
    REQUIRE_FALSE(gone);
    CHECK(gone.error().code == -ESRCH);
    CHECK(list_threads(pid).error().code == -ESRCH);
}
