// SPDX-License-Identifier: Apache-2.0
// What is known about the code objects and classes of all processes, each kept once, and the frames that come
// of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "decode/code_object.h"
#include "decode/stack.h"

namespace pyperf {

// The texts belong to the CodeTable that made the frame and live as long as it does.
struct Frame {
    uint64_t code_id = 0;
    std::string_view name;  // qualified where the interpreter says so or the class is known; never empty
    std::string_view file;  // empty: not known
    std::optional<int32_t> line;
    bool entry = false;  // PYPERF_FRAME_ENTRY
    bool known = false;  // false: no record of this code object came; the name is a placeholder in brackets
};

// Not safe for use by several threads at once, resolve() included: it remembers lines.
class CodeTable {
  public:
    // Code objects and classes are kept until they have `max_bytes` bytes of text and line tables together,
    // or until there are `max_entries` of either; what comes behind is refused, and its frames are not known
    // (or stay as they were, if what was refused is a better record).
    explicit CodeTable(size_t max_entries = 1u << 20, size_t max_bytes = 1u << 28)
        : max_entries_(max_entries), max_bytes_(max_bytes) {}

    // Adds a code object; one that is there already stays, unless the new one has more of its pieces. False:
    // refused, the table is full.
    bool add(const CodeObject& code);
    bool add(const ClassName& class_name);

    bool has_code(uint64_t code_id) const { return codes_.contains(code_id); }
    // Whether all code objects of a stack are known.
    bool has_codes(const Stack& stack) const;
    size_t codes() const { return codes_.size(); }
    size_t bytes() const { return bytes_; }
    size_t refused() const { return refused_; }
    // Lines and names with classes that are remembered: emptied before they are more than some hundred
    // thousand.
    size_t remembered() const { return lines_.size() + class_names_.size(); }

    // The frame's name, file and line.
    Frame resolve(const pyperf_frame& frame);

    // All frames of a stack, leaf first, without the incomplete ones.
    std::vector<Frame> resolve(const Stack& stack);

    // Whether a stack has a frame that resolve() would show.
    bool has_frames(const Stack& stack) const;

    // True for a frame (3.11 and later) that is in the chain but has not begun: the interpreter itself does
    // not show it
    // (_PyFrame_IsIncomplete, Include/internal/pycore_frame.h, 3.11 to 3.13). The frame that 3.13 and later
    // push between a class's caller and its __init__ (_Py_InitCleanup, Python/specialize.c, 3.13) never gets
    // beyond that.
    bool is_incomplete(const pyperf_frame& frame) const;

  private:
    struct Entry {
        std::string_view name;  // for display, "..." behind what is cut
        std::string_view qualname;
        std::string_view filename;
        int32_t first_line = 0;
        std::optional<int32_t> first_traceable;
        LineTable line_format{};
        std::vector<uint8_t> lines;
        bool lines_cut = false;
        unsigned cut_pieces = 0;
    };
    struct Position {
        uint64_t code_id = 0;
        int32_t instruction = 0;
        bool operator==(const Position&) const = default;
    };
    struct PairHash {
        size_t operator()(const Position& position) const;
        size_t operator()(const std::pair<uint64_t, uint64_t>& ids) const;
    };

    bool is_full(size_t entries) const { return entries >= max_entries_ || bytes_ >= max_bytes_; }
    std::string_view intern(std::string_view text);
    std::string_view display_name(const Entry& code, const pyperf_frame& frame);
    std::optional<int32_t> line_at(const Entry& code, const Position& position);

    size_t max_entries_;
    size_t max_bytes_;
    size_t bytes_ = 0;  // of `texts_` and of the line tables
    size_t refused_ = 0;
    std::unordered_set<std::string> texts_;  // node-based: the views into it stay valid
    std::unordered_map<uint64_t, Entry> codes_;
    std::unordered_map<uint64_t, std::string_view> classes_;
    std::unordered_map<Position, std::optional<int32_t>, PairHash> lines_;
    std::unordered_map<std::pair<uint64_t, uint64_t>, std::string_view, PairHash> class_names_;
};

}  // namespace pyperf
