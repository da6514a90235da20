#pragma once
#include <string>
#include <vector>
#include "process/ids.h"
#include "result.h"
namespace pyperf {
struct ExecRecord { HostPid pid; }; struct ForkRecord { HostPid parent_pid, pid; }; struct ExitRecord { HostPid pid; };
struct MappingRecord { HostPid pid; std::string file_key() const { return ""; } }; struct LostRecord { uint64_t lost; };
struct KernelRecordHandler { virtual ~KernelRecordHandler() = default; virtual void on_exec(const ExecRecord&) = 0; virtual void on_fork(const ForkRecord&) = 0; virtual void on_exit(const ExitRecord&) = 0; virtual void on_mapping(const MappingRecord&) = 0; virtual void on_lost(const LostRecord&) = 0; };
struct KernelRecords { Result<void> open() { return {}; } std::vector<int> fds() { return {}; } void drain(KernelRecordHandler&) {} };
}
