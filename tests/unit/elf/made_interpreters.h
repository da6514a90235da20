// SPDX-License-Identifier: Apache-2.0
// Small files that look like libpython: what examine_interpreter() needs, and no more.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "elf_builder.h"

namespace pyperf_test {

inline std::vector<uint8_t> bytes_of(const std::string& text) {
    std::vector<uint8_t> bytes(text.begin(), text.end());
    bytes.push_back(0);
    return bytes;
}

// lea target(%rip),%rcx; ret
inline std::vector<uint8_t> lea_rcx(uint64_t at, uint64_t target) {
    const auto displacement = static_cast<uint32_t>(target - (at + 7));
    std::vector<uint8_t> code{0x48, 0x8d, 0x0d, 0, 0, 0, 0, 0xc3};
    std::memcpy(code.data() + 3, &displacement, 4);
    return code;
}

// A library with Py_GetVersion, whose code refers to `version`, and _PyRuntime with these contents.
inline std::vector<uint8_t> made_library(const std::string& version, const std::vector<uint8_t>& runtime,
                                         uint64_t py_version = 0) {
    ElfBuilder builder;
    const uint64_t text = builder.section(".rodata", bytes_of(version));
    const uint64_t code_at = builder.next_vaddr();
    builder.section(".text", lea_rcx(code_at, text));
    builder.symbol("Py_GetVersion", code_at, 8);
    builder.symbol("_PyRuntime", builder.section(".PyRuntime", runtime), runtime.size(), STT_OBJECT);
    if (py_version != 0) {
        std::vector<uint8_t> hex(8);
        std::memcpy(hex.data(), &py_version, 8);
        builder.symbol("Py_Version", builder.section(".data", hex), 8, STT_OBJECT);
    }
    return builder.build();
}

// _Py_DebugOffsets: its cookie, version and flag, and zeros behind them.
inline std::vector<uint8_t> debug_offsets(uint64_t version, uint64_t free_threaded) {
    std::vector<uint8_t> bytes(600, 0);
    std::memcpy(bytes.data(), "xdebugpy", 8);
    std::memcpy(bytes.data() + 8, &version, 8);
    std::memcpy(bytes.data() + 16, &free_threaded, 8);
    return bytes;
}

// The parts of a real interpreter that are read, so that thousands of broken copies can be tried.
inline std::vector<uint8_t> small_interpreter() {
    ElfBuilder builder;
    builder.build_id = std::vector<uint8_t>(20, 7);
    builder.tls_bytes = 32;
    builder.interpreter = true;
    const uint64_t names =
        builder.section(".rodata", {'3', '.', '1', '2', '.', '1', 0, 'c', 'o', 'd', 'e', 0});
    const uint64_t code_at = builder.next_vaddr();
    std::vector<uint8_t> code{0x48, 0x8d, 0x0d, 0, 0, 0, 0, 0xc3};  // lea names(%rip),%rcx; ret
    const auto displacement = static_cast<uint32_t>(names - (code_at + 7));
    std::memcpy(code.data() + 3, &displacement, 4);
    builder.section(".text", code);
    const uint64_t tls_at =
        builder.section(".text.tls", {0x64, 0x48, 0x8b, 0x04, 0x25, 0xf0, 0xff, 0xff, 0xff, 0xc3});
    std::vector<uint8_t> type(300, 0);
    type[32] = 64;
    const uint64_t members = names + 5;
    const uint64_t type_at = builder.section(".data", type);
    builder.rela(type_at + 24, R_X86_64_RELATIVE, 0, static_cast<int64_t>(names + 7));
    builder.rela(type_at + 240, R_X86_64_RELATIVE, 0, static_cast<int64_t>(members));
    builder.symbol("Py_GetVersion", code_at, code.size());
    builder.symbol("_PyThreadState_GetCurrent", tls_at, 10);
    builder.symbol("PyInterpreterState_Head", code_at, 0);
    builder.symbol("PyCode_Type", type_at, 300, STT_OBJECT);
    builder.symbol("_PyRuntime", builder.section(".PyRuntime", std::vector<uint8_t>(64, 0)), 64, STT_OBJECT);
    return builder.build();
}

}  // namespace pyperf_test
