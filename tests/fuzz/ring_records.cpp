// SPDX-License-Identifier: Apache-2.0
// Records one behind another, as they come from the ring, into a small table of code objects. The table keeps
// to its limits, a record is taken or refused as a whole, and every frame that is made of a stack has a name;
// names and files are valid UTF-8, and the same frame looks the same a second time.
#include <cstddef>

#include "decode/code_table.h"
#include "decode/stack_table.h"
#include "input.h"
#include "layouts.h"

using namespace pyperf;
using namespace pyperf_test;

namespace {

constexpr size_t kMaxEntries = 8;
constexpr size_t kMaxBytes = 4096;

void check_stack(CodeTable& table, const Stack& stack) {
    require(stack.frames.size() <= PYPERF_MAX_FRAMES, "a stack has no more frames than the walker");
    const auto frames = table.resolve(stack);
    require(frames.size() <= stack.frames.size(), "no frame comes from nowhere");
    for (const pyperf_frame& frame : stack.frames) {
        const Frame first = table.resolve(frame);
        require(!first.name.empty(), "a frame has a name");
        require(is_utf8(first.name) && is_utf8(first.file), "names and files are valid UTF-8");
        require(first.known == table.has_code(frame.code_id), "known is what there is a record of");
        const Frame second = table.resolve(frame);
        require(first.name == second.name && first.line == second.line, "a frame looks the same twice");
    }
}

void check_kept(StackTable& stacks, const Stack& stack) {
    const bool known = stacks.contains(stack.id);
    require(stacks.add(stack) == stacks.contains(stack.id), "a stack that is taken is there");
    const auto kept = stacks.find(stack.id);
    require(kept.has_value() == stacks.contains(stack.id), "what is there is found");
    if (!kept || known) return;
    require(kept->pid == stack.pid && kept->truncated == stack.truncated, "a stack is kept as it is");
    const auto same = [](const pyperf_frame& a, const pyperf_frame& b) {
        return std::memcmp(&a, &b, sizeof a) == 0;
    };
    require(std::ranges::equal(kept->frames, stack.frames, same), "frames are kept as they are");
    require(stacks.bytes() <= kMaxBytes + PYPERF_MAX_FRAMES * 128, "the table keeps to its limit");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Input input(data, size);
    CodeTable table(kMaxEntries, kMaxBytes);
    StackTable stacks(kMaxBytes);
    while (!input.rest().empty()) {
        const auto bytes = input.take_bytes(input.take<uint16_t>());
        const auto record = std::as_bytes(std::span(bytes));
        if (const auto stack = decode_stack_record(record)) {
            check_stack(table, *stack);
            check_kept(stacks, *stack);
        }
        if (const auto name = decode_class_record(record)) {
            require(is_utf8(name->name) && name->name.find('.') == std::string::npos, "a class's name");
            table.add(*name);
        }
        const auto index = layout_of_code_record(record);
        if (!index) continue;
        if (const auto code = decode_code_record(record, layout_number(*index))) {
            require(table.add(*code) == table.has_code(code->id), "what is added is there");
        }
        require(table.codes() <= kMaxEntries && table.bytes() <= kMaxBytes + 2 * PYPERF_CODE_DATA_MAX * 4,
                "the table keeps to its limits");
    }
    return 0;
}
