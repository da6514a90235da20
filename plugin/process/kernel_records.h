// SPDX-License-Identifier: Apache-2.0
// What the kernel itself says about processes, machine-wide and at once: exec, fork, exit, and every file
// that is mapped executable, with its build-id. In: a software event on each CPU. Out: records, in the order
// of time.
#pragma once

#include <string>
#include <vector>

#include "process/perf_record.h"
#include "process/perf_ring.h"
#include "process/record_order.h"
#include "result.h"

namespace pyperf {

struct KernelRecordHandler {
    virtual ~KernelRecordHandler() = default;
    virtual void on_exec(const ExecRecord&) = 0;
    virtual void on_fork(const ForkRecord&) = 0;
    virtual void on_exit(const ExitRecord&) = 0;
    virtual void on_mapping(const MappingRecord&) = 0;
    // From here on any of the above may be missing: look at /proc.
    virtual void on_lost(const LostRecord&) = 0;
};

struct KernelRecordOptions {
    // For each CPU; a power of two, at least 16 KiB. Less is taken where the kernel grants less, down to 16
    // KiB. A record has some 150 bytes, a start of a Python script some 30 records.
    size_t ring_bytes = size_t{256} << 10;
    bool build_ids = true;  // as far as the kernel has them (Linux 5.12)
};

// For one thread.
class KernelRecords {
  public:
    // From here on records come. Errors: no right (-EPERM, -EACCES), or not enough locked memory (-ENOMEM).
    // A CPU that is switched on later is not heard.
    Result<void> open(const KernelRecordOptions& options = {});
    void close() { rings_.clear(); }

    // Readable when there is something to drain(). Owned by this object.
    std::vector<int> fds() const;

    // Hands on what has come so far, in order. A record that arrives meanwhile may be left for the next call;
    // its descriptor becomes readable again. The handler may not call this object.
    void drain(KernelRecordHandler& handler);

    // What was agreed on with the kernel.
    bool has_build_ids() const { return build_ids_; }
    size_t ring_bytes() const { return rings_.empty() ? 0 : rings_.front().data_bytes(); }

  private:
    void read_rings();

    std::vector<PerfRing> rings_;  // one for each CPU that was online
    RecordOrder order_;
    uint64_t lost_ = 0;  // times that records were lost without a record of it
    bool build_ids_ = false;
};

}  // namespace pyperf
