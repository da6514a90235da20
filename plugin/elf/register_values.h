// SPDX-License-Identifier: Apache-2.0
// What a register is known to hold while straight-line code is read. Shared by the code readers of both
// architectures.
#pragma once

#include <array>
#include <cstdint>

#include "elf/code_reader.h"

namespace pyperf {

struct RegisterValue {
    enum class Kind {
        unknown,
        constant,            // number
        loaded,              // what the word at address `got` holds
        thread_pointer,      // thread pointer + number
        thread_pointer_got,  // thread pointer + (the word at `got`) + number
        module_block,        // what __tls_get_addr returned for the GOT pair at `got`, + number
        descriptor,          // what the TLS descriptor at `got` returned: an offset from the thread pointer
        descriptor_address,  // thread pointer + that + number
    };
    Kind kind = Kind::unknown;
    uint64_t got = 0;
    int64_t number = 0;

    RegisterValue plus(int64_t more) const {
        RegisterValue sum = *this;
        // A value loaded from memory plus a number is no longer that value.
        if (kind == Kind::loaded || kind == Kind::descriptor) return more == 0 ? sum : RegisterValue{};
        sum.number = static_cast<int64_t>(static_cast<uint64_t>(number) + static_cast<uint64_t>(more));
        return sum;
    }
};

// The sum of two registers, where one is or holds an offset from the thread pointer.
RegisterValue add_values(const RegisterValue& a, const RegisterValue& b);

// Notes a load of `bytes` bytes from (what a register holds) + displacement.
void note_load(const RegisterValue& base, int64_t displacement, uint32_t bytes, CodeReferences& found);

template <size_t Registers>
class RegisterFile {
  public:
    RegisterValue get(size_t index) const { return index < Registers ? values_[index] : RegisterValue{}; }
    void set(size_t index, RegisterValue value) {
        if (index < Registers) values_[index] = value;
    }
    void forget(size_t index) { set(index, {}); }

  private:
    std::array<RegisterValue, Registers> values_{};
};

void read_code_x86_64(std::span<const uint8_t> code, uint64_t vaddr, bool sized, size_t handle,
                      CodeReferences& found);
void read_code_aarch64(std::span<const uint8_t> code, uint64_t vaddr, bool sized, size_t handle,
                       CodeReferences& found);

}  // namespace pyperf
