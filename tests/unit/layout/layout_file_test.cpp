// SPDX-License-Identifier: Apache-2.0
// Which files are read as layouts at all; what is in them is layout_reader_test.cpp's.
#include <sys/stat.h>
#include <unistd.h>

#include "elf/temporary_folder.h"
#include "layout/layout_file.h"
#include "layout/shipped_layouts.h"

using namespace pyperf;
using namespace pyperf_test;

TEST_CASE("only regular files of a sensible size are read") {
    const TemporaryFolder folder;
    const std::string good = shipped_text("cpython-3.11");
    const std::string path = folder.file("cpython-3.11.toml");
    const auto refusal = [](const std::string& file) {
        const auto layout = read_layout_file(file);
        REQUIRE_FALSE(layout);
        CHECK(layout.error().message.starts_with(file + ": "));
        return layout.error();
    };

    CHECK(refusal(path).code == -ENOENT);
    write_file(path, good);
    CHECK(read_layout_file(path));

    SECTION("a file as large as is taken, and one byte more") {
        std::string large = good + "#";
        large.resize(kLayoutFileMaxBytes, '-');
        write_file(path, large);
        CHECK(read_layout_file(path));
        write_file(path, large + "-");
        CHECK(refusal(path).code == -EFBIG);
        CHECK(refusal(path).message == path + ": is larger than 262144 bytes");
        CHECK_FALSE(parse_layout(large + "-", "cpython-3.11.toml"));
        // A sparse file of a terabyte costs nothing.
        if (truncate(path.c_str(), off_t{1} << 40) == 0) CHECK(refusal(path).code == -EFBIG);
    }
    SECTION("symbolic links are followed") {
        std::filesystem::create_directory(folder.file("links"));
        const std::string link = folder.file("links/cpython-3.11.toml");
        REQUIRE(symlink(path.c_str(), link.c_str()) == 0);
        CHECK(read_layout_file(link));
        std::filesystem::remove(path);
        CHECK(refusal(link).code == -ENOENT);
        REQUIRE(symlink(path.c_str(), path.c_str()) == 0);
        CHECK(refusal(link).code == -ELOOP);
    }
    SECTION("folders, pipes and devices are refused at once") {
        std::filesystem::create_directory(folder.file("folder.toml"));
        CHECK(contains(refusal(folder.file("folder.toml")).message, "is no regular file"));
        REQUIRE(mkfifo(folder.file("pipe.toml").c_str(), 0600) == 0);
        CHECK(contains(refusal(folder.file("pipe.toml")).message, "is no regular file"));
        CHECK(contains(refusal("/dev/zero").message, "is no regular file"));
        CHECK(contains(refusal("/dev/zero").message, "/dev/zero"));
    }
    SECTION("a file without the right to read it") {
        REQUIRE(chmod(path.c_str(), 0) == 0);
        REQUIRE(chmod(std::filesystem::path(path).parent_path().c_str(), 0755) == 0);
        const bool is_root = geteuid() == 0;
        if (is_root) REQUIRE(seteuid(65534) == 0);  // root may read everything
        const auto layout = read_layout_file(path);
        if (is_root) REQUIRE(seteuid(0) == 0);
        REQUIRE_FALSE(layout);
        CHECK(layout.error().code == -EACCES);
        CHECK(layout.error().message == path + ": cannot be opened: Permission denied");
    }
}
