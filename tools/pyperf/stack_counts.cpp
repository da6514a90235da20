// SPDX-License-Identifier: Apache-2.0
#include "stack_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "decode/escape.h"

namespace pyperf::tool {
namespace {

constexpr size_t key_head = 2;

const char* or_question_mark(const char* text) {
    return text ? text : "?";
}

// Whether a walker ran on the tick, so that its states say something.
bool has_states(const pyperf_sample& sample) {
    switch (sample.tick_class) {
        case PYPERF_CLASS_COMPLETE:
        case PYPERF_CLASS_TRUNCATED:
        case PYPERF_CLASS_TORN:
        case PYPERF_CLASS_NO_PYTHON_FRAMES:
        case PYPERF_CLASS_STALE_CODE:
            return true;
        default:
            return false;
    }
}

// What stands for the Python stack of a tick that has none. The texts are part of the output's format.
std::string placeholder(const pyperf_sample& sample, const std::string& reason) {
    switch (sample.tick_class) {
        case PYPERF_CLASS_NO_PYTHON_FRAMES:
            return "[no Python frames]";
        case PYPERF_CLASS_TORN:
            return "[torn Python stack]";
        case PYPERF_CLASS_NOT_SET_UP:
            return "[interpreter not set up]";
        case PYPERF_CLASS_UNSUPPORTED:
            return reason.empty() ? "[unsupported Python]" : fmt::format("[unsupported Python: {}]", reason);
        case PYPERF_CLASS_NOT_PYTHON:
            return "[not Python]";
        case PYPERF_CLASS_STALE_CODE:
            return "[stale code object]";
        default:  // a class of a newer library
            return fmt::format("[{}]", or_question_mark(pyperf_class_name(sample.tick_class)));
    }
}

void mix(size_t& hash, uint64_t value) {
    // The step of boost::hash_combine with a 64-bit golden ratio.
    hash ^= value + 0x9e3779b97f4a7c15u + (hash << 12) + (hash >> 4);
}

}  // namespace

size_t StackCounts::KeyHash::operator()(const Key& key) const {
    size_t hash = key.size();
    for (const uint32_t word : key) mix(hash, word);
    return hash;
}

size_t StackCounts::FrameKeyHash::operator()(const FrameKey& key) const {
    size_t hash = reinterpret_cast<uintptr_t>(key.name);
    mix(hash, reinterpret_cast<uintptr_t>(key.file));
    mix(hash, static_cast<uint64_t>(key.line_or_address));
    return hash;
}

StackCounts::TextId StackCounts::intern(std::string text) {
    const auto [at, is_new] = ids_.try_emplace(std::move(text), static_cast<TextId>(texts_.size()));
    if (is_new) texts_.push_back(&at->first);
    return at->second;
}

std::string StackCounts::escaped(std::string_view text) const {
    return escape_for_line(text, form_.folded ? Semicolon::escape : Semicolon::keep);
}

std::string StackCounts::escaped_string(std::string_view string) const {
    return escape_string_for_line(string, form_.folded ? Semicolon::escape : Semicolon::keep);
}

StackCounts::TextId StackCounts::python_line(const pyperf_python_frame& frame) {
    const auto [at, is_new] = frames_.try_emplace({frame.name, frame.file, frame.line});
    if (is_new) {
        std::string text = escaped_string({frame.name, frame.name_bytes});
        // A frame always has its parentheses, so that none can pass for a placeholder.
        if ((frame.flags & PYPERF_PYTHON_FRAME_UNKNOWN) == 0)
            text += fmt::format(" ({}:{})", escaped_string({frame.file, frame.file_bytes}),
                                frame.line > 0 ? std::to_string(frame.line) : "?");
        at->second = intern(std::move(text));
    }
    return at->second;
}

StackCounts::TextId StackCounts::kernel_line(const pyperf_kernel_frame& frame) {
    const bool by_address = form_.raw_addresses;
    const auto [at, is_new] =
        frames_.try_emplace({frame.name, nullptr, by_address ? static_cast<int64_t>(frame.address) : -1});
    if (is_new) {
        std::string text = by_address    ? fmt::format("0x{:x}", frame.address)
                           : !frame.name ? "[unknown]"
                                         : escaped(frame.name);
        if (form_.annotate) text += "_[k]";
        at->second = intern(std::move(text));
    }
    return at->second;
}

void StackCounts::add_states(Key& key, const pyperf_sample& sample) {
    if (!has_states(sample)) return;
    const auto add = [&](bool wanted, const char* what, const char* state) {
        if (wanted) key.push_back(intern(fmt::format("[{}: {}]", what, or_question_mark(state))));
    };
    add(form_.show_gil_state, "GIL", pyperf_gil_state_name(sample.gil_state));
    add(form_.show_thread_state, "thread state", pyperf_thread_state_name(sample.thread_state));
    add(form_.show_pthread_id_state, "pthread id", pyperf_pthread_id_name(sample.pthread_id));
}

void StackCounts::add_python(Key& key, const pyperf_sample& sample) {
    if (sample.frame_count == 0) {
        key.push_back(intern(placeholder(sample, sample.reason ? escaped(sample.reason) : "")));
        return;
    }
    if (sample.tick_class == PYPERF_CLASS_TRUNCATED) key.push_back(intern("[truncated]"));
    for (size_t i = sample.frame_count; i-- > 0;) key.push_back(python_line(sample.frames[i]));
}

void StackCounts::add_kernel(Key& key, const pyperf_sample& sample) {
    const bool has_python = key.size() > key_head;
    if (form_.delimited && has_python && sample.kernel_count != 0)
        key.push_back(intern(form_.folded ? "-" : "--"));
    for (size_t i = sample.kernel_count; i-- > 0;) key.push_back(kernel_line(sample.kernel[i]));
    if (sample.kernel_missed) key.push_back(intern("[Missed Kernel Stack]"));
}

void StackCounts::add(const pyperf_sample& sample) {
    Key key;
    key.reserve(key_head + 4 + sample.frame_count + sample.kernel_count);
    key.push_back(intern(escaped(sample.comm)));
    key.push_back(form_.folded ? 0 : sample.pid);
    if (!form_.kernel_only) {
        add_states(key, sample);
        add_python(key, sample);
    }
    add_kernel(key, sample);
    counts_[std::move(key)] += sample.count;
}

std::vector<const StackCounts::Entry*> StackCounts::sorted(Order order) const {
    std::vector<TextId> by_text(texts_.size());
    std::iota(by_text.begin(), by_text.end(), TextId{0});
    std::sort(by_text.begin(), by_text.end(), [this](TextId a, TextId b) { return *texts_[a] < *texts_[b]; });
    std::vector<uint32_t> rank(texts_.size());
    for (uint32_t i = 0; i < by_text.size(); ++i) rank[by_text[i]] = i;

    const auto text_less = [&rank](const Key& a, const Key& b) {
        if (a[0] != b[0]) return rank[a[0]] < rank[b[0]];
        if (a[1] != b[1]) return a[1] < b[1];
        return std::lexicographical_compare(a.begin() + key_head, a.end(), b.begin() + key_head, b.end(),
                                            [&rank](TextId x, TextId y) { return rank[x] < rank[y]; });
    };
    std::vector<const Entry*> entries;
    entries.reserve(counts_.size());
    for (const auto& entry : counts_) entries.push_back(&entry);
    std::sort(entries.begin(), entries.end(), [&](const Entry* a, const Entry* b) {
        if (order == Order::by_count && a->second != b->second) return a->second < b->second;
        return text_less(a->first, b->first);
    });
    return entries;
}

CountedStack StackCounts::spell(const Entry& entry) const {
    const Key& key = entry.first;
    CountedStack stack;
    stack.comm = *texts_[key[0]];
    stack.pid = key[1];
    stack.count = entry.second;
    for (size_t i = key_head; i < key.size(); ++i) stack.lines.push_back(*texts_[key[i]]);
    return stack;
}

}  // namespace pyperf::tool
