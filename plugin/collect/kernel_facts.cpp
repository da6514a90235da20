// SPDX-License-Identifier: Apache-2.0
#include "collect/kernel_facts.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string_view>

namespace pyperf {
namespace {

struct BtfDeleter {
    void operator()(btf* types) const { btf__free(types); }
};
using Btf = std::unique_ptr<btf, BtfDeleter>;

struct Member {
    uint32_t bytes;
    uint32_t type;
};

// A member of a structure, also one inside its unnamed members.
std::optional<Member> find_member(const btf* types, uint32_t structure, std::string_view name,
                                  int depth = 0) {
    const btf_type* type = btf__type_by_id(types, structure);
    if (!type || !btf_is_composite(type) || depth > 8) return std::nullopt;
    const btf_member* members = btf_members(type);
    for (uint16_t i = 0; i < btf_vlen(type); ++i) {
        const char* member_name = btf__name_by_offset(types, members[i].name_off);
        const uint32_t bytes = btf_member_bit_offset(type, i) / 8;
        const int32_t resolved = btf__resolve_type(types, members[i].type);
        if (resolved < 0) continue;
        if (member_name && name == member_name) return Member{bytes, static_cast<uint32_t>(resolved)};
        if (!member_name || !*member_name) {
            if (auto inner = find_member(types, static_cast<uint32_t>(resolved), name, depth + 1))
                return Member{bytes + inner->bytes, inner->type};
        }
    }
    return std::nullopt;
}

// "thread.fsbase" of a structure: the offset in bytes.
std::optional<uint32_t> find_offset(const btf* types, const char* structure, std::string_view path) {
    const int32_t id = btf__find_by_name_kind(types, structure, BTF_KIND_STRUCT);
    if (id < 0) return std::nullopt;
    uint32_t offset = 0;
    auto type = static_cast<uint32_t>(id);
    while (!path.empty()) {
        const size_t dot = path.find('.');
        const auto member = find_member(types, type, path.substr(0, dot));
        if (!member) return std::nullopt;
        offset += member->bytes;
        type = member->type;
        path = dot == std::string_view::npos ? std::string_view{} : path.substr(dot + 1);
    }
    return offset;
}

}  // namespace

Result<KernelFacts> read_kernel_facts() {
    Btf types{btf__load_vmlinux_btf()};
    if (libbpf_get_error(types.get()) || !types) {
        (void)types.release();  // no Btf, but an error in the shape of a pointer
        return Error{
            "the kernel has no type information (/sys/kernel/btf/vmlinux): pyperf needs a kernel built with "
            "CONFIG_DEBUG_INFO_BTF, as the distributions' are since 2020",
            -ENOTSUP};
    }
    KernelFacts facts;
    std::string missing;
    const auto need = [&](uint32_t& out, const char* structure, std::initializer_list<const char*> paths) {
        for (const char* path : paths) {
            if (auto offset = find_offset(types.get(), structure, path)) {
                out = *offset;
                return;
            }
        }
        missing += fmt::format("{}{}.{}", missing.empty() ? "" : ", ", structure, *paths.begin());
    };
    need(facts.task_pid, "task_struct", {"pid"});
    need(facts.task_tgid, "task_struct", {"tgid"});
    need(facts.task_group_leader, "task_struct", {"group_leader"});
    need(facts.task_start_boottime, "task_struct", {"start_boottime", "real_start_time"});  // renamed in 5.5
#if defined(__x86_64__)
    need(facts.task_thread_pointer, "task_struct", {"thread.fsbase"});
#elif defined(__aarch64__)
    need(facts.task_thread_pointer, "task_struct", {"thread.uw.tp_value"});
#else
#error "this architecture is not supported"
#endif
    need(facts.task_signal, "task_struct", {"signal"});
    need(facts.signal_live, "signal_struct", {"live"});
    need(facts.task_nsproxy, "task_struct", {"nsproxy"});
    need(facts.nsproxy_mnt_ns, "nsproxy", {"mnt_ns"});
    need(facts.mnt_ns_inum, "mnt_namespace", {"ns.inum"});
    if (!missing.empty()) {
        return Error{
            fmt::format("the kernel's type information lacks {}: this kernel is not supported", missing),
            -ENOTSUP};
    }
    facts.has_ring_buffer = libbpf_probe_bpf_map_type(BPF_MAP_TYPE_RINGBUF, nullptr) == 1;
    return facts;
}

}  // namespace pyperf
