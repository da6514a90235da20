// SPDX-License-Identifier: Apache-2.0
#include "collect/record_ring.h"

#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace pyperf {

struct RecordRing::State {
    Handler handler;
    ring_buffer* ring = nullptr;
    perf_buffer* perf = nullptr;

    ~State() {
        if (ring) ring_buffer__free(ring);
        if (perf) perf_buffer__free(perf);
    }
    static int on_ring(void* self, void* data, size_t bytes) {
        static_cast<State*>(self)->handler({static_cast<const std::byte*>(data), bytes});
        return 0;
    }
    static void on_perf(void* self, int, void* data, __u32 bytes) {
        static_cast<State*>(self)->handler({static_cast<const std::byte*>(data), bytes});
    }
};

RecordRing::RecordRing() : state_(std::make_unique<State>()) {}
RecordRing::~RecordRing() = default;

Result<void> RecordRing::open(int map_fd, size_t perf_buffer_bytes, Handler handler) {
    state_->handler = std::move(handler);
    if (perf_buffer_bytes == 0) {
        state_->ring = ring_buffer__new(map_fd, State::on_ring, state_.get(), nullptr);
    } else {
        const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
        state_->perf = perf_buffer__new(map_fd, std::max<size_t>(1, perf_buffer_bytes / page), State::on_perf,
                                        nullptr, state_.get(), nullptr);
    }
    if (!state_->ring && !state_->perf)
        return Error{fmt::format("the buffer of records cannot be mapped: {}", std::strerror(errno)), -errno};
    return {};
}

void RecordRing::drain() {
    if (state_->ring) ring_buffer__consume(state_->ring);
    if (state_->perf) perf_buffer__consume(state_->perf);
}

int RecordRing::fd() const {
    if (state_->ring) return ring_buffer__epoll_fd(state_->ring);
    if (state_->perf) return perf_buffer__epoll_fd(state_->perf);
    return -1;
}

}  // namespace pyperf
