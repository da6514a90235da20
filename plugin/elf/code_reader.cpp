// SPDX-License-Identifier: Apache-2.0
#include "elf/code_reader.h"

#include <capstone/capstone.h>

#include <algorithm>

#include "elf/register_values.h"

namespace pyperf {
namespace {

class Disassembler {
  public:
    explicit Disassembler(Architecture architecture) {
        const bool x86 = architecture == Architecture::x86_64;
        open_ = cs_open(x86 ? CS_ARCH_X86 : CS_ARCH_ARM64,
                        x86 ? CS_MODE_64 : static_cast<cs_mode>(CS_MODE_ARM | CS_MODE_LITTLE_ENDIAN),
                        &handle_) == CS_ERR_OK;
        if (open_) open_ = cs_option(handle_, CS_OPT_DETAIL, CS_OPT_ON) == CS_ERR_OK;
    }
    ~Disassembler() {
        if (handle_) cs_close(&handle_);
    }
    Disassembler(const Disassembler&) = delete;
    Disassembler& operator=(const Disassembler&) = delete;

    explicit operator bool() const { return open_; }
    csh handle() const { return handle_; }

  private:
    csh handle_ = 0;
    bool open_ = false;
};

}  // namespace

RegisterValue add_values(const RegisterValue& a, const RegisterValue& b) {
    using Kind = RegisterValue::Kind;
    if (a.kind == Kind::thread_pointer) {
        switch (b.kind) {
            case Kind::constant:
                return a.plus(b.number);
            case Kind::loaded:
                return {Kind::thread_pointer_got, b.got, a.number};
            case Kind::descriptor:
                return {Kind::descriptor_address, b.got, a.number};
            default:
                return {};
        }
    }
    if (b.kind == Kind::thread_pointer) return add_values(b, a);
    if (a.kind == Kind::constant && b.kind == Kind::constant) return a.plus(b.number);
    return {};
}

void note_load(const RegisterValue& base, int64_t displacement, uint32_t bytes, CodeReferences& found) {
    using Kind = RegisterValue::Kind;
    using Local = ThreadLocalReference::Kind;
    const int64_t number = base.plus(displacement).number;
    switch (base.kind) {
        case Kind::constant:
            found.addresses.push_back({AddressReference::Use::load, static_cast<uint64_t>(number), 0, bytes});
            break;
        case Kind::loaded:
            found.addresses.push_back({AddressReference::Use::load_through, base.got, displacement, bytes});
            break;
        case Kind::thread_pointer:
            found.thread_locals.push_back({Local::thread_pointer, 0, number, bytes});
            break;
        case Kind::thread_pointer_got:
            found.thread_locals.push_back({Local::got_offset, base.got, number, bytes});
            break;
        case Kind::module_block:
            found.thread_locals.push_back({Local::got_module, base.got, number, bytes});
            break;
        case Kind::descriptor_address:
            found.thread_locals.push_back({Local::got_descriptor, base.got, number, bytes});
            break;
        case Kind::descriptor:
        case Kind::unknown:
            break;
    }
}

Result<CodeReferences> read_code(Architecture architecture, std::span<const uint8_t> code, uint64_t vaddr,
                                 bool sized) {
    const Disassembler disassembler(architecture);
    if (!disassembler)
        return Error{"libcapstone cannot read " + std::string(to_string(architecture)) + " code"};
    CodeReferences found;
    if (architecture == Architecture::x86_64) {
        read_code_x86_64(code, vaddr, sized, disassembler.handle(), found);
    } else {
        read_code_aarch64(code, vaddr, sized, disassembler.handle(), found);
    }
    return found;
}

Result<CodeReferences> read_function(const ElfImage& image, const ElfSymbol& function) {
    const bool sized = function.size != 0;
    const uint64_t wanted = sized ? std::min(function.size, kMaxFunctionBytes) : kMaxUnsizedFunctionBytes;
    std::vector<uint8_t> code(std::min(wanted, image.bytes_at(function.value)));
    if (auto read = image.read_at_vaddr(function.value, code); !read) return read.error();
    return read_code(image.architecture(), code, function.value, sized);
}

}  // namespace pyperf
