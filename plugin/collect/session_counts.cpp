// SPDX-License-Identifier: Apache-2.0
// The end of a session: what was counted, and which class each tick belongs to by all that is known then.
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <unordered_set>

#include "collect/session.h"

namespace pyperf {

void Session::count(const pyperf_count_key& key, uint64_t content_id, uint64_t ticks) {
    if (ticks != 0) counted_.push_back({key, content_id, ticks});
}

void Session::read_counts() {
    const int cpus = libbpf_num_possible_cpus();
    std::vector<uint64_t> values(static_cast<size_t>(std::max(cpus, 1)));
    for (uint32_t i = 0; i < PYPERF_COUNTERS; ++i) {
        if (bpf_map_lookup_elem(modules_.map_fd("counters"), &i, values.data()) != 0) continue;
        for (const uint64_t value : values) totals_.counters[i] += value;
    }
    const int fd = modules_.map_fd("counts");
    std::vector<std::pair<pyperf_count_key, pyperf_count>> entries;
    pyperf_count_key key{}, next{};
    const pyperf_count_key* previous = nullptr;
    while (bpf_map_get_next_key(fd, previous, &next) == 0) {
        pyperf_count value{};
        if (bpf_map_lookup_elem(fd, &next, &value) == 0) entries.emplace_back(next, value);
        key = next;
        previous = &key;
    }
    // Processes whose code objects were seen to be replaced: what no later look confirmed is not claimed
    // there.
    std::unordered_set<uint32_t> exact;
    for (const auto& [tick, value] : entries)
        if (value.stale != 0 || (tick.stack_id != 0 && tick.stack_id == value.content_id))
            exact.insert(tick.pid);
    for (const auto& [tick, value] : entries) {
        uint64_t good = value.confirmed;
        uint64_t stale = value.stale;
        (exact.contains(tick.pid) ? stale : good) += value.pending;
        count(tick, value.content_id, good);
        if (stale != 0) {
            pyperf_count_key unattributed = tick;
            unattributed.tick_class = PYPERF_TICK_STALE_CODE;
            unattributed.stack_id = 0;
            count(unattributed, 0, stale);
            totals_.counters[tick.tick_class] -= stale;
            totals_.counters[PYPERF_TICK_STALE_CODE] += stale;
        }
    }
    for (size_t i = 0; i < PYPERF_TICK_CLASSES; ++i) {
        totals_.counters[i] -= unplaced_ticks_[i];
        totals_.counters[PYPERF_TICK_LOST] += unplaced_ticks_[i];
    }
    for (const auto& [bytes, tick] : sent_ticks_) count(tick.key, tick.content_id, tick.count);
}

// What was walked by a layout that was refuted later is nobody's stack.
void Session::withdraw(CountedTick& tick) {
    switch (tick.key.tick_class) {
        case PYPERF_TICK_COMPLETE:
        case PYPERF_TICK_TRUNCATED:
        case PYPERF_TICK_TORN:
        case PYPERF_TICK_NO_PYTHON_FRAMES:
        case PYPERF_TICK_STALE_CODE:
            break;
        default:
            return;
    }
    const auto* walked = note(tick.key.pid);
    if (!walked || !walked->withdrawn) return;
    totals_.counters[tick.key.tick_class] -= tick.count;
    totals_.counters[PYPERF_TICK_UNSUPPORTED] += tick.count;
    tick.key.tick_class = PYPERF_TICK_UNSUPPORTED;
    tick.key.stack_id = 0;
    tick.key.gil_state = tick.key.thread_state = tick.key.pthread_id = 0;
    tick.content_id = 0;
}

// Stacks whose record never came through have no frames to show: their ticks are lost, and said to be. A
// stack of which no frame has begun shows no Python code.
void Session::settle_classes() {
    std::vector<CountedTick> kept;
    kept.reserve(counted_.size());
    for (auto& tick : counted_) {
        withdraw(tick);
        const bool has_stack =
            tick.key.tick_class == PYPERF_TICK_COMPLETE || tick.key.tick_class == PYPERF_TICK_TRUNCATED;
        if (has_stack) {
            const auto stack = stacks_.find(tick.content_id);
            // Without a place in the table of code objects a frame cannot be shown, so the stack is lost,
            // too.
            if (!stack || (codes_.refused() != 0 && !codes_.has_codes(*stack))) {
                totals_.counters[tick.key.tick_class] -= tick.count;
                totals_.counters[PYPERF_TICK_LOST] += tick.count;
                continue;
            }
            if (!codes_.has_frames(*stack)) {
                totals_.counters[tick.key.tick_class] -= tick.count;
                totals_.counters[PYPERF_TICK_NO_PYTHON_FRAMES] += tick.count;
                tick.key.tick_class = PYPERF_TICK_NO_PYTHON_FRAMES;
            }
        }
        // -EFAULT: there was none; -1: not asked for.
        if (tick.key.kernel_stack < 0 && tick.key.kernel_stack != -EFAULT && tick.key.kernel_stack != -1)
            totals_.kernel_stacks_missed += tick.count;
        kept.push_back(tick);
    }
    counted_ = std::move(kept);
}

}  // namespace pyperf
