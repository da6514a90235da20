// SPDX-License-Identifier: Apache-2.0
// How x86_64 compilers spell constants and thread-local accesses: System V ABI, AMD64 supplement; "ELF
// Handling For Thread-Local Storage" (U. Drepper) sections 4.1.6 - 4.4.6, and the linker's relaxations of
// those.
#include <capstone/capstone.h>

#include <memory>

#include "elf/register_values.h"

namespace pyperf {
namespace {

using Kind = RegisterValue::Kind;
constexpr size_t kNoRegister = SIZE_MAX;
constexpr size_t kRax = 0;
constexpr size_t kRdi = 7;

struct RegisterNames {
    x86_reg r64, r32;
};
// In the order of the machine's own numbers.
constexpr RegisterNames kRegisters[16] = {
    {X86_REG_RAX, X86_REG_EAX},  {X86_REG_RCX, X86_REG_ECX},  {X86_REG_RDX, X86_REG_EDX},
    {X86_REG_RBX, X86_REG_EBX},  {X86_REG_RSP, X86_REG_ESP},  {X86_REG_RBP, X86_REG_EBP},
    {X86_REG_RSI, X86_REG_ESI},  {X86_REG_RDI, X86_REG_EDI},  {X86_REG_R8, X86_REG_R8D},
    {X86_REG_R9, X86_REG_R9D},   {X86_REG_R10, X86_REG_R10D}, {X86_REG_R11, X86_REG_R11D},
    {X86_REG_R12, X86_REG_R12D}, {X86_REG_R13, X86_REG_R13D}, {X86_REG_R14, X86_REG_R14D},
    {X86_REG_R15, X86_REG_R15D}};
constexpr size_t kCallerSaved[] = {0, 1, 2, 6, 7, 8, 9, 10, 11};

// 64- and 32-bit registers only: a write to a smaller part leaves nothing that we could know.
size_t register_index(unsigned reg) {
    for (size_t i = 0; i < 16; ++i) {
        if (kRegisters[i].r64 == reg || kRegisters[i].r32 == reg) return i;
    }
    return kNoRegister;
}

class Reader {
  public:
    Reader(csh handle, CodeReferences& found) : handle_(handle), found_(found) {}

    // Returns false at an instruction that nothing falls through.
    bool step(const cs_insn& instruction) {
        const cs_x86& x86 = instruction.detail->x86;
        next_ = instruction.address + instruction.size;
        switch (instruction.id) {
            case X86_INS_RET:
            case X86_INS_JMP:
            case X86_INS_UD2:
            case X86_INS_HLT:
                registers_ = {};  // what comes next is reached from elsewhere
                return false;
            case X86_INS_CALL:
                call(x86);
                return true;
            case X86_INS_LEA:
                if (x86.op_count == 2) lea(x86.operands[0], x86.operands[1]);
                return true;
            case X86_INS_MOV:
            case X86_INS_MOVABS:
            case X86_INS_MOVSXD:
                if (x86.op_count == 2) move(x86.operands[0], x86.operands[1]);
                return true;
            case X86_INS_ADD:
            case X86_INS_SUB:
                if (x86.op_count == 2) add(x86.operands[0], x86.operands[1], instruction.id == X86_INS_SUB);
                return true;
            default:
                forget_written(instruction);
                return true;
        }
    }

  private:
    void forget_written(const cs_insn& instruction) {
        cs_regs read;
        cs_regs written;
        uint8_t read_count = 0;
        uint8_t written_count = 0;
        if (cs_regs_access(handle_, &instruction, read, &read_count, written, &written_count) != CS_ERR_OK) {
            registers_ = {};
            return;
        }
        for (uint8_t i = 0; i < written_count; ++i) registers_.forget(register_index(written[i]));
    }

    // What the address of a memory operand without a segment is.
    RegisterValue address_of(const x86_op_mem& memory) const {
        if (memory.index != X86_REG_INVALID) return {};
        if (memory.base == X86_REG_RIP) {
            return {Kind::constant, 0, static_cast<int64_t>(next_ + static_cast<uint64_t>(memory.disp))};
        }
        if (memory.base == X86_REG_INVALID) return {Kind::constant, 0, memory.disp};
        const RegisterValue base = registers_.get(register_index(memory.base));
        return base.plus(memory.disp);
    }

    void note_address(const RegisterValue& value) {
        if (value.kind == Kind::constant) {
            found_.addresses.push_back(
                {AddressReference::Use::address, static_cast<uint64_t>(value.number), 0, 0});
        }
    }

    // What a load from memory yields, and a note of what it refers to.
    RegisterValue load(const x86_op_mem& memory, uint32_t bytes) {
        if (memory.segment == X86_REG_FS) return load_thread_local(memory, bytes);
        if (memory.index != X86_REG_INVALID) return {};
        if (memory.base == X86_REG_RIP || memory.base == X86_REG_INVALID) {
            const RegisterValue address = address_of(memory);
            note_load(address, 0, bytes, found_);
            return bytes == 8 ? RegisterValue{Kind::loaded, static_cast<uint64_t>(address.number), 0}
                              : RegisterValue{};
        }
        const RegisterValue base = registers_.get(register_index(memory.base));
        note_load(base, memory.disp, bytes, found_);
        if (base.kind == Kind::constant && bytes == 8) {
            return {Kind::loaded, static_cast<uint64_t>(base.plus(memory.disp).number), 0};
        }
        return {};
    }

    RegisterValue load_thread_local(const x86_op_mem& memory, uint32_t bytes) {
        if (memory.index != X86_REG_INVALID) return {};
        if (memory.base == X86_REG_INVALID) {
            // The C library keeps the thread pointer itself at offset 0, and glibc again at 16
            // (tcbhead_t.self).
            if ((memory.disp == 0 || memory.disp == 16) && bytes == 8) return {Kind::thread_pointer, 0, 0};
            note_load({Kind::thread_pointer, 0, 0}, memory.disp, bytes, found_);
            return {};
        }
        const RegisterValue base = registers_.get(register_index(memory.base));
        note_load(add_values({Kind::thread_pointer, 0, 0}, base), memory.disp, bytes, found_);
        return {};
    }

    void lea(const cs_x86_op& to, const cs_x86_op& from) {
        const size_t target = register_index(to.reg);
        if (from.type != X86_OP_MEM) return registers_.forget(target);
        const RegisterValue value = address_of(from.mem);
        if (from.mem.base == X86_REG_RIP) note_address(value);
        note_offset(value);
        registers_.set(target, value);
    }

    void move(const cs_x86_op& to, const cs_x86_op& from) {
        if (to.type == X86_OP_MEM) {
            const RegisterValue address =
                to.mem.segment == X86_REG_INVALID ? address_of(to.mem) : RegisterValue{};
            if (address.kind == Kind::constant) {
                found_.addresses.push_back(
                    {AddressReference::Use::store, static_cast<uint64_t>(address.number), 0, to.size});
            }
            return;
        }
        const size_t target = register_index(to.reg);
        RegisterValue value;
        if (from.type == X86_OP_IMM) {
            value = {Kind::constant, 0, from.imm};
            note_address(value);
        } else if (from.type == X86_OP_REG) {
            value = to.size == 8 ? registers_.get(register_index(from.reg)) : RegisterValue{};
        } else if (from.type == X86_OP_MEM) {
            value = load(from.mem, from.size);
        }
        registers_.set(target, value);
    }

    void add(const cs_x86_op& to, const cs_x86_op& from, bool subtract) {
        if (to.type != X86_OP_REG) return;
        const size_t target = register_index(to.reg);
        const RegisterValue before = registers_.get(target);
        RegisterValue value;
        if (from.type == X86_OP_IMM) {
            value = before.plus(subtract ? -from.imm : from.imm);
        } else if (from.type == X86_OP_REG && !subtract) {
            value = add_values(before, registers_.get(register_index(from.reg)));
        } else if (from.type == X86_OP_MEM && !subtract) {
            value = add_values(before, load(from.mem, from.size));
        }
        note_offset(value);
        registers_.set(target, value);
    }

    void note_offset(const RegisterValue& value) {
        if (value.kind == Kind::thread_pointer) found_.thread_pointer_offsets.push_back(value.number);
    }

    void call(const cs_x86& x86) {
        RegisterValue result;
        const RegisterValue descriptor =
            x86.op_count == 1 && x86.operands[0].type == X86_OP_MEM && x86.operands[0].mem.base == X86_REG_RAX
                ? registers_.get(kRax)
                : RegisterValue{};
        if (descriptor.kind == Kind::constant) {
            result = {Kind::descriptor, static_cast<uint64_t>(descriptor.number), 0};
        } else if (const RegisterValue argument = registers_.get(kRdi); argument.kind == Kind::constant) {
            // Perhaps __tls_get_addr: whoever uses this looks at the GOT pair's relocation.
            result = {Kind::module_block, static_cast<uint64_t>(argument.number), 0};
        }
        for (const size_t index : kCallerSaved) registers_.forget(index);
        registers_.set(kRax, result);
    }

    csh handle_;
    CodeReferences& found_;
    RegisterFile<16> registers_;
    uint64_t next_ = 0;
};

}  // namespace

void read_code_x86_64(std::span<const uint8_t> code, uint64_t vaddr, bool sized, size_t handle,
                      CodeReferences& found) {
    const std::unique_ptr<cs_insn, void (*)(cs_insn*)> instruction(cs_malloc(handle),
                                                                   [](cs_insn* i) { cs_free(i, 1); });
    if (!instruction) return;
    Reader reader(handle, found);
    const uint8_t* at = code.data();
    size_t left = code.size();
    while (left > 0 && cs_disasm_iter(handle, &at, &left, &vaddr, instruction.get())) {
        if (!reader.step(*instruction) && !sized) break;
    }
}

}  // namespace pyperf
