// SPDX-License-Identifier: Apache-2.0
#include "elf/interpreter_image.h"

#include <sys/wait.h>

#include <cstdio>
#include <cstring>
#include <memory>

#include "catch2_header.h"
#include "elf/elf_builder.h"
#include "elf/made_interpreters.h"
#include "elf/real_interpreters.h"
#include "elf/temporary_folder.h"

using namespace pyperf;
using namespace pyperf_test;

namespace {

InterpreterImage examined(const std::string& file) {
    auto elf = ElfImage::open(file);
    REQUIRE(elf);
    auto image = examine_interpreter(*elf);
    INFO(file << (image ? "" : ": " + image.error().message));
    REQUIRE(image);
    REQUIRE(*image);
    return std::move(**image);
}

std::string run(const std::string& command) {
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
    REQUIRE(pipe);
    std::string output;
    char piece[256];
    while (const size_t n = std::fread(piece, 1, sizeof piece, pipe.get())) output.append(piece, n);
    while (output.ends_with('\n')) output.pop_back();
    return output;
}

// A copy of a file without .symtab, which goes away with this object.
class StrippedCopy {
  public:
    explicit StrippedCopy(const std::string& file) : path_(folder_.file("stripped")) {
        const std::string command = "strip --strip-all -o " + path_ + " " + file;
        REQUIRE(std::system(command.c_str()) == 0);
    }
    const std::string& path() const { return path_; }

  private:
    TemporaryFolder folder_;
    std::string path_;
};

}  // namespace

TEST_CASE("every interpreter on the machine tells its exact version and where its root is") {
    const auto interpreters = all_interpreters();
    if (interpreters.empty()) FAIL("no interpreter on this machine: run scripts/interpreters");
    for (const RealInterpreter& real : interpreters) {
        INFO(real.file);
        const InterpreterImage image = examined(real.file);
        if (!real.version.empty()) CHECK(image.version.to_string() == real.version);
        if (!real.python.empty()) {
            CHECK("Python " + image.version.to_string() == run(real.python + " -V 2>&1"));
        }
        CHECK(image.architecture == "x86_64");
        CHECK(image.build_id.size() == 40);
        CHECK(image.free_threaded == false);
        CHECK(image.trace_refs == false);
        CHECK(image.code_type);
        CHECK(image.frame_type);
        CHECK(image.none);
        CHECK(image.interp_head);

        const bool has_runtime = image.version >= PythonVersion{3, 7, 0, 0xf, 0};
        CHECK(image.runtime.has_value() == has_runtime);
        CHECK(image.current.has_value() == !has_runtime);
        CHECK(image.auto_tls_key.has_value() == !has_runtime);
        CHECK(image.key_head.has_value() == (image.version.major == 2));
        if (image.runtime) CHECK(*image.interp_head > *image.runtime);
        CHECK(image.current_tls.has_value() == (image.version >= PythonVersion{3, 12, 0, 0xf, 0}));
        CHECK(image.bound_tls.has_value() == (image.version >= PythonVersion{3, 15, 0, 0xf, 0}));
        CHECK(image.debug_offsets.empty() == (image.version < PythonVersion{3, 13, 0, 0xf, 0}));

        CHECK(image.code_members.contains("co_filename"));
        CHECK(image.code_members.contains("co_name"));
        CHECK(image.code_members.contains("co_firstlineno"));
        CHECK(image.code_type_basicsize);
        if (image.version < PythonVersion{3, 10, 0, 0xf, 0}) {
            CHECK(image.frame_members.contains("f_back"));
            CHECK(image.frame_members.contains("f_code"));
        }
    }
}

TEST_CASE("what code tells of a stripped library is what the symbols of the whole one say") {
    const auto interpreters = pyenv_interpreters();
    if (interpreters.empty()) FAIL("no interpreter of pyenv on this machine");
    for (const RealInterpreter& real : interpreters) {
        INFO(real.file);
        const StrippedCopy copy(real.file);
        const InterpreterImage whole = examined(real.file);
        const InterpreterImage stripped = examined(copy.path());
        {
            // Nothing is left to look up but what is exported.
            auto elf = ElfImage::open(copy.path());
            REQUIRE(elf);
            CHECK_FALSE(elf->section(".symtab"));
        }
        CHECK(stripped.version == whole.version);
        CHECK(stripped.build_id == whole.build_id);
        CHECK(stripped.runtime == whole.runtime);
        CHECK(stripped.current == whole.current);
        CHECK(stripped.interp_head == whole.interp_head);
        CHECK(stripped.auto_tls_key == whole.auto_tls_key);
        CHECK(stripped.key_head == whole.key_head);
        CHECK(stripped.gil_locked == whole.gil_locked);
        CHECK(stripped.current_tls == whole.current_tls);
        CHECK(stripped.bound_tls == whole.bound_tls);
        CHECK(stripped.code_type_basicsize == whole.code_type_basicsize);
        CHECK(stripped.code_members == whole.code_members);
        CHECK(stripped.frame_members == whole.frame_members);

        auto elf = ElfImage::open(real.file);
        REQUIRE(elf);
        if (const auto symbol = elf->symbol("_Py_tss_tstate")) {
            REQUIRE(symbol->thread_local_);
            REQUIRE(stripped.current_tls);
            CHECK(stripped.current_tls->kind == TlsVariable::Kind::got_module_and_offset);
            CHECK(stripped.current_tls->offset == static_cast<int64_t>(symbol->value));
        }
        for (const auto& [name, address] : {std::pair{"interp_head", stripped.interp_head},
                                            {"autoTLSkey", stripped.auto_tls_key},
                                            {"keyhead", stripped.key_head},
                                            {"gil_locked", stripped.gil_locked}}) {
            const auto symbol = elf->symbol(name);
            if (!symbol) continue;
            INFO(name);
            CHECK(address == symbol->value);
        }
    }
}

TEST_CASE("files without CPython are told apart, and cheaply") {
    for (const char* file : {"/proc/self/exe", "/bin/sh", "/usr/bin/env"}) {
        INFO(file);
        auto elf = ElfImage::open(file);
        REQUIRE(elf);
        const auto image = examine_interpreter(*elf);
        REQUIRE(image);
        CHECK_FALSE(*image);
    }
    // The small program that pyenv links to libpython imports its symbols, but holds nothing.
    for (const RealInterpreter& real : pyenv_interpreters()) {
        auto elf = ElfImage::open(real.python);
        REQUIRE(elf);
        CHECK_FALSE(might_hold_python(*elf));
    }
}

namespace {

using Bytes = std::vector<uint8_t>;

Result<std::optional<InterpreterImage>> examine(const std::vector<uint8_t>& file) {
    auto elf = ElfImage::open(file_of(file), "made");
    REQUIRE(elf);
    return examine_interpreter(*elf);
}

}  // namespace

TEST_CASE("the version is taken from the string that Py_GetVersion refers to, whole or not at all") {
    const auto image = examine(made_library("3.8.12", Bytes(64, 0)));
    REQUIRE(image);
    REQUIRE(*image);
    CHECK((*image)->version == PythonVersion{3, 8, 12, 0xf, 0});
    CHECK((*image)->version_source == "Py_GetVersion");

    for (const char* text :
         {"python3.8.12", "3.8.12 ", "3.8", "", "3.8.12/lib", "0.3.8", "1.5.2", "31.1.0"}) {
        INFO(text);
        const auto refused = examine(made_library(text, Bytes(64, 0)));
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == -ENOENT);
        CHECK(refused.error().message.find("does not tell its exact version") != std::string::npos);
    }
}

TEST_CASE("pre-releases are versions of their own") {
    const auto image = examine(made_library("3.14.0rc2", Bytes(64, 0)));
    REQUIRE(image);
    REQUIRE(*image);
    CHECK((*image)->version == PythonVersion{3, 14, 0, 0xc, 2});
    CHECK_FALSE((*image)->version.is_final());
}

TEST_CASE("a file that contradicts itself is refused") {
    const auto agree = examine(made_library("3.13.2", debug_offsets(0x030d02f0, 1), 0x030d02f0));
    REQUIRE(agree);
    REQUIRE(*agree);
    CHECK((*agree)->free_threaded == true);
    CHECK((*agree)->debug_offsets.size() >= 600);

    const auto differ = examine(made_library("3.13.2", debug_offsets(0x030d03f0, 0), 0x030d02f0));
    REQUIRE_FALSE(differ);
    CHECK(differ.error().message.find("contradicts itself") != std::string::npos);

    const auto nonsense = examine(made_library("3.13.2", debug_offsets(0x030d02f0, 7), 0x030d02f0));
    REQUIRE_FALSE(nonsense);
}

TEST_CASE("a file with Py_GetVersion alone has nothing to start from") {
    ElfBuilder builder;
    builder.symbol("Py_GetVersion", builder.section(".text", {0xc3}), 1);
    const auto image = examine(builder.build());
    REQUIRE_FALSE(image);
    CHECK(image.error().message.find("_PyRuntime") != std::string::npos);
}

TEST_CASE("an executable's copies of a library's variables are no interpreter") {
    ElfBuilder builder;
    const uint64_t copy = builder.section(".data", Bytes(64, 0));
    builder.symbol("_PyRuntime", copy, 64, STT_OBJECT);
    builder.rela(copy, R_X86_64_COPY, 1, 0);
    builder.type = ET_EXEC;
    auto elf = ElfImage::open(file_of(builder.build()), "made");
    REQUIRE(elf);
    CHECK_FALSE(might_hold_python(*elf));
    CHECK(elf->copied_variables() == std::map<std::string, uint64_t>{{"_PyRuntime", copy}});
}
