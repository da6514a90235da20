// SPDX-License-Identifier: Apache-2.0
#include "process/program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "catch2_header.h"
#include "elf/real_interpreters.h"
#include "elf/temporary_folder.h"

using namespace pyperf;
using pyperf_test::TemporaryFolder;

namespace {

std::string write_program(const std::string& path, const std::string& text) {
    std::ofstream{path, std::ios::binary} << text;
    ::chmod(path.c_str(), 0755);
    return path;
}

// A Python of this system; "": there is none.
std::string some_python() {
    if (std::filesystem::exists("/usr/bin/python3")) return "/usr/bin/python3";
    if (std::getenv("PYPERF_REQUIRE_ALL")) FAIL("cannot be tested: no /usr/bin/python3");
    return "";
}

}  // namespace

TEST_CASE("a program that is an interpreter, or a link to one") {
    if (some_python().empty()) {
        WARN("not tested: no /usr/bin/python3");
        return;
    }
    const auto direct = expected_interpreter(some_python());
    REQUIRE(direct);
    CHECK(direct->version.major == 3);
    const TemporaryFolder folder;
    std::filesystem::create_symlink(some_python(), folder.file("python"));
    const auto linked = expected_interpreter(folder.file("python"));
    REQUIRE(linked);
    CHECK(linked->version.to_string() == direct->version.to_string());
}

TEST_CASE("a script is what its first line names, through env and through other scripts") {
    if (some_python().empty()) {
        WARN("not tested: no /usr/bin/python3");
        return;
    }
    const TemporaryFolder folder;
    const auto script = write_program(folder.file("script"), "#!" + some_python() + " -u\nprint(1)\n");
    CHECK(expected_interpreter(script));
    CHECK(expected_interpreter(write_program(folder.file("of a script"), "#! " + script + "\n")));
    std::filesystem::create_symlink(some_python(), folder.file("pyperf-test-python"));
    const std::string path = std::getenv("PATH") ? std::getenv("PATH") : "";
    ::setenv("PATH", (std::filesystem::path{script}.parent_path().string() + ":" + path).c_str(), 1);
    CHECK(expected_interpreter(
        write_program(folder.file("env"), "#!/usr/bin/env -S A=1 pyperf-test-python -u\n")));
    CHECK(expected_interpreter("pyperf-test-python"));
    ::setenv("PATH", path.c_str(), 1);
    CHECK_FALSE(expected_interpreter("pyperf-test-python"));
}

TEST_CASE("an executable that is linked with libpython") {
    const char* home = std::getenv("HOME");
    const std::string versions = std::string{home ? home : ""} + "/.pyenv/versions";
    std::error_code error;
    int linked = 0;
    for (const auto& entry : std::filesystem::directory_iterator{versions, error}) {
        const std::string python = entry.path().string() + "/bin/python";
        if (!std::filesystem::exists(python)) continue;
        INFO(python);
        const auto image = expected_interpreter(python);
        REQUIRE(image);
        CHECK(image->version.to_string() == entry.path().filename().string());
        ++linked;
    }
    if (linked > 0) return;
    if (std::getenv("PYPERF_REQUIRE_ALL")) FAIL("cannot be tested: no pyenv");
    WARN("not tested: no pyenv");
}

TEST_CASE("what is no Python is none") {
    CHECK_FALSE(expected_interpreter("/bin/sh"));
    CHECK_FALSE(expected_interpreter("/nonexistent/program"));
    CHECK_FALSE(expected_interpreter(""));
    CHECK_FALSE(expected_interpreter("/"));
    const TemporaryFolder folder;
    CHECK_FALSE(expected_interpreter(write_program(folder.file("empty"), "")));
    CHECK_FALSE(expected_interpreter(write_program(folder.file("nothing"), "#!")));
    CHECK_FALSE(expected_interpreter(write_program(folder.file("env"), "#!/usr/bin/env\n")));
    CHECK_FALSE(expected_interpreter(write_program(folder.file("text"), "words\n")));
    // One that names itself ends.
    CHECK_FALSE(expected_interpreter(write_program(folder.file("self"), "#!" + folder.file("self") + "\n")));
}
