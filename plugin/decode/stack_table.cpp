// SPDX-License-Identifier: Apache-2.0
#include "decode/stack_table.h"

#include <cstring>

#include "decode/mix.h"

namespace pyperf {
namespace {

// What a node of an unordered_map costs beside its value: the link, the cached hash, the bucket, the
// allocator's head.
constexpr size_t kNodeBytes = 40;

}  // namespace

size_t StackTable::FrameHash::operator()(const pyperf_frame& frame) const {
    return mix(mix(frame.code_id, frame.class_id),
               uint64_t{frame.flags} << 32 | static_cast<uint32_t>(frame.instruction));
}

bool StackTable::SameFrame::operator()(const pyperf_frame& a, const pyperf_frame& b) const {
    return std::memcmp(&a, &b, sizeof a) == 0;  // has no padding (records.h)
}

bool StackTable::add(const Stack& stack) {
    if (stacks_.contains(stack.id)) return true;
    const size_t own_bytes = stack.frames.size() * sizeof(uint32_t) + sizeof(Entry) + kNodeBytes;
    if (bytes_ + own_bytes > max_bytes_) {
        ++refused_;
        return false;
    }
    Entry entry{stack.pid, stack.truncated, {}};
    entry.frames.reserve(stack.frames.size());
    for (const pyperf_frame& frame : stack.frames) {
        const auto [at, is_new] = index_.try_emplace(frame, static_cast<uint32_t>(frames_.size()));
        if (is_new) {
            frames_.push_back(frame);
            bytes_ += 2 * sizeof(frame) + kNodeBytes;
        }
        entry.frames.push_back(at->second);
    }
    stacks_.emplace(stack.id, std::move(entry));
    bytes_ += own_bytes;
    return true;
}

std::optional<Stack> StackTable::find(uint64_t id) const {
    const auto found = stacks_.find(id);
    if (found == stacks_.end()) return std::nullopt;
    Stack stack{found->second.pid, id, found->second.truncated, {}};
    stack.frames.reserve(found->second.frames.size());
    for (const uint32_t index : found->second.frames) stack.frames.push_back(frames_[index]);
    return stack;
}

}  // namespace pyperf
