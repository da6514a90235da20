// SPDX-License-Identifier: Apache-2.0
#include "decode/utf8.h"

namespace pyperf {
namespace {

struct Lead {
    uint32_t bytes = 0;  // of the whole sequence; 0: no lead byte
    uint32_t bits = 0;   // of the code point that are in the lead byte
    uint8_t second_first =
        0x80;  // the range of the second byte, which excludes overlong forms and surrogates
    uint8_t second_last = 0xbf;
};

Lead lead_of(uint8_t byte) {
    if (byte < 0x80) return {1, byte};
    if (byte >= 0xc2 && byte <= 0xdf) return {2, byte & 0x1fu};
    if (byte >= 0xe0 && byte <= 0xef) {
        const uint8_t first = byte == 0xe0 ? 0xa0 : 0x80;
        const uint8_t last = byte == 0xed ? 0x9f : 0xbf;
        return {3, byte & 0x0fu, first, last};
    }
    if (byte >= 0xf0 && byte <= 0xf4) {
        const uint8_t first = byte == 0xf0 ? 0x90 : 0x80;
        const uint8_t last = byte == 0xf4 ? 0x8f : 0xbf;
        return {4, byte & 0x07u, first, last};
    }
    return {};
}

}  // namespace

Utf8Step next_utf8(std::string_view text) {
    if (text.empty()) return {};
    const Lead lead = lead_of(static_cast<uint8_t>(text[0]));
    if (lead.bytes == 0) return {};
    uint32_t code_point = lead.bits;
    for (uint32_t i = 1; i < lead.bytes; ++i) {
        if (i >= text.size()) return {.cut = true};
        const auto byte = static_cast<uint8_t>(text[i]);
        const uint8_t first = i == 1 ? lead.second_first : uint8_t{0x80};
        const uint8_t last = i == 1 ? lead.second_last : uint8_t{0xbf};
        if (byte < first || byte > last) return {};
        code_point = (code_point << 6) | (byte & 0x3fu);
    }
    return {code_point, lead.bytes, true, false};
}

bool is_surrogate(uint32_t code_point) {
    return code_point >= 0xd800 && code_point <= 0xdfff;
}

void append_hex(std::string& out, uint32_t value, int digits) {
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
        out.push_back("0123456789abcdef"[(value >> shift) & 0xf]);
    }
}

void append_utf8(std::string& out, uint32_t code_point) {
    if (is_surrogate(code_point) || code_point > 0x10ffff) code_point = replacement_character;
    const auto tail = [&](uint32_t shift) {
        out.push_back(static_cast<char>(0x80 | ((code_point >> shift) & 0x3f)));
    };
    if (code_point < 0x80) {
        out.push_back(static_cast<char>(code_point));
    } else if (code_point < 0x800) {
        out.push_back(static_cast<char>(0xc0 | (code_point >> 6)));
        tail(0);
    } else if (code_point < 0x10000) {
        out.push_back(static_cast<char>(0xe0 | (code_point >> 12)));
        tail(6);
        tail(0);
    } else {
        out.push_back(static_cast<char>(0xf0 | (code_point >> 18)));
        tail(12);
        tail(6);
        tail(0);
    }
}

}  // namespace pyperf
