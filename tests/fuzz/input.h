// SPDX-License-Identifier: Apache-2.0
// What every fuzz target needs: taking the fuzzer's bytes apart, and saying what must hold.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "decode/utf8.h"
#include "result.h"

namespace pyperf_test {

// Ends the process, as the fuzzer expects of a failure, if `what` does not hold.
inline void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "does not hold: %s\n", what);
    std::abort();
}

inline void require_told(const pyperf::Error& error) {
    require(!error.message.empty() && error.code < 0,
            "an error says what is wrong, and has a negative errno");
}

inline bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const pyperf::Utf8Step step = pyperf::next_utf8(text);
        if (!step.valid) return false;
        text.remove_prefix(step.bytes);
    }
    return true;
}

// Takes values off the front of the fuzzer's bytes; where they have ended, zeros.
class Input {
  public:
    Input(const uint8_t* data, size_t size) : rest_(data, size) {}

    template <typename T>
    T take() {
        static_assert(std::is_trivially_copyable_v<T>);
        T value{};
        const size_t bytes = std::min(sizeof value, rest_.size());
        if (bytes > 0) std::memcpy(&value, rest_.data(), bytes);
        rest_ = rest_.subspan(bytes);
        return value;
    }
    // At most `bytes` bytes, in memory of their own: a read behind their end is found.
    std::vector<uint8_t> take_bytes(size_t bytes) {
        const auto taken = rest_.first(std::min(bytes, rest_.size()));
        rest_ = rest_.subspan(taken.size());
        return {taken.begin(), taken.end()};
    }
    std::span<const uint8_t> rest() const { return rest_; }
    std::string_view text() const { return {reinterpret_cast<const char*>(rest_.data()), rest_.size()}; }

  private:
    std::span<const uint8_t> rest_;
};

}  // namespace pyperf_test
