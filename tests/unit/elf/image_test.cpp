// SPDX-License-Identifier: Apache-2.0
#include "elf/image.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdio>
#include <fstream>
#include <random>

#include "catch2_header.h"
#include "elf/elf_builder.h"
#include "elf/interpreter_image.h"
#include "elf/made_interpreters.h"
#include "elf/temporary_folder.h"
#include "process/libc.h"

using namespace pyperf;
using namespace pyperf_test;
using Bytes = std::vector<uint8_t>;

namespace {

ElfImage opened(const Bytes& file) {
    auto image = ElfImage::open(file_of(file), "made");
    INFO((image ? std::string() : image.error().message));
    REQUIRE(image);
    return std::move(*image);
}

Bytes words(std::initializer_list<uint64_t> values) {
    Bytes bytes;
    for (const uint64_t value : values) {
        const auto* begin = reinterpret_cast<const uint8_t*>(&value);
        bytes.insert(bytes.end(), begin, begin + 8);
    }
    return bytes;
}

}  // namespace

TEST_CASE("symbols come from .dynsym first; what is undefined or ambiguous is not there") {
    ElfBuilder builder;
    builder.build_id = {0xab, 0x01, 0xff};
    builder.symbol("defined", 0x100400, 12);
    builder.symbol("imported", 0, 0, STT_FUNC, SHN_UNDEF);
    builder.symbol("local", 8, 8, STT_TLS);
    const ElfImage image = opened(builder.build());
    CHECK(image.build_id() == "ab01ff");
    REQUIRE(image.symbol("defined"));
    CHECK(image.symbol("defined")->value == 0x100400);
    CHECK(image.symbol("defined")->size == 12);
    CHECK_FALSE(image.symbol("imported"));
    CHECK_FALSE(image.symbol("define"));
    REQUIRE(image.symbol("local"));
    CHECK(image.symbol("local")->thread_local_);

    ElfBuilder statics;
    statics.symbol("version.0", 0x100400, 8, STT_OBJECT);
    statics.symbol("version.0", 0x100500, 8, STT_OBJECT);
    statics.symbol("same", 0x100500, 8, STT_OBJECT);
    statics.symbol("same", 0x100500, 8, STT_OBJECT);
    const ElfImage other = opened(statics.build(false));
    CHECK_FALSE(other.symbol("version.0"));
    CHECK(other.symbol("same"));
    const std::string_view names[] = {"same"};
    CHECK_FALSE(other.dynamic_symbols(names)[0]);
}

TEST_CASE("pointers in data are what the dynamic linker would make of them") {
    ElfBuilder builder;
    const uint64_t data = builder.section(".data", words({0x1234, 0, 0, 0, 0x100480, 0}));
    builder.symbol("mine", 0x100700, 8, STT_OBJECT);
    builder.symbol("theirs", 0, 0, STT_OBJECT, SHN_UNDEF);
    builder.rela(data + 24, R_X86_64_64, 2, 0);
    builder.rela(data + 8, R_X86_64_RELATIVE, 0, 0x100440);
    builder.rela(data + 16, R_X86_64_64, 1, 16);
    // DT_RELR: the word at data + 32.
    builder.section(".relr.dyn", words({data + 32}), 19, 0, 8);
    const ElfImage image = opened(builder.build());
    CHECK(*image.read_pointer(data) == 0x1234);
    CHECK(*image.read_pointer(data + 8) == 0x100440);
    CHECK(*image.read_pointer(data + 16) == 0x100710);
    CHECK(*image.read_pointer(data + 32) == 0x100480);
    const auto foreign = image.read_pointer(data + 24);
    REQUIRE_FALSE(foreign);
    CHECK(foreign.error().message.find("theirs") != std::string::npos);
    CHECK(image.relocation_at(data + 32));
    CHECK_FALSE(image.relocation_at(data + 40));
    CHECK(image.relocations_name("theirs"));
    CHECK(image.relocations_name("mine"));
    CHECK_FALSE(image.relocations_name("their"));
}

TEST_CASE("a bitmap in DT_RELR stands for the 63 words behind the last address") {
    ElfBuilder builder;
    const uint64_t data = builder.section(".data", Bytes(8 * 80, 0));
    builder.section(".relr.dyn", words({data, (uint64_t{1} << 1) | (uint64_t{1} << 63) | 1, 0b100 | 1}), 19,
                    0, 8);
    const ElfImage image = opened(builder.build());
    for (uint64_t i = 0; i < 80; ++i) {
        // Bit 1 of the first bitmap: word 1; bit 63: word 63. Bit 2 of the second: word 64 + 1.
        INFO(i);
        CHECK(image.relocation_at(data + 8 * i).has_value() == (i == 0 || i == 1 || i == 63 || i == 65));
    }
}

TEST_CASE("of several symbol tables the first counts, and names have a length") {
    ElfBuilder builder;
    builder.symbol("first", 0x100400, 12);
    const std::string longest(255, 'x');
    builder.section(longest, Bytes(8, 0));
    builder.section("." + longest, Bytes(8, 0));
    builder.section(".more", Bytes(48, 1), SHT_DYNSYM, 4, 24);
    const ElfImage image = opened(builder.build());
    CHECK(image.section(longest));
    CHECK_FALSE(image.section("." + longest));
    CHECK_FALSE(image.symbol("first"));
}

TEST_CASE("reads stay inside what the file has") {
    ElfBuilder builder;
    const uint64_t text = builder.section(".rodata", {'a', 'b', 0, 'c'});
    const ElfImage image = opened(builder.build());
    CHECK(*image.read_string(text, 16) == "ab");
    CHECK_FALSE(image.read_string(text, 2));
    CHECK_FALSE(image.read_u64(0));
    CHECK_FALSE(image.read_u64(UINT64_MAX - 3));
    CHECK_FALSE(image.read_u64(ElfBuilder::kBase - 4));
    CHECK_FALSE(image.read_string(0x9000000, 16));
    const ElfSegment& segment = image.segments().front();
    CHECK_FALSE(image.read_u64(segment.vaddr + segment.file_size - 7));
    CHECK(image.read_u64(segment.vaddr + segment.file_size - 8));
    CHECK(image.bytes_at(segment.vaddr + segment.file_size - 8) == 8);
    CHECK(image.bytes_at(segment.vaddr + segment.file_size) == 0);
}

TEST_CASE("the load bias follows from one mapping") {
    // As a linker lays out a library: headers, code, data that shares a page of the file with the code's end.
    const std::vector<ElfSegment> segments = {{0x0, 0x0, 0x1000, 0x1000, false, false},
                                              {0x1000, 0x1000, 0x5234, 0x5234, true, false},
                                              {0x7240, 0x6240, 0x800, 0x2000, false, true}};
    const SegmentMap moved(segments, false);
    CHECK(moved.load_bias(0x7f0000001000, 0x1000, true) == 0x7f0000000000);
    // The kernel may show the rest of a mapping whose beginning was split off.
    CHECK(moved.load_bias(0x7f0000003000, 0x3000, true) == 0x7f0000000000);
    CHECK(moved.load_bias(0x7f0000007000, 0x6000, false) == 0x7f0000000000);
    CHECK_FALSE(moved.load_bias(0x7f0000007000, 0x6000 + 0x1000000, false));
    CHECK_FALSE(moved.load_bias(0x7f0000001000, 0x0, true));

    const SegmentMap fixed(segments, true);
    CHECK(fixed.load_bias(0x1000, 0x1000, true) == 0);
    CHECK_FALSE(fixed.load_bias(0x7f0000001000, 0x1000, true));
}

TEST_CASE("what is no ELF file of ours is refused with a reason") {
    const auto reason = [](const Bytes& file) {
        const auto image = ElfImage::open(file_of(file), "made");
        REQUIRE_FALSE(image);
        CHECK(image.error().code == -ENOEXEC);
        CHECK(image.error().message.starts_with("made: "));
        return image.error().message;
    };
    CHECK(reason({}).find("too short") != std::string::npos);
    CHECK(reason(Bytes(4096, 'x')).find("not an ELF file") != std::string::npos);
    Bytes file = ElfBuilder().build();
    Bytes narrow = file;
    narrow[EI_CLASS] = ELFCLASS32;
    CHECK(reason(narrow).find("64-bit") != std::string::npos);
    Bytes big_endian = file;
    big_endian[EI_DATA] = ELFDATA2MSB;
    CHECK(reason(big_endian).find("little-endian") != std::string::npos);
    ElfBuilder other;
    other.machine = EM_RISCV;
    CHECK(reason(other.build()).find("neither x86_64 nor aarch64") != std::string::npos);
    ElfBuilder object;
    object.type = ET_REL;
    CHECK(reason(object.build()).find("neither an executable") != std::string::npos);
    file.resize(1030);
    CHECK(reason(file).find("outside the file") != std::string::npos);

    const auto folder = ElfImage::open("/");
    REQUIRE_FALSE(folder);
    CHECK(folder.error().message.find("not a regular file") != std::string::npos);
    CHECK_FALSE(ElfImage::open("/nonexistent"));
}

TEST_CASE("a FIFO does not hang") {
    const TemporaryFolder folder;
    const std::string path = folder.file("fifo");
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    const auto image = ElfImage::open(path);
    REQUIRE_FALSE(image);
    CHECK(image.error().message.find("not a regular file") != std::string::npos);
}

namespace {

// Everything that pyperf does with a file; only that it comes back is of interest.
void use(const Bytes& file) {
    auto image = ElfImage::open(file_of(file), "made");
    if (!image) return;
    (void)examine_interpreter(*image);
    (void)examine_libc(*image);
    (void)image->copied_variables();
    for (const ElfSegment& segment : image->segments()) (void)image->read_pointer(segment.vaddr + 8);
}

}  // namespace

TEST_CASE("truncated and corrupt files give errors, never crashes") {
    const Bytes good = small_interpreter();
    {
        const ElfImage image = opened(good);
        const auto examined = examine_interpreter(image);
        REQUIRE(examined);
        REQUIRE(*examined);
        CHECK((*examined)->version == PythonVersion{3, 12, 1, 0xf, 0});
        CHECK((*examined)->current_tls == TlsVariable{TlsVariable::Kind::thread_pointer_offset, -16, 0});
        CHECK((*examined)->code_type_basicsize == 64);
    }
    for (size_t bytes = 0; bytes < good.size(); bytes += 7)
        use(Bytes(good.begin(), good.begin() + static_cast<long>(bytes)));

    std::minstd_rand random(20261202);  // always the same: a failure can be repeated
    const auto below = [&](size_t limit) { return static_cast<size_t>(random()) % limit; };
    for (int round = 0; round < 4000; ++round) {
        Bytes broken = good;
        const size_t changes = 1 + below(4);
        for (size_t i = 0; i < changes; ++i) {
            static constexpr uint8_t values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
            // Half of them in the headers, where it hurts most.
            const size_t at = below(2) ? below(1024) : below(broken.size());
            broken[at] = below(2) ? values[below(std::size(values))] : static_cast<uint8_t>(random());
        }
        use(broken);
    }
}
