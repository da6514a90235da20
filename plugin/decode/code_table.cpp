// SPDX-License-Identifier: Apache-2.0
#include "decode/code_table.h"

#include <algorithm>

#include "decode/line_table.h"
#include "decode/mix.h"

namespace pyperf {
namespace {

// Caches are emptied when they reach this, not grown: a long run over changing programs must not grow without
// end.
constexpr size_t max_cached = 1u << 18;

std::string with_cut_mark(const std::string& text, bool cut) {
    return cut ? text + "..." : text;
}

unsigned count_cut(const CodeObject& code) {
    return unsigned{code.name_cut} + unsigned{code.qualname_cut} + unsigned{code.filename_cut} +
           unsigned{code.lines_cut};
}

}  // namespace

size_t CodeTable::PairHash::operator()(const Position& position) const {
    return mix(position.code_id, static_cast<uint32_t>(position.instruction));
}

size_t CodeTable::PairHash::operator()(const std::pair<uint64_t, uint64_t>& ids) const {
    return mix(ids.first, ids.second);
}

std::string_view CodeTable::intern(std::string_view text) {
    const auto [at, is_new] = texts_.emplace(text);
    if (is_new) bytes_ += text.size();
    return *at;
}

bool CodeTable::add(const CodeObject& code) {
    const auto known = codes_.find(code.id);
    const unsigned cut_pieces = count_cut(code);
    if (known != codes_.end()) {
        if (known->second.cut_pieces <= cut_pieces) return true;
        if (is_full(0)) {
            ++refused_;
            return false;
        }
        // What was remembered about it came from less.
        std::erase_if(lines_, [&](const auto& line) { return line.first.code_id == code.id; });
        std::erase_if(class_names_, [&](const auto& name) { return name.first.first == code.id; });
        bytes_ -= known->second.lines.size();
    } else if (is_full(codes_.size())) {
        ++refused_;
        return false;
    }
    Entry entry;
    entry.name = intern(with_cut_mark(code.name, code.name_cut));
    // A qualified name of which nothing could be read is no better than none.
    if (!code.qualname.empty()) entry.qualname = intern(with_cut_mark(code.qualname, code.qualname_cut));
    entry.filename = intern(with_cut_mark(code.filename, code.filename_cut));
    entry.first_line = code.first_line;
    entry.first_traceable = code.first_traceable;
    entry.line_format = code.line_format;
    entry.lines = code.lines;
    entry.lines_cut = code.lines_cut;
    entry.cut_pieces = cut_pieces;
    bytes_ += entry.lines.size();
    codes_.insert_or_assign(code.id, std::move(entry));
    return true;
}

bool CodeTable::add(const ClassName& class_name) {
    if (class_name.name.empty() || classes_.contains(class_name.id)) return true;
    if (is_full(classes_.size())) {
        ++refused_;
        return false;
    }
    classes_.emplace(class_name.id, intern(with_cut_mark(class_name.name, class_name.cut)));
    return true;
}

std::string_view CodeTable::display_name(const Entry& code, const pyperf_frame& frame) {
    if (!code.qualname.empty()) return code.qualname;
    const auto class_name = classes_.find(frame.class_id);
    if (frame.class_id == 0 || class_name == classes_.end()) {
        return code.name.empty() ? std::string_view("[empty name]") : code.name;
    }
    if (class_names_.size() >= max_cached) class_names_.clear();
    const auto [at, is_new] = class_names_.try_emplace({frame.code_id, frame.class_id}, code.name);
    if (is_new && !is_full(0)) {
        std::string full(class_name->second);
        full.append(".").append(code.name);
        at->second = intern(full);
    }
    return at->second;
}

std::optional<int32_t> CodeTable::line_at(const Entry& code, const Position& position) {
    if (lines_.size() >= max_cached) lines_.clear();
    const auto [at, is_new] = lines_.try_emplace(position);
    if (is_new) {
        at->second =
            line_of(code.line_format, {code.lines, !code.lines_cut}, code.first_line, position.instruction);
    }
    return at->second;
}

Frame CodeTable::resolve(const pyperf_frame& frame) {
    Frame resolved;
    resolved.code_id = frame.code_id;
    resolved.entry = (frame.flags & PYPERF_FRAME_ENTRY) != 0;
    const auto found = codes_.find(frame.code_id);
    if (found == codes_.end()) {
        resolved.name = "[unknown code object]";
        return resolved;
    }
    const Entry& code = found->second;
    resolved.known = true;
    resolved.name = display_name(code, frame);
    resolved.file = code.filename;
    resolved.line = line_at(code, {frame.code_id, frame.instruction});
    return resolved;
}

std::vector<Frame> CodeTable::resolve(const Stack& stack) {
    std::vector<Frame> frames;
    frames.reserve(stack.frames.size());
    for (const pyperf_frame& frame : stack.frames) {
        if (!is_incomplete(frame)) {
            frames.push_back(resolve(frame));
        } else if ((frame.flags & PYPERF_FRAME_ENTRY) != 0 && !frames.empty()) {
            // It closed its C call's group: now the frame that it called does.
            frames.back().entry = true;
        }
    }
    return frames;
}

bool CodeTable::has_codes(const Stack& stack) const {
    return std::ranges::all_of(stack.frames,
                               [this](const pyperf_frame& frame) { return has_code(frame.code_id); });
}

bool CodeTable::has_frames(const Stack& stack) const {
    return std::ranges::any_of(stack.frames,
                               [this](const pyperf_frame& frame) { return !is_incomplete(frame); });
}

bool CodeTable::is_incomplete(const pyperf_frame& frame) const {
    if ((frame.flags & PYPERF_FRAME_GENERATOR) != 0) return false;
    const auto found = codes_.find(frame.code_id);
    return found != codes_.end() && found->second.first_traceable &&
           frame.instruction < *found->second.first_traceable;
}

}  // namespace pyperf
