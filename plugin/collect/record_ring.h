// SPDX-License-Identifier: Apache-2.0
// The records that the BPF programs send, through the kernel's ring buffer or, where it has none, perf
// buffers.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "result.h"

namespace pyperf {

class RecordRing {
  public:
    using Handler = std::function<void(std::span<const std::byte>)>;

    RecordRing();
    ~RecordRing();
    RecordRing(const RecordRing&) = delete;
    RecordRing& operator=(const RecordRing&) = delete;

    // perf_buffer_bytes: size for each CPU of the perf buffers, 0: the map is a ring buffer. map_fd stays the
    // caller's.
    Result<void> open(int map_fd, size_t perf_buffer_bytes, Handler handler);
    // Hands on all records that are there now.
    void drain();
    // Readable when there are records; -1 before open().
    int fd() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace pyperf
