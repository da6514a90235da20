// SPDX-License-Identifier: Apache-2.0
// Puts the records of several CPUs into one order in time.
//
// Each CPU writes its own ring, in order. Of two records on different CPUs, where one is the consequence of
// the other (a child's exec of its parent's fork, say), the first is in its ring before the second gets its
// time stamp. So: take the clock, then read all rings. Of everything stamped before that moment, the causes
// are in the rings, too, and it can be handed out, in the order of the stamps. What is stamped later may have
// a cause that arrived in a ring after it was read: it is held back until the next reading. That is the whole
// window; it costs no waiting, since a record stamped after the clock was taken wakes up its reader once
// more.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "process/perf_record.h"

namespace pyperf {

class RecordOrder {
  public:
    // The kernel's clock for stamps may be off by some nanoseconds while it is being adjusted (timekeeping.c,
    // ktime_get_mono_fast_ns).
    static constexpr uint64_t kClockSlackNs = 1'000;

    // Records of one CPU in their order.
    void add(TimedRecord record) { waiting_.push_back(std::move(record)); }

    // Hands on, in order, what may be. before_ns: the clock before the rings were read; after_ns: after that
    // (no true stamp is later). Records with one stamp keep the order in which they were added.
    void release(uint64_t before_ns, uint64_t after_ns,
                 const std::function<void(const KernelRecord&)>& hand_on);

    size_t held() const { return waiting_.size(); }

  private:
    std::vector<TimedRecord> waiting_;
};

}  // namespace pyperf
