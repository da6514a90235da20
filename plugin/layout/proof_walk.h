// SPDX-License-Identifier: Apache-2.0
// One look at a running interpreter through a layout: its interpreter states, their thread states, their
// frames.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "layout/layout.h"
#include "layout/proof_findings.h"
#include "layout/proof_objects.h"
#include "layout/target_view.h"
#include "records.h"

namespace pyperf {

class ProofWalk {
  public:
    // process: as the walker gets it, with all addresses that are known.
    ProofWalk(const Layout& layout, const pyperf_process& process, uint64_t frame_type, TargetView& view,
              Findings& findings)
        : layout_(layout),
          process_(process),
          view_(view),
          findings_(findings),
          objects_(layout, process.code_type_addr, frame_type, view, findings) {}

    void look();

  private:
    struct ThreadState {
        uint64_t address = 0;
        uint64_t interpreter = 0;
        uint64_t thread_id = 0;
        bool id_is_real = false;  // a thread has this thread pointer
    };
    struct Frame {
        uint64_t address = 0;
        uint64_t code = 0;
        uint64_t previous = 0;
        uint64_t instruction = 0;  // f_lasti, or the pointer
        uint8_t owner = 0;
        bool is_shim = false;
        bool is_entry = false;  // C code entered here: the frame itself, or the shim that it is, says so
        uint32_t bytecode_copy = 0;
        bool operator==(const Frame&) const = default;
    };
    struct Chain {
        std::vector<Frame> frames;  // leaf first
        bool ends = false;          // with NULL
        uint64_t unreadable = 0;    // a frame that cannot be read
        bool operator==(const Chain&) const = default;
    };

    uint32_t offset(std::string_view structure, std::string_view member) const {
        return layout_.offset(structure, member).value_or(0);
    }
    uint64_t pointer(uint64_t address, std::string_view structure, std::string_view member) {
        return view_.pointer(address + offset(structure, member));
    }
    void find_thread_states();
    bool is_listed(uint64_t state, uint64_t thread_id) const;
    void check_thread_ids();
    void check_attached();
    void check_bindings();
    std::optional<uint64_t> bound_state(uint64_t thread_pointer, bool& readable);
    std::optional<uint64_t> key_value(uint64_t thread_pointer, int32_t key);
    std::optional<uint64_t> thread_local_value(uint64_t thread_pointer, const pyperf_tls_slot& slot);
    void check_gils();
    void check_gil(uint64_t gil, std::string_view structure, const std::string& prefix);
    Chain read_chain(uint64_t state);
    bool read_frame_object(uint64_t address, Frame& frame);
    bool read_interpreter_frame(uint64_t address, Frame& frame);
    void check_chain(const ThreadState& state);
    size_t check_frames(const Chain& chain);
    void check_instruction(const Frame& frame, bool is_leaf);

    const Layout& layout_;
    const pyperf_process& process_;
    TargetView& view_;
    Findings& findings_;
    ProofObjects objects_;
    std::vector<ThreadState> states_;
};

}  // namespace pyperf
