// SPDX-License-Identifier: Apache-2.0
#include "render/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "render/bpf_text.h"

namespace pyperf {
namespace {

void define(std::string& out, std::string_view name, uint64_t value) {
    out += fmt::format("#define {} {}\n", name, value);
}
void define_if(std::string& out, std::string_view name, bool wanted) {
    if (wanted) out += fmt::format("#define {} 1\n", name);
}

// C's condition that one of the ids is the variable's; "1" for no ids.
std::string one_of(std::string_view variable, const std::vector<uint32_t>& ids) {
    if (ids.empty()) return "1";
    std::string out;
    for (const uint32_t id : ids) out += fmt::format("{}{} == {}", out.empty() ? "" : " || ", variable, id);
    return "(" + out + ")";
}

std::string identifier(std::string_view text) {
    std::string out{text};
    std::replace(out.begin(), out.end(), '.', '_');
    return out;
}

// What both modules of a session begin with.
std::string preamble(const RenderOptions& options, const KernelFacts& kernel) {
    std::string out = "#define PYPERF_BPF 1\n";
    define_if(out, "PYPERF_USER_ONLY", options.user_only);
    define_if(out, "PYPERF_KERNEL_ONLY", options.kernel_only);
    define_if(out, "PYPERF_INCLUDE_IDLE", options.include_idle);
    define_if(out, "PYPERF_SHOW_GIL_STATE", options.show_gil_state);
    define_if(out, "PYPERF_SHOW_THREAD_STATE", options.show_thread_state);
    define_if(out, "PYPERF_SHOW_PTHREAD_ID", options.show_pthread_id);
    define_if(out, "PYPERF_PERF_BUFFER", options.perf_buffer);
    if (!options.cgroup_map.empty())
        out += fmt::format("#define PYPERF_CGROUP_MAP {}\n", c_literal(options.cgroup_map));
    if (!options.mntns_map.empty())
        out += fmt::format("#define PYPERF_MNTNS_MAP {}\n", c_literal(options.mntns_map));
    out += fmt::format("#define TICK_IS_WANTED ({} && {})\n", one_of("pid", options.pids),
                       one_of("tid", options.tids));
    define(out, "PYPERF_STACKS", options.stack_storage_size);
    define(out, "PYPERF_COUNTS", options.hash_storage_size);
    define(out, "PYPERF_OBJECTS", std::max<uint64_t>(options.stack_storage_size, 4) * 4);
    define(out, "PYPERF_PROCESSES", max_session_processes);
    define(out, "PYPERF_THREADS", max_session_processes);
    define(out, "PYPERF_FIRST_ARGUMENTS", 4096);
    // The kernel wants a power of two here; libbcc's own macro rounds up the same way.
    uint64_t kernel_stacks = 1;
    while (kernel_stacks < options.stack_storage_size) kernel_stacks *= 2;
    define(out, "PYPERF_KERNEL_STACKS", kernel_stacks);
    define(out, "PYPERF_LAYOUTS", max_session_layouts);
    define(out, "PYPERF_RING_BYTES", options.perf_buffer ? 0 : options.ring_bytes);
    define(out, "TASK_PID", kernel.task_pid);
    define(out, "TASK_TGID", kernel.task_tgid);
    define(out, "TASK_GROUP_LEADER", kernel.task_group_leader);
    define(out, "TASK_START_BOOTTIME", kernel.task_start_boottime);
    define(out, "TASK_THREAD_POINTER", kernel.task_thread_pointer);
    define(out, "TASK_SIGNAL", kernel.task_signal);
    define(out, "SIGNAL_LIVE", kernel.signal_live);
    define(out, "TASK_NSPROXY", kernel.task_nsproxy);
    define(out, "NSPROXY_MNT_NS", kernel.nsproxy_mnt_ns);
    define(out, "MNT_NS_INUM", kernel.mnt_ns_inum);
    return out;
}

// Every member of the layout as OFF_structure_member, every size as SIZE_structure, every structure's last
// used byte as END_structure; the rules as numbers with the names of the layout file.
std::string layout_defines(const Layout& layout) {
    std::string out = fmt::format("/* layout {} */\n", layout.name);
    for (const auto& [structure, fields] : layout.structs) {
        if (fields.size) define(out, "SIZE_" + identifier(structure), *fields.size);
        uint32_t end = 0;
        for (const auto& [member, offset] : fields.members) {
            define(out, fmt::format("OFF_{}_{}", identifier(structure), identifier(member)), offset);
            end = std::max(end, offset + 8);
        }
        if (end) define(out, "END_" + identifier(structure), end);
    }
    const auto choice = [&out](std::string_view rule, std::string_view chosen,
                               std::initializer_list<std::string_view> names) {
        uint64_t number = 1;
        std::string upper{rule};
        std::transform(upper.begin(), upper.end(), upper.begin(),
                       [](unsigned char c) { return std::toupper(c); });
        for (const auto name : names) {
            define(out, fmt::format("{}_{}", upper, name), number);
            if (name == chosen) define(out, fmt::format("RULE_{}", rule), number);
            ++number;
        }
    };
    choice("frame_chain", to_string(layout.frame_chain), {"frame_object", "cframe", "current_frame"});
    choice("thread_binding", to_string(layout.thread_binding),
           {"key_list", "pthread_key", "runtime_key", "thread_local"});
    choice("string_kind", to_string(layout.string_kind), {"bytes", "unicode"});
    define(out, "RULE_instruction_unit", layout.instruction_unit);
    define(out, "RULE_executable_tag_mask", layout.executable_tag_mask);
    if (layout.first_shim_owner) define(out, "RULE_first_shim_owner", *layout.first_shim_owner);
    return out;
}

// What the walker's text uses without asking first. The rest it asks for with #ifdef.
std::string missing_members(const Layout& layout) {
    struct Need {
        std::string_view structure, member;
    };
    std::vector<Need> needs = {{"PyObject", "ob_type"},
                               {"PyThreadState", "thread_id"},
                               {"PyThreadState", "next"},
                               {"PyInterpreterState", "next"},
                               {"PyCodeObject", "co_name"},
                               {"PyCodeObject", "co_filename"},
                               {"PyCodeObject", "co_firstlineno"},
                               {"PyCodeObject", "co_flags"}};
    if (layout.frame_chain == FrameChain::frame_object) {
        for (const auto member : {"f_back", "f_code", "f_lasti", "f_localsplus"})
            needs.push_back({"PyFrameObject", member});
        for (const auto member : {"co_argcount", "co_varnames"}) needs.push_back({"PyCodeObject", member});
        for (const auto member : {"tp_name", "tp_flags"}) needs.push_back({"PyTypeObject", member});
        needs.push_back({"PyThreadState", "frame"});
        needs.push_back({"PyTupleObject", "ob_item"});
    } else {
        for (const auto member : {"previous", "owner", "localsplus"})
            needs.push_back({"_PyInterpreterFrame", member});
        for (const auto member : {"co_code_adaptive", "co_qualname", "co_linetable"})
            needs.push_back({"PyCodeObject", member});
        if (layout.frame_chain == FrameChain::cframe) {
            needs.push_back({"PyThreadState", "cframe"});
            needs.push_back({"_PyCFrame", "current_frame"});
        } else {
            needs.push_back({"PyThreadState", "current_frame"});
        }
    }
    if (layout.string_kind == StringKind::bytes) {
        for (const auto member : {"ob_size", "ob_sval"}) needs.push_back({"PyStringObject", member});
    } else {
        for (const auto member : {"ob_size", "ob_sval"}) needs.push_back({"PyBytesObject", member});
        for (const auto member : {"length", "state", "state.kind_shift", "state.ascii_shift"})
            needs.push_back({"PyASCIIObject", member});
    }
    std::string missing;
    const auto add = [&missing](std::string_view structure, std::string_view member) {
        missing += fmt::format("{}{}.{}", missing.empty() ? "" : ", ", structure, member);
    };
    for (const auto& need : needs)
        if (!layout.offset(need.structure, need.member)) add(need.structure, need.member);
    if (layout.string_kind == StringKind::unicode)
        for (const auto structure : {"PyASCIIObject", "PyCompactUnicodeObject"})
            if (!layout.size_of(structure)) add(structure, "sizeof");
    return missing;
}

std::string join(std::initializer_list<std::string_view> texts) {
    std::string out;
    for (const auto text : texts) out += text;
    return out;
}

}  // namespace

std::string c_literal(std::string_view bytes) {
    std::string out = "\"";
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\' || byte < 0x20 || byte >= 0x7f) {
            out += fmt::format("\\{:03o}", byte);
        } else {
            out += c;
        }
    }
    return out + "\"";
}

std::string render_entry(const RenderOptions& options, const KernelFacts& kernel) {
    using namespace bpf_text;
    return preamble(options, kernel) + "#define PYPERF_DEFINE_MAPS 1\n" +
           join({records, scratch, dialect_bcc, tick, entry, process_events});
}

Result<std::string> render_walker(const RenderOptions& options, const KernelFacts& kernel,
                                  const Layout& layout) {
    using namespace bpf_text;
    if (const auto missing = missing_members(layout); !missing.empty()) {
        return Error{
            fmt::format("layout {} lacks {}: make it again with pyoffsets generate", layout.name, missing)};
    }
    return preamble(options, kernel) + layout_defines(layout) +
           join({records, scratch, dialect_bcc, tick, thread_state, code_identity, first_argument, gil, walk,
                 code_object});
}

}  // namespace pyperf
