// SPDX-License-Identifier: Apache-2.0
#include "process/perf_ring.h"

#include <linux/perf_event.h>
#include <sys/mman.h>

#include <cstring>
#include <utility>
#include <vector>

namespace pyperf {
namespace {

// The kernel starts every record at a multiple of this.
constexpr size_t kAlignment = 8;
// No record of ours is longer: a path (PATH_MAX) and some fields. One that found no room was at most this
// long.
constexpr size_t kLongestRecord = 4096 + 256;

std::byte* data_of(void* base, size_t page_bytes) {
    return static_cast<std::byte*>(base) + page_bytes;
}

}  // namespace

bool split_records(std::span<const std::byte> data, uint64_t tail, uint64_t head,
                   const RecordBytes& hand_on) {
    const uint64_t mask = data.size() - 1;
    if (data.empty() || (data.size() & mask) != 0 || head - tail > data.size()) return false;
    std::vector<std::byte> joined;
    while (tail != head) {
        const uint64_t left = head - tail;
        const uint64_t at = tail & mask;
        perf_event_header header;
        // Aligned, so a header never lies around the end.
        if (left < sizeof(header) || at % kAlignment != 0) return false;
        std::memcpy(&header, data.data() + at, sizeof(header));
        if (header.size < sizeof(header) || header.size % kAlignment != 0 || header.size > left) return false;
        if (at + header.size <= data.size()) {
            hand_on(data.subspan(at, header.size));
        } else {
            const size_t first = data.size() - at;
            joined.assign(data.begin() + static_cast<ptrdiff_t>(at), data.end());
            joined.insert(joined.end(), data.begin(),
                          data.begin() + static_cast<ptrdiff_t>(header.size - first));
            hand_on(joined);
        }
        tail += header.size;
    }
    return true;
}

Result<PerfRing> PerfRing::map(OwnedFd event, size_t data_bytes) {
    PerfRing ring;
    ring.page_bytes_ = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    // Writable: the kernel then waits for data_tail and never overwrites what was not read.
    void* base =
        ::mmap(nullptr, ring.page_bytes_ + data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, event.get(), 0);
    if (base == MAP_FAILED)
        return Error{std::string("mmap of a perf event: ") + std::strerror(errno), -errno};
    ring.event_ = std::move(event);
    ring.base_ = base;
    ring.data_bytes_ = data_bytes;
    return ring;
}

void PerfRing::unmap() {
    if (base_) ::munmap(base_, page_bytes_ + data_bytes_);
    base_ = nullptr;
}

PerfRing::~PerfRing() {
    unmap();
}

PerfRing::PerfRing(PerfRing&& other) noexcept
    : event_(std::move(other.event_)),
      base_(std::exchange(other.base_, nullptr)),
      page_bytes_(other.page_bytes_),
      data_bytes_(other.data_bytes_) {}

PerfRing& PerfRing::operator=(PerfRing&& other) noexcept {
    if (this != &other) {
        unmap();
        event_ = std::move(other.event_);
        base_ = std::exchange(other.base_, nullptr);
        page_bytes_ = other.page_bytes_;
        data_bytes_ = other.data_bytes_;
    }
    return *this;
}

PerfRing::Outcome PerfRing::read(const RecordBytes& hand_on) {
    auto* page = static_cast<perf_event_mmap_page*>(base_);
    // Pairs with the kernel's barrier before it stores data_head (kernel/events/ring_buffer.c,
    // perf_output_put_handle): what lies before it is complete.
    const uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
    const uint64_t tail = page->data_tail;  // only we write it
    const bool sound = split_records({data_of(base_, page_bytes_), data_bytes_}, tail, head, hand_on);
    __atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
    if (!sound) return Outcome::broken;
    return data_bytes_ - (head - tail) < kLongestRecord ? Outcome::overflowed : Outcome::complete;
}

}  // namespace pyperf
