// SPDX-License-Identifier: Apache-2.0
#include "process/record_order.h"

#include <algorithm>

namespace pyperf {

void RecordOrder::release(uint64_t before_ns, uint64_t after_ns,
                          const std::function<void(const KernelRecord&)>& hand_on) {
    // A stamp from the future is none; it must not be held back for ever.
    for (auto& record : waiting_) record.time_ns = std::min(record.time_ns, after_ns);
    std::ranges::stable_sort(waiting_, {}, &TimedRecord::time_ns);
    const uint64_t limit = before_ns > kClockSlackNs ? before_ns - kClockSlackNs : 0;
    const auto end = std::ranges::upper_bound(waiting_, limit, {}, &TimedRecord::time_ns);
    std::vector<TimedRecord> ready(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
    waiting_.erase(waiting_.begin(), end);
    for (const auto& record : ready) hand_on(record.record);
}

}  // namespace pyperf
