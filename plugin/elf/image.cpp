// SPDX-License-Identifier: Apache-2.0
#include "elf/image.h"

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_map>

#include "elf/relocations.h"

namespace pyperf {
namespace {

// Larger than any interpreter with all its debug information; a bound on what a hostile file can make us do.
constexpr uint64_t kMaxFileBytes = 4ULL << 30;
constexpr uint64_t kMaxSectionBytes = 96ULL << 20;
constexpr size_t kMaxSections = 65536;
constexpr size_t kMaxSegments = 1024;
constexpr size_t kMaxNoteBytes = 64 * 1024;
constexpr size_t kMaxBuildIdBytes = 64;
constexpr size_t kMaxSectionName = 256;

// pread until all is there. False: the file ended or failed.
bool read_fully(int fd, uint64_t offset, std::span<uint8_t> out) {
    size_t done = 0;
    while (done < out.size()) {
        const ssize_t n =
            ::pread(fd, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        done += static_cast<size_t>(n);
    }
    return true;
}

std::string to_hex(std::span<const uint8_t> bytes) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    text.reserve(bytes.size() * 2);
    for (const uint8_t byte : bytes) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

// The bytes of a string table from `offset` on to their NUL; empty if there is none within `limit` bytes.
// Strings may share their bytes: without the limit a small file could ask for any number of long ones.
std::string_view string_at(const std::vector<uint8_t>& table, uint64_t offset, size_t limit) {
    if (offset >= table.size()) return {};
    const auto* begin = reinterpret_cast<const char*>(table.data()) + offset;
    const size_t bytes = std::min<uint64_t>(table.size() - offset, limit);
    const auto* end = static_cast<const char*>(std::memchr(begin, 0, bytes));
    return end ? std::string_view(begin, static_cast<size_t>(end - begin)) : std::string_view();
}

template <typename T>
T entry_at(const std::vector<uint8_t>& bytes, size_t index) {
    T entry;
    std::memcpy(&entry, bytes.data() + index * sizeof(T), sizeof(T));
    return entry;
}

uint64_t page_bytes() {
    static const auto bytes = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    return bytes;
}

}  // namespace

std::string_view to_string(Architecture architecture) {
    return architecture == Architecture::x86_64 ? "x86_64" : "aarch64";
}

std::optional<uint64_t> SegmentMap::load_bias(uint64_t start, uint64_t file_offset, bool executable) const {
    const uint64_t mask = ~(page_bytes() - 1);
    const ElfSegment* best = nullptr;
    for (const ElfSegment& segment : segments_) {
        const uint64_t first = segment.file_offset & mask;
        if (file_offset < first || file_offset >= segment.file_offset + segment.file_size) continue;
        if (segment.executable != executable) continue;
        // Two segments may share a page of the file. The one that begins in this very page is the one mapped
        // here.
        if (!best || first == file_offset) best = &segment;
    }
    if (!best) return std::nullopt;
    const uint64_t bias = start - ((best->vaddr & mask) + (file_offset - (best->file_offset & mask)));
    if (fixed_ && bias != 0) return std::nullopt;
    return bias;
}

void ElfImage::ElfCloser::operator()(Elf* elf) const {
    elf_end(elf);
}

ElfImage::ElfImage(OwnedFd fd, std::string name) : fd_(std::move(fd)), name_(std::move(name)) {}
ElfImage::ElfImage(ElfImage&&) noexcept = default;
ElfImage& ElfImage::operator=(ElfImage&&) noexcept = default;
ElfImage::~ElfImage() = default;

Error ElfImage::error(const std::string& what, int code) const {
    return {name_ + ": " + what, code};
}

Result<ElfImage> ElfImage::open(const std::string& path) {
    // Not blocking: the path may lead to a FIFO.
    OwnedFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fd) return Error{path + ": cannot be opened: " + std::strerror(errno), -errno};
    return open(std::move(fd), path);
}

Result<ElfImage> ElfImage::open(OwnedFd fd, std::string name) {
    ElfImage image(std::move(fd), std::move(name));
    if (auto loaded = image.load(); !loaded) return loaded.error();
    return image;
}

Result<void> ElfImage::load() {
    struct stat status {};
    if (::fstat(fd_.get(), &status) != 0) return error(std::strerror(errno), -errno);
    if (!S_ISREG(status.st_mode)) return error("not a regular file");
    file_bytes_ = static_cast<uint64_t>(status.st_size);
    if (file_bytes_ > kMaxFileBytes) return error("larger than 4 GiB: not examined", -EFBIG);

    Elf64_Ehdr header{};
    if (!read_fully(fd_.get(), 0, {reinterpret_cast<uint8_t*>(&header), sizeof header})) {
        return error("not an ELF file: too short", -ENOEXEC);
    }
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return error("not an ELF file", -ENOEXEC);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
        return error("not a 64-bit little-endian ELF file", -ENOEXEC);
    }
    if (header.e_machine == EM_X86_64) {
        architecture_ = Architecture::x86_64;
    } else if (header.e_machine == EM_AARCH64) {
        architecture_ = Architecture::aarch64;
    } else {
        return error(
            "for a machine (" + std::to_string(header.e_machine) + ") that is neither x86_64 nor aarch64",
            -ENOEXEC);
    }
    if (header.e_type != ET_EXEC && header.e_type != ET_DYN) {
        return error("neither an executable nor a shared library", -ENOEXEC);
    }
    fixed_ = header.e_type == ET_EXEC;

    if (elf_version(EV_CURRENT) == EV_NONE) return error("libelf is too old");
    elf_.reset(elf_begin(fd_.get(), ELF_C_READ, nullptr));
    if (!elf_ || elf_kind(elf_.get()) != ELF_K_ELF) {
        return error(std::string("corrupt ELF file: ") + elf_errmsg(-1), -ENOEXEC);
    }
    if (auto loaded = load_segments(); !loaded) return loaded;
    if (auto loaded = load_sections(); !loaded) return loaded;
    load_build_id();
    return {};
}

Result<void> ElfImage::load_segments() {
    size_t count = 0;
    if (elf_getphdrnum(elf_.get(), &count) != 0) {
        return error(std::string("corrupt program headers: ") + elf_errmsg(-1), -ENOEXEC);
    }
    if (count > kMaxSegments) return error("more than 1024 program headers", -ENOEXEC);
    for (size_t i = 0; i < count; ++i) {
        GElf_Phdr header{};
        if (!gelf_getphdr(elf_.get(), static_cast<int>(i), &header)) {
            return error(std::string("corrupt program headers: ") + elf_errmsg(-1), -ENOEXEC);
        }
        if (header.p_type == PT_LOAD) {
            // The part that the file has must lie in the file, and the addresses must not wrap around.
            if (header.p_offset > file_bytes_ || header.p_filesz > file_bytes_ - header.p_offset ||
                header.p_filesz > header.p_memsz || header.p_vaddr + header.p_memsz < header.p_vaddr) {
                return error("corrupt or cut off: a segment lies outside the file", -ENOEXEC);
            }
            segments_.push_back({header.p_vaddr, header.p_offset, header.p_filesz, header.p_memsz,
                                 (header.p_flags & PF_X) != 0, (header.p_flags & PF_W) != 0});
        } else if (header.p_type == PT_TLS) {
            const uint64_t align = std::max<uint64_t>(header.p_align, 1);
            if (!std::has_single_bit(align) || align > (1 << 20) || header.p_memsz > (1ULL << 32)) {
                return error("corrupt thread-local segment", -ENOEXEC);
            }
            tls_ = ElfTls{header.p_vaddr, header.p_memsz, align};
        } else if (header.p_type == PT_INTERP) {
            has_interpreter_ = true;
        } else if (header.p_type == PT_DYNAMIC) {
            has_dynamic_ = true;
        } else if (header.p_type == PT_NOTE) {
            notes_.emplace_back(header.p_offset, header.p_filesz);
        }
    }
    return {};
}

Result<void> ElfImage::load_sections() {
    size_t count = 0;
    size_t names_index = 0;
    if (elf_getshdrnum(elf_.get(), &count) != 0) {
        return error(std::string("corrupt section headers: ") + elf_errmsg(-1), -ENOEXEC);
    }
    if (count == 0) return {};  // stripped of its section headers: it still has segments
    if (count > kMaxSections) return error("more than 65536 sections", -ENOEXEC);
    if (elf_getshdrstrndx(elf_.get(), &names_index) != 0) {
        return error(std::string("corrupt section headers: ") + elf_errmsg(-1), -ENOEXEC);
    }
    std::vector<uint32_t> name_offsets;
    for (size_t i = 0; i < count; ++i) {
        Elf_Scn* section = elf_getscn(elf_.get(), i);
        GElf_Shdr header{};
        if (!section || !gelf_getshdr(section, &header)) {
            return error(std::string("corrupt section headers: ") + elf_errmsg(-1), -ENOEXEC);
        }
        sections_.push_back({{},
                             header.sh_type,
                             header.sh_link,
                             header.sh_flags,
                             header.sh_addr,
                             header.sh_offset,
                             header.sh_size,
                             header.sh_entsize,
                             i});
        name_offsets.push_back(header.sh_name);
    }
    if (names_index >= sections_.size()) return {};
    if (const auto names = section_bytes(sections_[names_index])) {
        for (size_t i = 0; i < count; ++i) {
            sections_[i].name = string_at(*names, name_offsets[i], kMaxSectionName);
        }
    }
    return {};
}

void ElfImage::load_build_id() {
    // By program headers, as the kernel does it: they are there even when the sections are not.
    for (const auto& [offset, size] : notes_) {
        if (size == 0 || size > kMaxNoteBytes) continue;
        std::vector<uint8_t> bytes(size);
        if (!read_fully(fd_.get(), offset, bytes)) continue;
        size_t at = 0;
        while (at + sizeof(Elf64_Nhdr) <= bytes.size()) {
            Elf64_Nhdr note;
            std::memcpy(&note, bytes.data() + at, sizeof note);
            const size_t name_at = at + sizeof note;
            const size_t data_at = name_at + ((static_cast<size_t>(note.n_namesz) + 3) & ~size_t{3});
            if (data_at > bytes.size() || note.n_descsz > bytes.size() - data_at) break;
            if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && note.n_descsz > 0 &&
                note.n_descsz <= kMaxBuildIdBytes && std::memcmp(bytes.data() + name_at, "GNU", 4) == 0) {
                build_id_ = to_hex(std::span(bytes).subspan(data_at, note.n_descsz));
                return;
            }
            at = data_at + ((static_cast<size_t>(note.n_descsz) + 3) & ~size_t{3});
        }
    }
}

std::optional<std::vector<uint8_t>> ElfImage::section_bytes(const SectionHeader& header) const {
    if (header.type == SHT_NOBITS || header.size > kMaxSectionBytes || header.file_offset > file_bytes_ ||
        header.size > file_bytes_ - header.file_offset) {
        return std::nullopt;
    }
    std::vector<uint8_t> bytes(header.size);
    if (!read_fully(fd_.get(), header.file_offset, bytes)) return std::nullopt;
    return bytes;
}

void ElfImage::find_in_table(uint32_t table_type, std::span<const std::string_view> names,
                             std::vector<std::optional<ElfSymbol>>& found) const {
    std::unordered_map<std::string_view, size_t> wanted;
    for (size_t i = 0; i < names.size(); ++i) {
        if (!found[i]) wanted.emplace(names[i], i);
    }
    std::vector<bool> ambiguous(names.size(), false);
    // gABI, "Sections": a file has at most one table of each type. Only that is read, or many could be one.
    const auto table = std::ranges::find(sections_, table_type, &SectionHeader::type);
    if (table == sections_.end() || table->link >= sections_.size()) return;
    const auto entries = section_bytes(*table);
    const auto strings = section_bytes(sections_[table->link]);
    if (!entries || !strings) return;
    size_t longest = 0;
    for (const std::string_view name : names) longest = std::max(longest, name.size());
    const size_t count = entries->size() / sizeof(Elf64_Sym);
    for (size_t i = 0; i < count; ++i) {
        const auto entry = entry_at<Elf64_Sym>(*entries, i);
        if (entry.st_shndx == SHN_UNDEF || entry.st_name == 0) continue;
        const auto match = wanted.find(string_at(*strings, entry.st_name, longest + 1));
        if (match == wanted.end()) continue;
        auto& slot = found[match->second];
        if (slot && slot->value != entry.st_value) ambiguous[match->second] = true;
        slot = ElfSymbol{entry.st_value, entry.st_size, ELF64_ST_TYPE(entry.st_info) == STT_TLS};
    }
    for (size_t i = 0; i < names.size(); ++i) {
        if (ambiguous[i]) found[i].reset();
    }
}

std::vector<std::optional<ElfSymbol>> ElfImage::dynamic_symbols(
    std::span<const std::string_view> names) const {
    std::vector<std::optional<ElfSymbol>> found(names.size());
    find_in_table(SHT_DYNSYM, names, found);
    return found;
}

std::vector<std::optional<ElfSymbol>> ElfImage::symbols(std::span<const std::string_view> names) const {
    auto found = dynamic_symbols(names);
    if (std::ranges::any_of(found, [](const auto& symbol) { return !symbol; })) {
        find_in_table(SHT_SYMTAB, names, found);
    }
    return found;
}

std::optional<ElfSymbol> ElfImage::symbol(std::string_view name) const {
    return symbols(std::span(&name, 1)).front();
}

std::optional<ElfSection> ElfImage::section(std::string_view name) const {
    for (const SectionHeader& header : sections_) {
        if (header.name == name) {
            return ElfSection{header.vaddr, header.file_offset, header.size, header.type != SHT_NOBITS};
        }
    }
    return std::nullopt;
}

uint64_t ElfImage::bytes_at(uint64_t vaddr) const {
    for (const ElfSegment& segment : segments_) {
        if (vaddr >= segment.vaddr && vaddr - segment.vaddr < segment.file_size) {
            return segment.file_size - (vaddr - segment.vaddr);
        }
    }
    return 0;
}

Result<void> ElfImage::read_at_vaddr(uint64_t vaddr, std::span<uint8_t> out) const {
    for (const ElfSegment& segment : segments_) {
        if (vaddr < segment.vaddr || vaddr - segment.vaddr >= segment.file_size) continue;
        const uint64_t skip = vaddr - segment.vaddr;
        if (out.size() > segment.file_size - skip) break;
        if (!read_fully(fd_.get(), segment.file_offset + skip, out)) {
            return error("was cut off while it was read", -EIO);
        }
        return {};
    }
    return error("has no bytes at the address that it points to itself", -EFAULT);
}

Result<uint64_t> ElfImage::read_u64(uint64_t vaddr) const {
    uint64_t value = 0;
    if (auto read = read_at_vaddr(vaddr, {reinterpret_cast<uint8_t*>(&value), sizeof value}); !read) {
        return read.error();
    }
    return value;
}

Result<std::string> ElfImage::read_string(uint64_t vaddr, size_t limit) const {
    std::vector<uint8_t> bytes(std::min<uint64_t>(limit, bytes_at(vaddr)));
    if (auto read = read_at_vaddr(vaddr, bytes); !read) return read.error();
    const auto end = std::ranges::find(bytes, uint8_t{0});
    if (end == bytes.end()) return error("has a string that does not end", -EFAULT);
    return std::string(bytes.begin(), end);
}

const ElfImage::Relocations& ElfImage::relocations() const {
    if (relocations_) return *relocations_;
    relocations_ = std::make_unique<Relocations>();
    std::shared_ptr<const SymbolTable> symbols;
    const auto dynamic = std::ranges::find(sections_, uint32_t{SHT_DYNSYM}, &SectionHeader::type);
    if (dynamic != sections_.end() && dynamic->link < sections_.size()) {
        auto table = section_bytes(*dynamic);
        auto strings = section_bytes(sections_[dynamic->link]);
        if (table && strings) {
            symbols =
                std::make_shared<const SymbolTable>(SymbolTable{std::move(*table), std::move(*strings)});
        }
    }
    uint64_t left = kMaxSectionBytes;  // for all together: they may share their bytes, too
    for (const SectionHeader& header : sections_) {
        if (!(header.flags & SHF_ALLOC) || (header.type != SHT_RELA && header.type != kShtRelr)) continue;
        if (header.size > left) continue;
        const auto entries = section_bytes(header);
        if (!entries) continue;
        left -= header.size;
        if (header.type == kShtRelr) {
            relocations_->table.add_relr(*entries);
        } else {
            const bool dynamic_ones = dynamic != sections_.end() && header.link == dynamic->index;
            relocations_->table.add_rela(*entries, dynamic_ones ? symbols : nullptr);
        }
    }
    relocations_->table.finish();
    return *relocations_;
}

std::optional<ElfRelocation> ElfImage::relocation_at(uint64_t vaddr) const {
    return relocations().table.find(vaddr);
}

bool ElfImage::relocations_name(std::string_view symbol) const {
    return relocations().table.names(symbol);
}

std::map<std::string, uint64_t> ElfImage::copied_variables() const {
    const uint32_t copy =
        architecture_ == Architecture::x86_64 ? uint32_t{R_X86_64_COPY} : uint32_t{R_AARCH64_COPY};
    return relocations().table.of_type(copy);
}

Result<uint64_t> ElfImage::read_pointer(uint64_t vaddr) const {
    const auto relocation = relocation_at(vaddr);
    if (!relocation) return read_u64(vaddr);
    const bool x86 = architecture_ == Architecture::x86_64;
    const uint32_t type = relocation->type;
    if (type == kRelrType) return read_u64(vaddr);  // the addend is in the word itself
    if (type == (x86 ? uint32_t{R_X86_64_RELATIVE} : uint32_t{R_AARCH64_RELATIVE})) {
        return static_cast<uint64_t>(relocation->addend);
    }
    const bool by_symbol = x86 ? type == R_X86_64_64 || type == R_X86_64_GLOB_DAT
                               : type == R_AARCH64_ABS64 || type == R_AARCH64_GLOB_DAT;
    if (by_symbol && relocation->symbol_value) {
        return *relocation->symbol_value + static_cast<uint64_t>(relocation->addend);
    }
    return error("a pointer in it is only known once it runs (symbol '" + relocation->symbol + "')", -ENOENT);
}

}  // namespace pyperf
