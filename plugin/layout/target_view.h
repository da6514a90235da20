// SPDX-License-Identifier: Apache-2.0
// The memory of a target for the proof of a layout: reads that may fail, of which a process that is gone or
// may not be read is told apart from an address that is not there.
#pragma once

#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "process/ids.h"
#include "result.h"

namespace pyperf {

// Fills the span from the address on. -EFAULT (or -EIO): not there; any other error ends the proof.
using TargetReader = std::function<Result<void>(TargetAddress, std::span<std::byte>)>;

class TargetView {
  public:
    explicit TargetView(const TargetReader& reader) : reader_(reader) {}

    bool read(uint64_t address, std::span<std::byte> out);

    template <typename T>
    std::optional<T> read(uint64_t address) {
        T value{};
        if (!read(address, std::as_writable_bytes(std::span(&value, 1)))) return std::nullopt;
        return value;
    }
    // 0 where it cannot be read.
    uint64_t pointer(uint64_t address) { return read<uint64_t>(address).value_or(0); }
    std::optional<std::vector<std::byte>> bytes(uint64_t address, size_t count);
    // Up to the NUL; "" where it cannot be read or is longer than a type's name.
    std::string c_string(uint64_t address);

    // Why nothing can be read any more.
    const std::optional<Error>& gone() const { return gone_; }

  private:
    const TargetReader& reader_;
    std::optional<Error> gone_;
};

// A structure that was read whole. Members by offset; the caller has read enough.
class StructBytes {
  public:
    StructBytes() = default;
    explicit StructBytes(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}

    template <typename T>
    T at(uint32_t offset) const {
        T value{};
        if (offset + sizeof(T) <= bytes_.size()) std::memcpy(&value, bytes_.data() + offset, sizeof(T));
        return value;
    }
    bool operator==(const StructBytes&) const = default;

  private:
    std::vector<std::byte> bytes_;
};

}  // namespace pyperf
