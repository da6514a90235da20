// SPDX-License-Identifier: Apache-2.0
#include "debug_information.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <set>

#include <fmt/format.h>

#include "layout/structures.h"

namespace pyperf::offsets {
namespace {

class OpenFile {
  public:
    explicit OpenFile(int fd) : fd_(fd) {}
    OpenFile(OpenFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    OpenFile& operator=(OpenFile&&) = delete;
    ~OpenFile() {
        if (fd_ >= 0) close(fd_);
    }
    int get() const { return fd_; }

  private:
    int fd_;
};
struct ElfDeleter {
    void operator()(Elf* elf) const { elf_end(elf); }
};
struct DwarfDeleter {
    void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};
using ElfHandle = std::unique_ptr<Elf, ElfDeleter>;
using DwarfHandle = std::unique_ptr<Dwarf, DwarfDeleter>;

std::optional<uint64_t> unsigned_attribute(Dwarf_Die* die, unsigned name) {
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    if (!dwarf_attr_integrate(die, name, &attribute) || dwarf_formudata(&attribute, &value) != 0)
        return std::nullopt;
    return value;
}

// The type of a member or typedef, behind typedefs and qualifiers.
bool type_of(Dwarf_Die* die, Dwarf_Die* type) {
    Dwarf_Attribute attribute;
    if (!dwarf_attr_integrate(die, DW_AT_type, &attribute) || !dwarf_formref_die(&attribute, type))
        return false;
    return dwarf_peel_type(type, type) == 0;
}

bool is_structure(Dwarf_Die* die) {
    const int tag = dwarf_tag(die);
    return tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

class DwarfStructures : public StructureSource {
  public:
    DwarfStructures(OpenFile file, ElfHandle elf, DwarfHandle dwarf)
        : file_(std::move(file)), elf_(std::move(elf)), dwarf_(std::move(dwarf)) {
        for (const KnownStructure& known : known_structures())
            wanted_.insert(known.c_names.begin(), known.c_names.end());
        collect();
    }

    std::optional<StructureId> find(std::string_view name) const override {
        const auto found = names_.find(name);
        if (found == names_.end()) return std::nullopt;
        return found->second;
    }

    std::vector<Field> fields(StructureId id) const override {
        std::vector<Field> list;
        Dwarf_Die structure = types_[id];
        Dwarf_Die child;
        if (dwarf_child(&structure, &child) != 0) return list;
        do {
            if (dwarf_tag(&child) == DW_TAG_member)
                if (auto field = field_of(&child)) list.push_back(std::move(*field));
        } while (dwarf_siblingof(&child, &child) == 0);
        return list;
    }

    uint64_t size_bytes(StructureId id) const override {
        Dwarf_Die type = types_[id];
        const int size = dwarf_bytesize(&type);
        return size < 0 ? 0 : static_cast<uint64_t>(size);
    }

    std::optional<int64_t> enumerator(std::string_view name) const override {
        const auto found = enumerators_.find(name);
        if (found == enumerators_.end()) return std::nullopt;
        return found->second;
    }

  private:
    StructureId id_of(const Dwarf_Die& type) const {
        types_.push_back(type);
        return types_.size() - 1;
    }

    std::optional<Field> field_of(Dwarf_Die* die) const {
        Field field;
        if (const char* name = dwarf_diename(die)) field.name = name;
        Dwarf_Die type;
        if (!type_of(die, &type)) return std::nullopt;
        Dwarf_Word bytes = 0;
        if (dwarf_aggregate_size(&type, &bytes) == 0) field.bytes = bytes;
        const uint64_t location = unsigned_attribute(die, DW_AT_data_member_location).value_or(0);
        field.bit_offset = location * 8;
        if (const auto width = unsigned_attribute(die, DW_AT_bit_size)) {
            field.bit_width = static_cast<uint32_t>(*width);
            if (const auto offset = unsigned_attribute(die, DW_AT_data_bit_offset)) {
                field.bit_offset = *offset;
            } else if (const auto from_top = unsigned_attribute(die, DW_AT_bit_offset)) {
                // Up to DWARF 4: counted from the top of the storage unit. Both machines are little-endian.
                const uint64_t unit = unsigned_attribute(die, DW_AT_byte_size).value_or(field.bytes);
                if (*from_top + *width > unit * 8) return std::nullopt;
                field.bit_offset += unit * 8 - *from_top - *width;
            }
        }
        if (is_structure(&type)) field.structure = id_of(type);
        return field;
    }

    // A structure that a unit only declares has no members there: its definition is in another unit.
    void add_structure(const char* name, Dwarf_Die* type) {
        if (!name || !wanted_.contains(std::string_view(name)) || !is_structure(type)) return;
        if (dwarf_hasattr_integrate(type, DW_AT_declaration) || dwarf_bytesize(type) < 0) return;
        if (!names_.contains(std::string_view(name))) names_.emplace(name, id_of(*type));
    }

    void add_enumerators(Dwarf_Die* enumeration) {
        Dwarf_Die child;
        if (dwarf_child(enumeration, &child) != 0) return;
        do {
            const char* name = dwarf_diename(&child);
            Dwarf_Attribute attribute;
            Dwarf_Sword value = 0;
            if (dwarf_tag(&child) == DW_TAG_enumerator && name &&
                std::strncmp(name, "FRAME_OWNED_BY_", 15) == 0 &&
                dwarf_attr(&child, DW_AT_const_value, &attribute) && dwarf_formsdata(&attribute, &value) == 0)
                enumerators_.emplace(name, value);
        } while (dwarf_siblingof(&child, &child) == 0);
    }

    void collect() {
        Dwarf_Off offset = 0;
        Dwarf_Off next = 0;
        size_t header_bytes = 0;
        while (dwarf_nextcu(dwarf_.get(), offset, &next, &header_bytes, nullptr, nullptr, nullptr) == 0) {
            Dwarf_Die unit;
            Dwarf_Die die;
            if (dwarf_offdie(dwarf_.get(), offset + header_bytes, &unit) && dwarf_child(&unit, &die) == 0) {
                do {
                    const int tag = dwarf_tag(&die);
                    Dwarf_Die type;
                    if (tag == DW_TAG_structure_type)
                        add_structure(dwarf_diename(&die), &die);
                    else if (tag == DW_TAG_enumeration_type)
                        add_enumerators(&die);
                    else if (tag == DW_TAG_typedef && wanted(dwarf_diename(&die)) && type_of(&die, &type))
                        add_structure(dwarf_diename(&die), &type);
                } while (dwarf_siblingof(&die, &die) == 0);
            }
            offset = next;
        }
    }

    bool wanted(const char* name) const { return name && wanted_.contains(std::string_view(name)); }

    OpenFile file_;
    ElfHandle elf_;
    DwarfHandle dwarf_;
    std::set<std::string_view> wanted_;
    mutable std::vector<Dwarf_Die> types_;  // grows as nested structures are met
    std::map<std::string, StructureId, std::less<>> names_;
    std::map<std::string, int64_t, std::less<>> enumerators_;
};

// Calls visit(Elf_Scn*, GElf_Shdr) for each section until it returns true.
template <typename Visit>
void for_each_section(Elf* elf, Visit visit) {
    Elf_Scn* section = nullptr;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && visit(section, header)) return;
    }
}

// The 8 bytes at an address of the image, from the section that holds them.
std::optional<uint64_t> word_at(Elf* elf, uint64_t address) {
    std::optional<uint64_t> value;
    for_each_section(elf, [&](Elf_Scn* section, const GElf_Shdr& header) {
        if (header.sh_type == SHT_NOBITS || !(header.sh_flags & SHF_ALLOC) || address < header.sh_addr ||
            address - header.sh_addr >= header.sh_size || header.sh_size - (address - header.sh_addr) < 8)
            return false;
        const Elf_Data* data = elf_rawdata(section, nullptr);
        const uint64_t at = address - header.sh_addr;
        if (data && data->d_buf && data->d_size >= at + 8) {
            uint64_t word = 0;
            std::memcpy(&word, static_cast<const char*>(data->d_buf) + at, 8);
            value = word;
        }
        return true;
    });
    return value;
}

std::optional<PythonVersion> version_of(Elf* elf) {
    std::optional<PythonVersion> version;
    for_each_section(elf, [&](Elf_Scn* section, const GElf_Shdr& header) {
        if (header.sh_type != SHT_DYNSYM && header.sh_type != SHT_SYMTAB) return false;
        Elf_Data* data = elf_getdata(section, nullptr);
        if (!data || header.sh_entsize == 0) return false;
        for (size_t i = 0; i < data->d_size / header.sh_entsize; i++) {
            GElf_Sym symbol;
            if (!gelf_getsym(data, static_cast<int>(i), &symbol)) break;
            const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
            if (!name || std::strcmp(name, "Py_Version") != 0 || symbol.st_shndx == SHN_UNDEF) continue;
            if (const auto word = word_at(elf, symbol.st_value); word && *word <= UINT32_MAX)
                version = PythonVersion::from_hex(static_cast<uint32_t>(*word));
            return true;
        }
        return false;
    });
    return version;
}

std::string c_library_of(Elf* elf) {
    std::string library;
    for_each_section(elf, [&](Elf_Scn* section, const GElf_Shdr& header) {
        if (header.sh_type != SHT_DYNAMIC) return false;
        Elf_Data* data = elf_getdata(section, nullptr);
        for (int i = 0; data; i++) {
            GElf_Dyn entry;
            if (!gelf_getdyn(data, i, &entry) || entry.d_tag == DT_NULL) break;
            if (entry.d_tag != DT_NEEDED) continue;
            const char* name = elf_strptr(elf, header.sh_link, entry.d_un.d_val);
            if (name && std::strcmp(name, "libc.so.6") == 0) library = "glibc";
            if (name && std::strncmp(name, "libc.musl-", 10) == 0) library = "musl";
        }
        return true;
    });
    return library;
}

}  // namespace

Result<DebugStructures> read_debug_information(const std::string& path) {
    OpenFile file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    struct stat status {};
    if (file.get() < 0 || fstat(file.get(), &status) != 0)
        return Error{fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)), -errno};
    if (!S_ISREG(status.st_mode)) return Error{path + ": is no regular file"};
    elf_version(EV_CURRENT);
    ElfHandle elf(elf_begin(file.get(), ELF_C_READ, nullptr));
    GElf_Ehdr header;
    if (!elf || elf_kind(elf.get()) != ELF_K_ELF || !gelf_getehdr(elf.get(), &header))
        return Error{path + ": is no ELF file"};
    DebugStructures found;
    if (header.e_machine == EM_X86_64)
        found.architecture = "x86_64";
    else if (header.e_machine == EM_AARCH64)
        found.architecture = "aarch64";
    else
        return Error{fmt::format("{}: is for a machine that is not supported (ELF machine {})", path,
                                 header.e_machine)};
    found.c_library = c_library_of(elf.get());
    if (found.c_library.empty()) return Error{path + ": uses neither glibc nor musl"};
    found.version = version_of(elf.get());
    DwarfHandle dwarf(dwarf_begin_elf(elf.get(), DWARF_C_READ, nullptr));
    if (!dwarf) return Error{fmt::format("{}: has no debug information ({})", path, dwarf_errmsg(-1))};
    found.source = std::make_unique<DwarfStructures>(std::move(file), std::move(elf), std::move(dwarf));
    return found;
}

}  // namespace pyperf::offsets
