// SPDX-License-Identifier: Apache-2.0
// Writes what the fuzz targets begin with, made of real things: fuzz_seeds FOLDER fills FOLDER/TARGET for
// each. What was in those folders is removed, so every run begins with the same.
#include <linux/perf_event.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "input.h"
#include "records.h"
#include "unit/decode/line_table_cases.h"
#include "unit/elf/made_interpreters.h"
#include "unit/elf/thread_local_file.h"
#include "unit/process/perf_record_bytes.h"

using namespace pyperf_test;
namespace fs = std::filesystem;
using Bytes = std::vector<uint8_t>;

namespace {

fs::path seeds_folder;

std::string content(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

template <typename Range>
void write_seed(const std::string& target, const Range& bytes) {
    const fs::path folder = seeds_folder / target;
    fs::create_directories(folder);
    const auto number = std::distance(fs::directory_iterator(folder), {});
    std::ofstream file(folder / ("seed-" + std::to_string(number)), std::ios::binary);
    for (const auto byte : bytes) file.put(static_cast<char>(byte));
    require(file.good(), "a seed can be written");
}

template <typename T>
void append(Bytes& bytes, const T& value) {
    const size_t at = bytes.size();
    bytes.resize(at + sizeof value);
    std::memcpy(bytes.data() + at, &value, sizeof value);
}

template <typename Range>
void append_all(Bytes& bytes, const Range& more) {
    for (const auto byte : more) bytes.push_back(static_cast<uint8_t>(byte));
}

// Functions as compilers and linkers write them, one for each access model (see
// unit/elf/code_reader_test.cpp). Those of x86_64 lie at kCodeVaddr, right behind the two words of the global
// offset table.
struct Function {
    bool aarch64;
    uint8_t relocation;  // of the table's first word, as ThreadLocalHead has it
    Bytes code;
};

Bytes words(std::initializer_list<uint32_t> instructions) {
    Bytes code;
    for (const uint32_t instruction : instructions) append(code, instruction);
    return code;
}

std::vector<Function> functions() {
    return {
        // mov %fs:-0x18,%rax; ret
        {false, 0, {0x64, 0x48, 0x8b, 0x04, 0x25, 0xe8, 0xff, 0xff, 0xff, 0xc3}},
        // mov $-0x18,%rax; mov %fs:(%rax),%rax; ret
        {false, 0, {0x48, 0xc7, 0xc0, 0xe8, 0xff, 0xff, 0xff, 0x64, 0x48, 0x8b, 0x00, 0xc3}},
        // mov -0x17(%rip),%rax; mov %fs:(%rax),%rax; ret
        {false, R_X86_64_TPOFF64, {0x48, 0x8b, 0x05, 0xe9, 0xff, 0xff, 0xff, 0x64, 0x48, 0x8b, 0x00, 0xc3}},
        // data16 lea -0x18(%rip),%rdi; data16 data16 rex.W call __tls_get_addr; mov (%rax),%rax; ret
        {false, R_X86_64_DTPMOD64, {0x66, 0x48, 0x8d, 0x3d, 0xe8, 0xff, 0xff, 0xff, 0x66, 0x66,
                                    0x48, 0xe8, 0,    0,    0,    0,    0x48, 0x8b, 0x00, 0xc3}},
        // lea -0x17(%rip),%rax; call *(%rax); mov %fs:(%rax),%rax; ret
        {false,
         R_X86_64_TLSDESC,
         {0x48, 0x8d, 0x05, 0xe9, 0xff, 0xff, 0xff, 0xff, 0x10, 0x64, 0x48, 0x8b, 0x00, 0xc3}},
        // mov 0x10(%rip),%rax; mov 0x28(%rax),%rax; lea -0x100(%rip),%rcx; mov %rax,0x10(%rip); ret
        {false, 0, {0x48, 0x8b, 0x05, 0x10, 0,    0,    0,    0x48, 0x8b, 0x40, 0x28, 0x48, 0x8d,
                    0x0d, 0,    0xff, 0xff, 0xff, 0x48, 0x89, 0x05, 0x10, 0,    0,    0,    0xc3}},
        // mrs x0, tpidr_el0; add x0, x0, #0x0, lsl #12; add x0, x0, #0x18; ldr x0, [x0]; ret
        {true, 0, words({0xd53bd040, 0x91400000, 0x91006000, 0xf9400000, 0xd65f03c0})},
        // mrs x1, tpidr_el0; adrp x0, .; ldr x2, [x0, #0x400]; add x0, x0, #0x400; blr x2; ldr x0, [x1, x0];
        // ret
        {true, R_AARCH64_TLSDESC - 1024,
         words({0xd53bd041, 0x90000000, 0xf9420002, 0x91100000, 0xd63f0040, 0xf8606820, 0xd65f03c0})},
        // adrp x0, .+0x2000; ldr x0, [x0, #0x10]; ldr x1, [x0, #0x28]; ret
        {true, 0, words({0xd0000000, 0xf9400800, 0xf9401401, 0xd65f03c0})},
        // mrs x0, tpidr_el0; sub x0, x0, #0x740; ret
        {true, 0, words({0xd53bd040, 0xd11d0000, 0xd65f03c0})},
    };
}

void write_code() {
    for (const Function& function : functions()) {
        Bytes code{function.aarch64, static_cast<uint8_t>(function.code.size() / 2)};
        append(code, kCodeVaddr);
        append_all(code, function.code);
        write_seed("code_reader", code);
        for (const bool executable : {false, true}) {
            ThreadLocalHead head;
            head.aarch64 = function.aarch64;
            head.executable = executable;
            head.got_relocation = function.relocation;
            Bytes input;
            append(input, head);
            append_all(input, function.code);
            write_seed("thread_locals", input);
        }
    }
}

void write_elf_files() {
    ElfBuilder copies;
    copies.type = ET_EXEC;
    copies.build_id = Bytes(20, 0xab);
    copies.interpreter = true;
    copies.tls_bytes = 64;
    const uint64_t data = copies.section(".data", Bytes(64, 1));
    copies.symbol("_PyRuntime", data, 64, STT_OBJECT);
    copies.symbol("stdout", data + 8, 8, STT_OBJECT);
    copies.rela(data, R_X86_64_COPY, 1, 0);
    copies.rela(data + 8, R_X86_64_RELATIVE, 0, 0x100400);
    Bytes packed;
    for (const uint64_t word : {data + 16, uint64_t{0x15}}) append(packed, word);
    copies.section(".relr.dyn", packed, 19 /* SHT_RELR */, 0, 8);
    const Bytes files[] = {made_library("3.8.12", Bytes(64, 0)),
                           made_library("3.13.2", debug_offsets(0x030d02f0, 1), 0x030d02f0),
                           small_interpreter(), copies.build()};
    for (const std::string target : {"elf_image", "interpreter_image"})
        for (const Bytes& file : files) write_seed(target, file);
    write_seed("elf_image", content("/bin/true"));

    Bytes tables;
    for (const uint32_t bytes : {48U, 12U, 16U}) append(tables, static_cast<uint16_t>(bytes));
    append(tables, Elf64_Sym{});
    append(tables, Elf64_Sym{1, STT_OBJECT, 0, 1, data, 8});
    append_all(tables, bytes_of(std::string("\0_PyRuntime", 11)));
    append_all(tables, packed);
    append(tables, Elf64_Rela{data, ELF64_R_INFO(uint64_t{1}, uint64_t{R_X86_64_64}), 8});
    write_seed("relocations", tables);
}

void write_line_tables() {
    for (const auto& file : fs::directory_iterator(PYPERF_SOURCE_DIR "/tests/unit/decode/data")) {
        std::ifstream text(file.path());
        bool failed = false;
        // Some of each file are enough: they are alike from version to version.
        for (int count = 0; count < 8; ++count) {
            const auto code = pyperf::test::read_line_table_case(text, failed);
            if (!code) break;
            Bytes input{static_cast<uint8_t>(code->format), static_cast<uint8_t>(code->table.size() / 2)};
            append(input, static_cast<int16_t>(code->lines.size() * static_cast<size_t>(code->step) / 2));
            append(input, code->first_line);
            append_all(input, code->table);
            write_seed("line_table", input);
        }
        require(!failed, "the line tables of the unit tests can be read");
    }
}

// With the last piece cut: the bytecode's lines are longer than what is there.
Bytes code_record(uint32_t layout, uint32_t state) {
    pyperf_code_record head{};
    const std::string pieces[] = {"share", "Server.share", "/srv/app.py", "\x80\x01\xd8\x04"};
    pyperf_text* const texts[] = {&head.name, &head.qualname, &head.filename, &head.lines};
    head.type = PYPERF_RECORD_CODE;
    head.code_id = 7;
    head.first_line = 35;
    head.layout = layout;
    Bytes data;
    for (size_t i = 0; i < 4; ++i) {
        *texts[i] = {0x7f0000001000,
                     pieces[i].size() + (i == 3 ? 100 : 0),
                     static_cast<uint32_t>(pieces[i].size()),
                     i == 3 ? 0 : state,
                     0,
                     0};
        append_all(data, pieces[i]);
    }
    Bytes record(offsetof(pyperf_code_record, data));
    std::memcpy(record.data(), &head, record.size());
    append_all(record, data);
    return record;
}

void write_records() {
    constexpr uint32_t ascii = 1 << 2 | 1 << 5 | 1 << 6;
    constexpr uint32_t ascii_free_threaded = 1 << 8 | 1 << 11 | 1 << 12;
    pyperf_class_record type{};
    type.type = PYPERF_RECORD_CLASS;
    type.class_id = 9;
    type.name = {0x7f0000002000, 10, 10, 0, 0, 0};
    Bytes class_record(offsetof(pyperf_class_record, data));
    std::memcpy(class_record.data(), &type, class_record.size());
    append_all(class_record, std::string("app.Server"));
    pyperf_stack_record stack{};
    stack.type = PYPERF_RECORD_STACK;
    stack.frame_count = 2;
    Bytes stack_record(offsetof(pyperf_stack_record, frames));
    std::memcpy(stack_record.data(), &stack, stack_record.size());
    append(stack_record, pyperf_frame{7, 9, 6, PYPERF_FRAME_ENTRY});
    append(stack_record, pyperf_frame{8, 0, -1, 0});

    size_t layouts = 0;
    for (const auto& entry : fs::directory_iterator(PYPERF_SOURCE_DIR "/offsets"))
        layouts += entry.path().extension() == ".toml";
    for (uint32_t layout = 0; layout < layouts; ++layout) {
        for (const uint32_t state : {ascii, ascii_free_threaded}) {
            const Bytes code = code_record(layout, state);
            Bytes input{static_cast<uint8_t>(layout)};
            append_all(input, code);
            write_seed("code_record", input);
            Bytes ring;
            for (const Bytes& record : {code, class_record, stack_record}) {
                append(ring, static_cast<uint16_t>(record.size()));
                append_all(ring, record);
            }
            write_seed("ring_records", ring);
        }
    }
    for (const uint32_t state : {ascii, 1U << 2 | 1U << 5, 2U << 2 | 1U << 5, 4U << 2 | 1U << 5}) {
        Bytes input;
        append(input, state);
        append_all(input, std::string("\0\5", 2) + "na\xc3\xafve \xe2\x82\xac \xf0\x9f\x90\x8d");
        write_seed("text", input);
    }
}

void write_texts() {
    write_seed("escape", std::string("a;b\\n\t\r\n\x1b[0m\xe2\x80\xae\xff\xc2\x85"));
    for (const auto& file : fs::directory_iterator(PYPERF_SOURCE_DIR "/offsets")) {
        // Under the name that the target's file has.
        std::string text = content(file.path());
        const std::string name = "\"" + file.path().stem().string() + "\"";
        const size_t at = text.find(name);
        if (at == std::string::npos) continue;
        write_seed("layout_file", text.replace(at, name.size(), "\"fuzz\""));
    }
    write_seed("maps", content("/proc/self/maps"));
    write_seed("maps", std::string("7f00-7f10 r-xs 00001000 fe:01 77   /tmp/a\\012b c (deleted)\n"));
    write_seed("process_stat", content("/proc/self/stat"));
    write_seed("process_stat", std::string("17 (a) S 1 (\n) R 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 4711 0 0"));
    for (const char* version : {"3.13.0", "3.14.0rc2 3.14.0", "2.7.18+ 3.15.0a1", "3.6.15 3.15.0b4"})
        write_seed("python_version", std::string(version));

    write_seed("perf_record", exec_record(17, "python3"));
    for (const uint32_t type : {PERF_RECORD_FORK, PERF_RECORD_EXIT})
        write_seed("perf_record", task_record(type, 17, 1, 18));
    write_seed("perf_record", mapping_by_inode(17, "/usr/bin/python3.13", 77));
    write_seed("perf_record", mapping_by_build_id(17, "/usr/bin/python3.13", 20));
    write_seed("perf_record", RecordBuilder(PERF_RECORD_LOST).put(uint64_t{1}).put(uint64_t{3}).done());
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: fuzz_seeds FOLDER\n");
        return 2;
    }
    seeds_folder = argv[1];
    fs::remove_all(seeds_folder);
    write_code();
    write_elf_files();
    write_line_tables();
    write_records();
    write_texts();
    return 0;
}
