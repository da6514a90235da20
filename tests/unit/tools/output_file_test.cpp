// SPDX-License-Identifier: Apache-2.0
// Results are in their place whole or not at all.
#include "output_file.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "catch2_header.h"
#include "unit/elf/temporary_folder.h"

namespace fs = std::filesystem;
using namespace pyperf::tool;
using pyperf_test::TemporaryFolder;

namespace {

std::string content(const fs::path& path) {
    std::ifstream file{path};
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

void put(const fs::path& path, const char* text) {
    std::ofstream{path} << text;
}

size_t files_in(const fs::path& folder) {
    return static_cast<size_t>(std::distance(fs::directory_iterator{folder}, fs::directory_iterator{}));
}

}  // namespace

TEST_CASE("an output is there after commit, and only then") {
    const TemporaryFolder folder;
    const auto path = fs::path{folder.file("out.folded")};
    {
        auto file = OutputFile::open(path);
        REQUIRE(file);
        std::fputs("new", file->stream());
        CHECK_FALSE(fs::exists(path));
    }
    CHECK(files_in(folder.file("")) == 0);  // not committed: nothing stays
    put(path, "old and longer");
    {
        auto file = OutputFile::open(path);
        REQUIRE(file);
        std::fputs("new", file->stream());
        std::fflush(file->stream());
        CHECK(content(path) == "old and longer");
        CHECK(file->commit());
    }
    CHECK(content(path) == "new");
    CHECK(files_in(folder.file("")) == 1);
}

TEST_CASE("a new output has the rights of a new file, a replaced one those of the old") {
    const TemporaryFolder folder;
    const auto path = fs::path{folder.file("out.folded")};
    const mode_t mask = umask(027);
    {
        auto file = OutputFile::open(path);
        REQUIRE(file);
        CHECK(file->commit());
    }
    umask(mask);
    CHECK((fs::status(path).permissions() & fs::perms::all) == static_cast<fs::perms>(0640));
    fs::permissions(path, static_cast<fs::perms>(0604));
    auto file = OutputFile::open(path);
    REQUIRE(file);
    CHECK(file->commit());
    CHECK((fs::status(path).permissions() & fs::perms::all) == static_cast<fs::perms>(0604));
}

TEST_CASE("places that cannot be written to are refused before") {
    const TemporaryFolder folder;
    const auto refused = OutputFile::open(folder.file(""));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message == "cannot write " + folder.file("") + ": it is a directory");
    const auto missing = OutputFile::open(folder.file("not/there.txt"));
    REQUIRE_FALSE(missing);
    CHECK(missing.error().message.find("No such file or directory") != std::string::npos);
}

TEST_CASE("a link stays a link: its file gets the output") {
    const TemporaryFolder folder;
    const fs::path target{folder.file("target")}, link{folder.file("link.txt")};
    put(target, "old and longer");
    fs::create_symlink(target, link);
    auto file = OutputFile::open(link);
    REQUIRE(file);
    CHECK(content(target) == "old and longer");
    std::fputs("new", file->stream());
    CHECK(file->commit());
    CHECK(fs::is_symlink(link));
    CHECK(content(target) == "new");
}

TEST_CASE("a full disk is an error") {
    auto file = OutputFile::open("/dev/full");
    REQUIRE(file);
    std::fputs("lost", file->stream());
    const auto done = file->commit();
    REQUIRE_FALSE(done);
    CHECK(done.error().message == "cannot write /dev/full: No space left on device");
}
