// SPDX-License-Identifier: Apache-2.0
#include "process/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "catch2_header.h"
#include "process/child.h"

using namespace pyperf;
using namespace pyperf_test;

namespace {

// Two pages of this process, of which the second cannot be read.
class TwoPages {
  public:
    TwoPages() {
        base_ = static_cast<char*>(
            ::mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        REQUIRE(base_ != MAP_FAILED);
        REQUIRE(::munmap(base_ + kPage, kPage) == 0);
    }
    ~TwoPages() { ::munmap(base_, kPage); }
    TwoPages(const TwoPages&) = delete;
    TwoPages& operator=(const TwoPages&) = delete;

    static constexpr size_t kPage = 4096;
    char* end() const { return base_ + kPage; }
    TargetAddress before_end(size_t bytes) const { return {reinterpret_cast<uint64_t>(end() - bytes)}; }

  private:
    char* base_ = nullptr;
};

}  // namespace

TEST_CASE("values and strings of a process") {
    const ProcessMemory memory({::getpid()});
    const uint64_t number = 0x1122334455667788;
    CHECK(*memory.read<uint64_t>({reinterpret_cast<uint64_t>(&number)}) == number);
    CHECK(*memory.read<uint16_t>({reinterpret_cast<uint64_t>(&number)}) == 0x7788);
    const std::string text(3000, 'x');
    const TargetAddress at{reinterpret_cast<uint64_t>(text.c_str())};
    CHECK(*memory.read_string(at, 3001) == text);
    const auto longer = memory.read_string(at, 3000);
    REQUIRE_FALSE(longer);
    CHECK(longer.error().code == -E2BIG);
}

TEST_CASE("what is only partly there is an error, and a string may end where memory ends") {
    const ProcessMemory memory({::getpid()});
    const TwoPages pages;
    std::memcpy(pages.end() - 4, "abc", 4);
    CHECK(memory.read<uint32_t>(pages.before_end(4)));
    const auto partly = memory.read<uint64_t>(pages.before_end(4));
    REQUIRE_FALSE(partly);
    CHECK(partly.error().code == -EFAULT);
    CHECK(*memory.read_string(pages.before_end(4), 1000) == "abc");
    pages.end()[-1] = 'd';
    CHECK_FALSE(memory.read_string(pages.before_end(4), 1000));
    CHECK_FALSE(memory.read<uint8_t>({0}));
    CHECK_FALSE(memory.read<uint64_t>({UINT64_MAX - 3}));
}

TEST_CASE("no such process") {
    HostPid pid;
    { pid = Child({"/bin/cat"}).pid(); }
    const auto read = ProcessMemory(pid).read<uint8_t>({0x1000});
    REQUIRE_FALSE(read);
    CHECK(read.error().code == -ESRCH);
}
