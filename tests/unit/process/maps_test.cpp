// SPDX-License-Identifier: Apache-2.0
#include "process/maps.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "catch2_header.h"
#include "elf/temporary_folder.h"
#include "process/mapped_file.h"

using namespace pyperf;
using pyperf_test::TemporaryFolder;

TEST_CASE("lines of /proc/PID/maps") {
    const auto maps = parse_maps(
        "55d0c0a4d000-55d0c0a4f000 r-xp 00002000 fe:01 1234                       /usr/bin/python3\n"
        "7f0000000000-7f0000001000 rw-s 00000000 00:1f 99   /tmp/a b\\012c (deleted)\n"
        "7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0                          [stack]\n"
        "7ffe00000000-7ffe00001000 ---p 00000000 00:00 0 \n"
        "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n");
    REQUIRE(maps);
    REQUIRE(maps->size() == 5);
    const Mapping& code = (*maps)[0];
    CHECK(code.start == 0x55d0c0a4d000);
    CHECK(code.end == 0x55d0c0a4f000);
    CHECK(code.offset == 0x2000);
    CHECK(code.device_major == 0xfe);
    CHECK(code.device_minor == 1);
    CHECK(code.inode == 1234);
    CHECK(code.readable);
    CHECK_FALSE(code.writable);
    CHECK(code.executable);
    CHECK_FALSE(code.shared);
    CHECK(code.path == "/usr/bin/python3");
    CHECK_FALSE(code.deleted);
    const Mapping& odd = (*maps)[1];
    CHECK(odd.path == "/tmp/a b\nc");
    CHECK(odd.deleted);
    CHECK(odd.shared);
    CHECK((*maps)[2].path == "[stack]");
    CHECK((*maps)[3].path.empty());
    CHECK((*maps)[4].end == 0xffffffffff601000);
    CHECK(parse_maps("")->empty());
}

TEST_CASE("lines that the kernel never wrote are refused") {
    for (const char* line :
         {"x", "1000-2000", "2000-1000 r-xp 00000000 00:00 0", "1000-2000 r-xp", "1000-2000 r-xp 0 0:0",
          "1000-2000 r-xp 00000000 00:00 x", "1000-2000 r-xpp 00000000 00:00 0",
          "11111111111111111-2 r-xp 00000000 00:00 0"}) {
        INFO(line);
        CHECK_FALSE(parse_maps(line));
    }
}

namespace {

// A file mapped executable into this process.
class MappedFile {
  public:
    explicit MappedFile(const std::string& path) {
        const OwnedFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
        REQUIRE(fd);
        REQUIRE(::ftruncate(fd.get(), 4096) == 0);
        REQUIRE(::pwrite(fd.get(), "contents", 8, 0) == 8);
        address_ = ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd.get(), 0);
        REQUIRE(address_ != MAP_FAILED);
    }
    ~MappedFile() { ::munmap(address_, 4096); }
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    Mapping mapping() const {
        const auto maps = read_maps({::getpid()});
        REQUIRE(maps);
        const auto mapping = std::find_if(maps->begin(), maps->end(), [&](const Mapping& one) {
            return one.start == reinterpret_cast<uint64_t>(address_);
        });
        REQUIRE(mapping != maps->end());
        return *mapping;
    }

  private:
    void* address_ = nullptr;
};

bool holds_contents(const Result<OwnedFd>& fd) {
    char text[9] = {};
    return fd && ::pread(fd.value().get(), text, 8, 0) == 8 && std::strcmp(text, "contents") == 0;
}

}  // namespace

TEST_CASE("a mapped file is opened by any name, and when its name is gone") {
    const HostPid self{::getpid()};
    const TemporaryFolder folder;
    const std::string path = folder.file("with\nnewline and \\ space");
    const MappedFile file(path);
    const Mapping mapping = file.mapping();
    CHECK(mapping.path == path);
    CHECK(mapping.executable);
    CHECK(holds_contents(open_mapped_file(self, mapping)));
    const auto identity = identify_mapped_file(self, mapping);
    REQUIRE(identity);
    CHECK(identity->size == 4096);
    CHECK(identity->inode == mapping.inode);

    // Without map_files (another process's mapping that changed meanwhile): by the path, if it is the same
    // file.
    Mapping stale = mapping;
    stale.start -= 4096;
    CHECK(holds_contents(open_mapped_file(self, stale)));
    stale.inode += 1;
    CHECK_FALSE(open_mapped_file(self, stale));

    REQUIRE(::unlink(path.c_str()) == 0);
    const Mapping deleted = file.mapping();
    CHECK(deleted.deleted);
    CHECK(deleted.path == path);
    CHECK(holds_contents(open_mapped_file(self, deleted)));
}

TEST_CASE("a file that took the place of the mapped one is not opened for it") {
    const HostPid self{::getpid()};
    const TemporaryFolder folder;
    const std::string path = folder.file("mapped");
    const MappedFile file(path);
    Mapping mapping = file.mapping();
    const std::string other = path + ".new";
    {
        const OwnedFd fd(::open(other.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
        REQUIRE(fd);
    }
    REQUIRE(::rename(other.c_str(), path.c_str()) == 0);
    CHECK(holds_contents(open_mapped_file(self, mapping)));
    mapping.start -= 4096;
    CHECK_FALSE(open_mapped_file(self, mapping));
}
