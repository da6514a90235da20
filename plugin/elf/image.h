// SPDX-License-Identifier: Apache-2.0
// One ELF file: its symbols, sections, segments, relocations and bytes. In: a file descriptor. Out: facts of
// the file by name or by virtual address. It knows nothing of Python, processes or layouts.
//
// The file is foreign: it may be cut off, corrupt, or change while it is read. It is read with pread, never
// mapped (a mapped file that somebody truncates kills its reader), and every size in it has a limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elf/owned_fd.h"
#include "result.h"

struct Elf;

namespace pyperf {

enum class Architecture { x86_64, aarch64 };
std::string_view to_string(Architecture architecture);

struct ElfSymbol {
    uint64_t value = 0;  // virtual address in the file; of a thread-local: offset in the module's block
    uint64_t size = 0;   // bytes; 0: the file does not say
    bool thread_local_ = false;
};

struct ElfSection {
    uint64_t vaddr = 0;
    uint64_t file_offset = 0;
    uint64_t size = 0;
    bool has_bytes = false;  // false: .bss and the like
};

struct ElfSegment {  // a PT_LOAD
    uint64_t vaddr = 0;
    uint64_t file_offset = 0;
    uint64_t file_size = 0;
    uint64_t memory_size = 0;
    bool executable = false;
    bool writable = false;
};

struct ElfTls {  // PT_TLS
    uint64_t vaddr = 0;
    uint64_t memory_size = 0;
    uint64_t align = 1;
};

struct ElfRelocation {
    uint64_t vaddr = 0;  // of the word that it fills
    uint32_t type = 0;   // R_X86_64_* or R_AARCH64_*
    int64_t addend = 0;
    std::string symbol;                    // empty: none
    std::optional<uint64_t> symbol_value;  // where this file defines the symbol itself
};

// Where a file's segments lie once it is mapped: what is needed to say by how much a process moved it.
class SegmentMap {
  public:
    SegmentMap() = default;
    SegmentMap(std::vector<ElfSegment> segments, bool fixed)
        : segments_(std::move(segments)), fixed_(fixed) {}

    // What a process that mapped the file's bytes from `file_offset` on at `start` adds to each of its
    // virtual addresses. executable: whether the mapping is. Nothing if no segment of the file begins in such
    // a mapping, or if the file cannot be moved and the mapping says that it was.
    std::optional<uint64_t> load_bias(uint64_t start, uint64_t file_offset, bool executable) const;
    const std::vector<ElfSegment>& segments() const { return segments_; }

  private:
    std::vector<ElfSegment> segments_;
    bool fixed_ = false;  // ET_EXEC
};

class ElfImage {
  public:
    // fd: an open regular file; the image owns it from here on. name: for messages.
    // Errors: not a regular file, too large, not a 64-bit little-endian ELF file for x86_64 or aarch64,
    // corrupt.
    static Result<ElfImage> open(OwnedFd fd, std::string name);
    static Result<ElfImage> open(const std::string& path);

    ElfImage(ElfImage&&) noexcept;
    ElfImage& operator=(ElfImage&&) noexcept;
    ~ElfImage();

    const std::string& name() const { return name_; }
    Architecture architecture() const { return architecture_; }
    bool is_executable_at_fixed_address() const { return fixed_; }  // ET_EXEC
    // Made to be started (or a shared library that can be), so its thread-local block comes first.
    bool is_program() const { return fixed_ || has_interpreter_; }
    // Whether it is linked dynamically: has PT_INTERP or PT_DYNAMIC.
    bool needs_libraries() const { return has_interpreter_ || has_dynamic_; }
    const std::string& build_id() const { return build_id_; }  // hex; empty: the file has none
    const std::optional<ElfTls>& tls() const { return tls_; }
    const std::vector<ElfSegment>& segments() const { return segments_; }
    SegmentMap segment_map() const { return {segments_, fixed_}; }

    // The defined symbols of these names, in their order: from .dynsym, and what is not there from .symtab. A
    // name that .symtab has more than once with different values is ambiguous and counts as not there. One
    // pass over each table.
    std::vector<std::optional<ElfSymbol>> symbols(std::span<const std::string_view> names) const;
    std::optional<ElfSymbol> symbol(std::string_view name) const;
    // Likewise from .dynsym alone.
    std::vector<std::optional<ElfSymbol>> dynamic_symbols(std::span<const std::string_view> names) const;

    std::optional<ElfSection> section(std::string_view name) const;

    // Reads exactly `out.size()` bytes of the file's initial contents at a virtual address. Fails outside the
    // file's segments and in their parts without bytes in the file (.bss).
    Result<void> read_at_vaddr(uint64_t vaddr, std::span<uint8_t> out) const;
    Result<uint64_t> read_u64(uint64_t vaddr) const;
    // The bytes up to a NUL, which must come within `limit` bytes.
    Result<std::string> read_string(uint64_t vaddr, size_t limit) const;
    // How many bytes of the file there are from this address to the end of its segment; 0: none.
    uint64_t bytes_at(uint64_t vaddr) const;

    // The pointer that the word at `vaddr` holds after relocation, as a virtual address of this file. Fails
    // if it would point into another file.
    Result<uint64_t> read_pointer(uint64_t vaddr) const;
    // The relocation that fills the word at `vaddr`, if one does.
    std::optional<ElfRelocation> relocation_at(uint64_t vaddr) const;
    // Whether a relocation of this file names the symbol: then another file may define it for this one.
    bool relocations_name(std::string_view symbol) const;
    // The words that a copy relocation fills: variables of a library that this executable has taken over, by
    // name. Not more than 4096.
    std::map<std::string, uint64_t> copied_variables() const;

  private:
    struct Relocations;
    struct SectionHeader {
        std::string name;
        uint32_t type = 0;
        uint32_t link = 0;
        uint64_t flags = 0, vaddr = 0, file_offset = 0, size = 0, entry_size = 0;
        size_t index = 0;
    };
    struct ElfCloser {
        void operator()(Elf* elf) const;
    };

    ElfImage(OwnedFd fd, std::string name);
    Result<void> load();
    Result<void> load_sections();
    Result<void> load_segments();
    void load_build_id();
    std::optional<std::vector<uint8_t>> section_bytes(const SectionHeader& header) const;
    void find_in_table(uint32_t table_type, std::span<const std::string_view> names,
                       std::vector<std::optional<ElfSymbol>>& found) const;
    const Relocations& relocations() const;
    Error error(const std::string& what, int code = -EINVAL) const;

    OwnedFd fd_;
    std::string name_;
    uint64_t file_bytes_ = 0;
    Architecture architecture_ = Architecture::x86_64;
    bool fixed_ = false;
    bool has_interpreter_ = false;  // PT_INTERP
    bool has_dynamic_ = false;      // PT_DYNAMIC
    std::string build_id_;
    std::optional<ElfTls> tls_;
    std::vector<ElfSegment> segments_;
    std::vector<std::pair<uint64_t, uint64_t>> notes_;  // PT_NOTE: file offset, size
    std::vector<SectionHeader> sections_;
    std::unique_ptr<Elf, ElfCloser> elf_;
    mutable std::unique_ptr<Relocations> relocations_;  // read when first asked for
};

}  // namespace pyperf
