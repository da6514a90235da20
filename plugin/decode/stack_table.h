// SPDX-License-Identifier: Apache-2.0
// All stacks of a session, each once. A frame (code object, instruction, class) is in many stacks: it is kept
// once, and a stack is a list of four-byte indices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "decode/stack.h"

namespace pyperf {

// Not for several threads at once.
class StackTable {
  public:
    // max_bytes: of what the table holds, within a tenth or so. A stack beyond is refused.
    explicit StackTable(size_t max_bytes = size_t{128} << 20) : max_bytes_(max_bytes) {}

    // False: refused, the table is full. One that is there already stays as it is.
    bool add(const Stack& stack);

    bool contains(uint64_t id) const { return stacks_.contains(id); }
    std::optional<Stack> find(uint64_t id) const;
    size_t size() const { return stacks_.size(); }
    size_t bytes() const { return bytes_; }
    size_t refused() const { return refused_; }

  private:
    struct Entry {
        uint32_t pid = 0;
        bool truncated = false;
        std::vector<uint32_t> frames;  // indices into frames_, leaf first
    };
    struct FrameHash {
        size_t operator()(const pyperf_frame& frame) const;
    };
    struct SameFrame {
        bool operator()(const pyperf_frame& a, const pyperf_frame& b) const;
    };

    size_t max_bytes_;
    size_t bytes_ = 0;
    size_t refused_ = 0;
    std::vector<pyperf_frame> frames_;
    std::unordered_map<pyperf_frame, uint32_t, FrameHash, SameFrame> index_;
    std::unordered_map<uint64_t, Entry> stacks_;
};

}  // namespace pyperf
