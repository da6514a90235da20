// SPDX-License-Identifier: Apache-2.0
#include "layout/target_view.h"

#include <algorithm>

namespace pyperf {
namespace {

constexpr size_t kMaxTypeName = 64;
constexpr uint64_t kPageBytes = 4096;  // the smallest there is: a read within one cannot fail half-way

}  // namespace

bool TargetView::read(uint64_t address, std::span<std::byte> out) {
    if (gone_) return false;
    // The first page is never mapped; an end beyond the address space is no place either.
    if (address < kPageBytes || address + out.size() < address) return false;
    const auto done = reader_({address}, out);
    if (!done && done.error().code != -EFAULT && done.error().code != -EIO) gone_ = done.error();
    return static_cast<bool>(done);
}

std::optional<std::vector<std::byte>> TargetView::bytes(uint64_t address, size_t count) {
    std::vector<std::byte> out(count);
    if (!read(address, out)) return std::nullopt;
    return out;
}

std::string TargetView::c_string(uint64_t address) {
    std::byte text[kMaxTypeName] = {};
    const size_t in_page = kPageBytes - address % kPageBytes;
    const size_t first = std::min(in_page, sizeof(text));
    if (!read(address, std::span(text).first(first))) return {};
    if (first < sizeof(text) && !std::memchr(text, 0, first))
        read(address + first, std::span(text).subspan(first));
    const auto* begin = reinterpret_cast<const char*>(text);
    const void* end = std::memchr(text, 0, sizeof(text));
    return end ? std::string(begin, static_cast<const char*>(end)) : std::string();
}

}  // namespace pyperf
