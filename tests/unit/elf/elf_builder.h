// SPDX-License-Identifier: Apache-2.0
// Makes small ELF files for tests: one readable, writable, executable segment that holds all sections one
// behind another, at virtual address kBase + file offset.
#pragma once

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "elf/owned_fd.h"

namespace pyperf_test {

class ElfBuilder {
  public:
    static constexpr uint64_t kBase = 0x100000;
    using Bytes = std::vector<uint8_t>;

    uint16_t type = ET_DYN;
    uint16_t machine = EM_X86_64;
    Bytes build_id;
    uint64_t tls_bytes = 0;
    uint64_t tls_align = 8;
    bool interpreter = false;

    // The virtual address that the next section's bytes will have.
    uint64_t next_vaddr() const { return kBase + aligned(at_); }

    uint64_t section(const std::string& name, const Bytes& bytes, uint32_t section_type = SHT_PROGBITS,
                     uint32_t link = 0, uint64_t entry_bytes = 0, uint64_t flags = SHF_ALLOC) {
        at_ = aligned(at_);
        const uint64_t vaddr = kBase + at_;
        sections_.push_back({name, bytes, section_type, link, entry_bytes, flags, at_});
        at_ += bytes.size();
        return vaddr;
    }
    void symbol(const std::string& name, uint64_t value, uint64_t size, int symbol_type = STT_FUNC,
                uint16_t section_index = 1) {
        symbols_.push_back({name, value, size, symbol_type, section_index});
    }
    void rela(uint64_t vaddr, uint32_t rela_type, uint32_t symbol_index, int64_t addend) {
        relas_.push_back({vaddr, ELF64_R_INFO(uint64_t{symbol_index}, uint64_t{rela_type}), addend});
    }

    // With its symbols in .dynsym, or in .symtab.
    Bytes build(bool dynamic = true) {
        const uint32_t symbol_table = static_cast<uint32_t>(sections_.size()) + 1;
        Bytes strings{0};
        Bytes table(sizeof(Elf64_Sym), 0);
        for (const Symbol& s : symbols_) {
            Elf64_Sym entry{};
            entry.st_name = static_cast<uint32_t>(strings.size());
            entry.st_info = static_cast<uint8_t>(ELF64_ST_INFO(STB_GLOBAL, s.type));
            entry.st_shndx = s.section_index;
            entry.st_value = s.value;
            entry.st_size = s.size;
            append(table, entry);
            append(strings, s.name);
        }
        section(dynamic ? ".dynsym" : ".symtab", table, dynamic ? SHT_DYNSYM : SHT_SYMTAB, symbol_table + 1,
                sizeof(Elf64_Sym));
        section(dynamic ? ".dynstr" : ".strtab", strings, SHT_STRTAB);
        if (!relas_.empty()) {
            Bytes entries;
            for (const Elf64_Rela& r : relas_) append(entries, r);
            section(".rela.dyn", entries, SHT_RELA, symbol_table, sizeof(Elf64_Rela));
        }
        uint64_t note_at = 0;
        uint64_t note_bytes = 0;
        if (!build_id.empty()) {
            Bytes note;
            append(note, Elf64_Nhdr{4, static_cast<uint32_t>(build_id.size()), NT_GNU_BUILD_ID});
            append(note, std::string("GNU"));
            note.insert(note.end(), build_id.begin(), build_id.end());
            note_at = section(".note.gnu.build-id", note, SHT_NOTE) - kBase;
            note_bytes = note.size();
        }
        Bytes names{0};
        std::vector<uint32_t> name_at;
        for (const Section& s : sections_) {
            name_at.push_back(static_cast<uint32_t>(names.size()));
            append(names, s.name);
        }
        name_at.push_back(static_cast<uint32_t>(names.size()));
        append(names, std::string(".shstrtab"));
        section(".shstrtab", names, SHT_STRTAB, 0, 0, 0);

        const uint64_t headers_at = aligned(at_);
        Bytes file(headers_at + (sections_.size() + 1) * sizeof(Elf64_Shdr), 0);
        for (const Section& s : sections_)
            std::copy(s.bytes.begin(), s.bytes.end(), file.begin() + static_cast<long>(s.at));
        for (size_t i = 0; i < sections_.size(); ++i) {
            const Section& s = sections_[i];
            Elf64_Shdr header{};
            header.sh_name = name_at[i];
            header.sh_type = s.type;
            header.sh_flags = s.flags;
            header.sh_addr = (s.flags & SHF_ALLOC) ? kBase + s.at : 0;
            header.sh_offset = s.at;
            header.sh_size = s.bytes.size();
            header.sh_link = s.link;
            header.sh_addralign = 1;
            header.sh_entsize = s.entry_bytes;
            put(file, headers_at + (i + 1) * sizeof header, header);
        }
        std::vector<Elf64_Phdr> segments;
        segments.push_back({PT_LOAD, PF_R | PF_W | PF_X, 0, kBase, kBase, headers_at, headers_at, 4096});
        if (note_at)
            segments.push_back({PT_NOTE, PF_R, note_at, kBase + note_at, 0, note_bytes, note_bytes, 4});
        if (tls_bytes) segments.push_back({PT_TLS, PF_R, 0, kBase, 0, 0, tls_bytes, tls_align});
        if (interpreter) segments.push_back({PT_INTERP, PF_R, 0, kBase, 0, 0, 0, 1});
        for (size_t i = 0; i < segments.size(); ++i) {
            put(file, sizeof(Elf64_Ehdr) + i * sizeof(Elf64_Phdr), segments[i]);
        }
        Elf64_Ehdr header{};
        std::memcpy(header.e_ident, ELFMAG, SELFMAG);
        header.e_ident[EI_CLASS] = ELFCLASS64;
        header.e_ident[EI_DATA] = ELFDATA2LSB;
        header.e_ident[EI_VERSION] = EV_CURRENT;
        header.e_type = type;
        header.e_machine = machine;
        header.e_version = EV_CURRENT;
        header.e_phoff = sizeof header;
        header.e_shoff = headers_at;
        header.e_ehsize = sizeof header;
        header.e_phentsize = sizeof(Elf64_Phdr);
        header.e_phnum = static_cast<uint16_t>(segments.size());
        header.e_shentsize = sizeof(Elf64_Shdr);
        header.e_shnum = static_cast<uint16_t>(sections_.size() + 1);
        header.e_shstrndx = static_cast<uint16_t>(sections_.size());
        put(file, 0, header);
        return file;
    }

  private:
    struct Section {
        std::string name;
        Bytes bytes;
        uint32_t type;
        uint32_t link;
        uint64_t entry_bytes;
        uint64_t flags;
        uint64_t at;
    };
    struct Symbol {
        std::string name;
        uint64_t value;
        uint64_t size;
        int type;
        uint16_t section_index;
    };
    static uint64_t aligned(uint64_t at) { return (at + 15) & ~uint64_t{15}; }
    template <typename T>
    static void append(Bytes& bytes, const T& value) {
        const auto* begin = reinterpret_cast<const uint8_t*>(&value);
        bytes.insert(bytes.end(), begin, begin + sizeof value);
    }
    static void append(Bytes& bytes, const std::string& text) {
        bytes.insert(bytes.end(), text.begin(), text.end());
        bytes.push_back(0);
    }
    template <typename T>
    static void put(Bytes& bytes, uint64_t at, const T& value) {
        std::memcpy(bytes.data() + at, &value, sizeof value);
    }

    uint64_t at_ = 1024;  // behind the ELF and program headers
    std::vector<Section> sections_;
    std::vector<Symbol> symbols_;
    std::vector<Elf64_Rela> relas_;
};

// A file with these bytes that has no name.
inline pyperf::OwnedFd file_of(const std::vector<uint8_t>& bytes) {
    pyperf::OwnedFd fd(::memfd_create("pyperf-test", MFD_CLOEXEC));
    size_t done = 0;
    while (fd && done < bytes.size()) {
        const ssize_t n = ::write(fd.get(), bytes.data() + done, bytes.size() - done);
        if (n <= 0) return pyperf::OwnedFd();
        done += static_cast<size_t>(n);
    }
    return fd;
}

}  // namespace pyperf_test
