// SPDX-License-Identifier: Apache-2.0
#include "decode/stack.h"

#include <cstring>

#include "decode/record_bytes.h"

namespace pyperf {

Result<Stack> decode_stack_record(std::span<const std::byte> record) {
    constexpr size_t frames_begin = offsetof(pyperf_stack_record, frames);
    const auto refused = [](const char* what) {
        return Error{std::string("stack record ") + what +
                     ": not decoded; please report this, it is an error of pyperf"};
    };
    const auto type = read_record_bytes<uint32_t>(record, offsetof(pyperf_stack_record, type));
    const auto pid = read_record_bytes<uint32_t>(record, offsetof(pyperf_stack_record, pid));
    const auto id = read_record_bytes<uint64_t>(record, offsetof(pyperf_stack_record, content_id));
    const auto count = read_record_bytes<uint32_t>(record, offsetof(pyperf_stack_record, frame_count));
    const auto truncated = read_record_bytes<uint32_t>(record, offsetof(pyperf_stack_record, truncated));
    if (!type || !pid || !id || !count || !truncated) return refused("shorter than its head");
    if (*type != PYPERF_RECORD_STACK) return refused("of another type");
    if (*count > PYPERF_MAX_FRAMES) return refused("with more frames than the walker has");
    if (record.size() - frames_begin < *count * sizeof(pyperf_frame))
        return refused("with less frames than it says");

    Stack stack{*pid, *id, *truncated != 0, std::vector<pyperf_frame>(*count)};
    if (*count > 0) {
        std::memcpy(stack.frames.data(), record.data() + frames_begin, *count * sizeof(pyperf_frame));
    }
    return stack;
}

}  // namespace pyperf
