// SPDX-License-Identifier: Apache-2.0
// The part of a proof that looks at objects: code objects, strings, line tables, types.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "layout/layout.h"
#include "layout/proof_findings.h"
#include "layout/target_view.h"

namespace pyperf {

// What a frame wants to know of its code object.
struct CheckedCode {
    bool sound = false;           // the layout's members of it hold what they should
    uint64_t bytecode = 0;        // 3.11+: address of the first instruction
    int64_t bytecode_bytes = -1;  // 3.11+: how many bytes they have; -1: not known
    std::vector<uint8_t> lines;   // the line table
    int32_t first_line = 0;
};

class ProofObjects {
  public:
    ProofObjects(const Layout& layout, uint64_t code_type, uint64_t frame_type, TargetView& view,
                 Findings& findings)
        : layout_(layout), code_type_(code_type), frame_type_(frame_type), view_(view), findings_(findings) {}

    // The types that the file itself names: their own names and flags, once for each look.
    void check_types();
    // Each code object is looked at once. Contradictions go to the findings.
    const CheckedCode& check_code(uint64_t address);
    // The type's tp_name of an object; "" where it cannot be read.
    const std::string& type_name(uint64_t object);
    uint64_t type_of(uint64_t object);
    // Of PyFrame_Type, or of the type that a compiler of Python has for its frames ("compiled_frame").
    bool is_frame(uint64_t object);

  private:
    uint32_t offset(std::string_view structure, std::string_view member) const {
        return layout_.offset(structure, member).value_or(0);
    }
    bool check_string(uint64_t object, const std::string& member, std::string* text);
    bool check_basic_size(uint64_t object, const std::string& about, uint64_t expected);
    bool check_byte_string(uint64_t object, const std::string& member, const char* structure,
                           std::string* text);
    bool check_unicode(uint64_t object, const std::string& member, std::string* text);
    bool check_lines(uint64_t object, const std::string& member, CheckedCode& code);
    bool check_arguments(uint64_t address, const StructBytes& code);
    bool check_names(const StructBytes& code);
    void examine(uint64_t address, CheckedCode& code);
    bool refuse(std::string about, std::string what) {
        findings_.contradict(std::move(about), std::move(what));
        return false;
    }

    const Layout& layout_;
    uint64_t code_type_;
    uint64_t frame_type_;
    TargetView& view_;
    Findings& findings_;
    std::map<uint64_t, CheckedCode> codes_;
    std::map<uint64_t, std::string> type_names_;
};

}  // namespace pyperf
