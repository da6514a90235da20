// SPDX-License-Identifier: Apache-2.0
// The ring that the kernel fills for a perf event of one CPU (perf_event_open(2), "MMAP layout").
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "elf/owned_fd.h"
#include "result.h"

namespace pyperf {

using RecordBytes = std::function<void(std::span<const std::byte>)>;

// Hands on the records between two positions of a ring; pure. data: the ring, its size a power of two.
// Positions count bytes since its start and do not wrap. A record that lies around the ring's end is put
// together first. False: what is there makes no sense (an impossible size, more bytes than the ring has);
// nothing behind it can be told apart.
bool split_records(std::span<const std::byte> data, uint64_t tail, uint64_t head, const RecordBytes& hand_on);

class PerfRing {
  public:
    PerfRing() = default;
    ~PerfRing();
    PerfRing(PerfRing&& other) noexcept;
    PerfRing& operator=(PerfRing&& other) noexcept;
    PerfRing(const PerfRing&) = delete;
    PerfRing& operator=(const PerfRing&) = delete;

    // data_bytes: a power of two of pages; locked memory. Errors: -EPERM, -ENOMEM: the kernel grants less.
    static Result<PerfRing> map(OwnedFd event, size_t data_bytes);

    enum class Outcome {
        complete,
        overflowed,  // there was hardly room left: records may be lost
        broken,      // what was there made no sense: it was dropped
    };
    // Hands on the records that are there now and makes room. The bytes are valid during the call.
    Outcome read(const RecordBytes& hand_on);

    int fd() const { return event_.get(); }
    size_t data_bytes() const { return data_bytes_; }

  private:
    void unmap();

    OwnedFd event_;
    void* base_ = nullptr;  // the control page, then the data
    size_t page_bytes_ = 0;
    size_t data_bytes_ = 0;
};

}  // namespace pyperf
