// SPDX-License-Identifier: Apache-2.0
// Samples as stacks of text lines, equal ones counted together: what the text formats print. A pure function
// of the samples; escapes everything that comes from a target.
#pragma once

#include <pyperf/pyperf.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pyperf::tool {

// How stacks are spelled.
struct StackForm {
    bool folded = false;         // one line per stack: `;` is escaped, processes of one name are one
    bool delimited = false;      // -d
    bool annotate = false;       // -a
    bool raw_addresses = false;  // -A
    bool kernel_only = false;    // -K
    bool show_gil_state = false;
    bool show_thread_state = false;
    bool show_pthread_id_state = false;
};

struct CountedStack {
    std::string_view comm;
    uint32_t pid = 0;                     // 0 in the folded form
    std::vector<std::string_view> lines;  // root first
    uint64_t count = 0;
};

class StackCounts {
  public:
    explicit StackCounts(const StackForm& form) : form_(form) {}
    StackCounts(const StackCounts&) = delete;
    StackCounts& operator=(const StackCounts&) = delete;

    // The strings of the sample's frames are known again by their pointers: they must stay where they are as
    // long as samples are added (those of a pyperf_session do).
    void add(const pyperf_sample& sample);

    enum class Order {
        by_text,   // comm, pid, then line by line from the root
        by_count,  // ascending, equal ones by text
    };
    // Calls `visit` for each different stack.
    template <typename Visit>
    void for_each(Order order, Visit&& visit) const {
        for (const auto* entry : sorted(order)) visit(spell(*entry));
    }

  private:
    using TextId = uint32_t;
    // Two words in front, the texts of comm (an id) and the pid; then the lines' ids, root first.
    using Key = std::vector<uint32_t>;
    struct KeyHash {
        size_t operator()(const Key& key) const;
    };
    struct FrameKey {
        const void* name;
        const void* file;
        int64_t line_or_address;
        bool operator==(const FrameKey&) const = default;
    };
    struct FrameKeyHash {
        size_t operator()(const FrameKey& key) const;
    };
    using Entry = std::pair<const Key, uint64_t>;

    TextId intern(std::string text);
    std::string escaped(std::string_view text) const;
    std::string escaped_string(std::string_view string) const;  // of a Python frame
    TextId python_line(const pyperf_python_frame& frame);
    TextId kernel_line(const pyperf_kernel_frame& frame);
    void add_states(Key& key, const pyperf_sample& sample);
    void add_python(Key& key, const pyperf_sample& sample);
    void add_kernel(Key& key, const pyperf_sample& sample);
    std::vector<const Entry*> sorted(Order order) const;
    CountedStack spell(const Entry& entry) const;

    StackForm form_;
    std::unordered_map<std::string, TextId> ids_;
    std::vector<const std::string*> texts_;  // by id; the strings are keys of ids_
    std::unordered_map<FrameKey, TextId, FrameKeyHash> frames_;
    std::unordered_map<Key, uint64_t, KeyHash> counts_;
};

}  // namespace pyperf::tool
