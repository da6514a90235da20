// SPDX-License-Identifier: Apache-2.0
// How AArch64 compilers spell constants and thread-local accesses: ELF for the Arm 64-bit Architecture
// (AAELF64), "Thread Local Storage"; local-exec and TLS descriptors (the only dynamic dialect that GCC uses
// there).
#include <capstone/capstone.h>

#include <memory>

#include "elf/register_values.h"

namespace pyperf {
namespace {

using Kind = RegisterValue::Kind;
constexpr size_t kNoRegister = SIZE_MAX;
// S3_3_C13_C0_2, the encoding of TPIDR_EL0 (Arm ARM, D19.2); capstone names it differently from version to
// version.
constexpr unsigned kTpidrEl0 = 0xde82;

size_t register_index(unsigned reg) {
    if (reg >= ARM64_REG_X0 && reg <= ARM64_REG_X28) return reg - ARM64_REG_X0;
    if (reg >= ARM64_REG_W0 && reg <= ARM64_REG_W28) return reg - ARM64_REG_W0;
    return kNoRegister;  // x29 and x30 hold no variable's address in the functions that are read here
}

bool is_32_bit(unsigned reg) {
    return reg >= ARM64_REG_W0 && reg <= ARM64_REG_W28;
}

class Reader {
  public:
    Reader(csh handle, CodeReferences& found) : handle_(handle), found_(found) {}

    // Returns false at an instruction that nothing falls through.
    bool step(const cs_insn& instruction) {
        const cs_arm64& arm = instruction.detail->arm64;
        switch (instruction.id) {
            case ARM64_INS_RET:
            case ARM64_INS_BR:
                registers_ = {};  // what comes next is reached from elsewhere
                return false;
            case ARM64_INS_B:
                if (arm.cc != ARM64_CC_AL && arm.cc != ARM64_CC_INVALID) return true;
                registers_ = {};
                return false;
            case ARM64_INS_BL:
                call();
                return true;
            case ARM64_INS_BLR:
                call_descriptor(arm);
                return true;
            case ARM64_INS_ADRP:
            case ARM64_INS_ADR:
                if (arm.op_count == 2) {
                    const RegisterValue value{Kind::constant, 0, arm.operands[1].imm};
                    if (instruction.id == ARM64_INS_ADR) note_address(value);
                    registers_.set(register_index(arm.operands[0].reg), value);
                }
                return true;
            case ARM64_INS_MRS:
                if (arm.op_count == 2) {
                    // A system register's number is none of capstone's enumeration: read it as a number.
                    const bool pointer = static_cast<uint32_t>(arm.operands[1].imm) == kTpidrEl0;
                    registers_.set(register_index(arm.operands[0].reg),
                                   pointer ? RegisterValue{Kind::thread_pointer, 0, 0} : RegisterValue{});
                }
                return true;
            case ARM64_INS_ADD:
            case ARM64_INS_SUB:
                add(arm, instruction.id == ARM64_INS_SUB);
                return true;
            case ARM64_INS_MOV:
                move(arm);
                return true;
            case ARM64_INS_LDR:
            case ARM64_INS_LDUR:
                if (load(arm)) return true;
                break;
            default:
                break;
        }
        forget_written(instruction);
        return true;
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

    void note_address(const RegisterValue& value) {
        if (value.kind == Kind::constant) {
            found_.addresses.push_back(
                {AddressReference::Use::address, static_cast<uint64_t>(value.number), 0, 0});
        }
    }

    void add(const cs_arm64& arm, bool subtract) {
        if (arm.op_count != 3) return;
        const size_t target = register_index(arm.operands[0].reg);
        const RegisterValue before = registers_.get(register_index(arm.operands[1].reg));
        RegisterValue value;
        const cs_arm64_op& by = arm.operands[2];
        if (by.type == ARM64_OP_IMM) {
            const int64_t number =
                by.shift.type == ARM64_SFT_LSL && by.shift.value < 32 ? by.imm << by.shift.value : by.imm;
            value = before.plus(subtract ? -number : number);
            note_address(value);
            if (value.kind == Kind::thread_pointer) found_.thread_pointer_offsets.push_back(value.number);
        } else if (by.type == ARM64_OP_REG && !subtract && by.shift.type == ARM64_SFT_INVALID &&
                   by.ext == ARM64_EXT_INVALID) {
            value = add_values(before, registers_.get(register_index(by.reg)));
        }
        registers_.set(target, value);
    }

    void move(const cs_arm64& arm) {
        if (arm.op_count != 2) return;
        RegisterValue value;
        if (arm.operands[1].type == ARM64_OP_REG && !is_32_bit(arm.operands[0].reg)) {
            value = registers_.get(register_index(arm.operands[1].reg));
        } else if (arm.operands[1].type == ARM64_OP_IMM) {
            value = {Kind::constant, 0, arm.operands[1].imm};
        }
        registers_.set(register_index(arm.operands[0].reg), value);
    }

    bool load(const cs_arm64& arm) {
        // Post-indexed forms have a third operand; they do not occur with the constants looked for here.
        if (arm.op_count != 2 || arm.writeback || arm.operands[1].type != ARM64_OP_MEM) return false;
        const size_t target = register_index(arm.operands[0].reg);
        if (target == kNoRegister) return false;
        const uint32_t bytes = is_32_bit(arm.operands[0].reg) ? 4 : 8;
        const arm64_op_mem& memory = arm.operands[1].mem;
        const RegisterValue base = registers_.get(register_index(memory.base));
        RegisterValue address = base;
        if (memory.index != ARM64_REG_INVALID) {
            address = add_values(base, registers_.get(register_index(memory.index)));
        }
        note_load(address, memory.disp, bytes, found_);
        RegisterValue value;
        if (address.kind == Kind::constant && bytes == 8) {
            value = {Kind::loaded, static_cast<uint64_t>(address.plus(memory.disp).number), 0};
        }
        registers_.set(target, value);
        return true;
    }

    void call() {
        for (size_t i = 0; i <= 18; ++i) registers_.forget(i);
    }

    // adrp x0, pair; ldr x1, [x0, #lo]; add x0, x0, #lo; blr x1: x0 is then the offset from the thread
    // pointer, and no other register but x1 and x30 changes (AAELF64, TLS descriptors).
    void call_descriptor(const cs_arm64& arm) {
        const RegisterValue function =
            arm.op_count == 1 ? registers_.get(register_index(arm.operands[0].reg)) : RegisterValue{};
        const RegisterValue argument = registers_.get(0);
        if (function.kind == Kind::loaded && argument.kind == Kind::constant &&
            function.got == static_cast<uint64_t>(argument.number)) {
            registers_.set(0, {Kind::descriptor, function.got, 0});
            return;
        }
        call();
    }

    csh handle_;
    CodeReferences& found_;
    RegisterFile<29> registers_;
};

}  // namespace

void read_code_aarch64(std::span<const uint8_t> code, uint64_t vaddr, bool sized, size_t handle,
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
