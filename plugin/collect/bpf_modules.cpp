// SPDX-License-Identifier: Apache-2.0
#include "collect/bpf_modules.h"

#include <bcc/BPF.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/stat.h>

#include <cstdlib>
#include <optional>

#include "collect/stderr_capture.h"
#include "render/headers_directory.h"

namespace pyperf {
namespace {

// An environment variable with another value for a while.
class ScopedEnvironment {
  public:
    ScopedEnvironment(const char* name, const std::string& value) : name_(name) {
        if (const char* old = std::getenv(name)) old_ = old;
        setenv(name, value.c_str(), 1);
    }
    ~ScopedEnvironment() {
        if (old_) {
            setenv(name_, old_->c_str(), 1);
        } else {
            unsetenv(name_);
        }
    }
    ScopedEnvironment(const ScopedEnvironment&) = delete;
    ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;

  private:
    const char* name_;
    std::optional<std::string> old_;
};

// The line of what libbcc wrote that tells most: the compiler's first error, or the verifier's last words.
std::string essence(const std::string& messages) {
    if (const size_t error = messages.find("error: "); error != std::string::npos)
        return messages.substr(error, messages.find('\n', error) - error);
    if (messages.find("Operation not permitted") != std::string::npos) return "operation not permitted";
    std::string best;
    size_t begin = 0;
    while (begin < messages.size()) {
        const size_t end = std::min(messages.find('\n', begin), messages.size());
        if (end > begin && messages.compare(begin, 9, "processed") != 0)
            best = messages.substr(begin, end - begin);
        begin = end + 1;
    }
    return best;
}

}  // namespace

struct BpfModules::State {
    std::unique_ptr<ebpf::TableStorage> tables = ebpf::createSharedTableStorage();
    std::vector<std::unique_ptr<ebpf::BPF>> modules;
};

BpfModules::BpfModules() : state_(std::make_unique<State>()) {}

BpfModules::~BpfModules() {
    // Modules before the tables they point into.
    state_->modules.clear();
}

ModuleBuild::Outcome BpfModules::add(const std::string& what, const std::string& text,
                                     const std::vector<ProgramWanted>& programs) {
    const auto headers = headers_directory();
    if (!headers) return {headers.error(), {}};
    // libbcc looks for a kernel tree here; ours has the few headers that its helpers include.
    const ScopedEnvironment kernel_tree{"BCC_KERNEL_SOURCE", *headers};
    StderrCapture capture;
    auto module = std::make_unique<ebpf::BPF>(0u, state_->tables.get(), false, "pyperf", false);
    // libbcc optimises what clang gives it, so clang need not do it first; and nobody reads the debug
    // information. Together this takes a third off the time to compile.
    const auto status = module->init(text, {"-Xclang", "-disable-llvm-passes", "-g0"});
    if (!status.ok()) {
        // Never destroyed: after a failed init, libbcc's destructor frees pointers that were not set (seen
        // with 0.26 when a map could not be created).
        static_cast<void>(module.release());
        const auto messages = capture.restore();
        return {Error{fmt::format("{} cannot be compiled by libbcc: {}", what,
                                  messages.empty() ? status.msg() : essence(messages)),
                      -EIO},
                messages};
    }
    std::vector<int> fds;
    for (const auto& program : programs) {
        int fd = -1;
        const auto type =
            program.kind == ProgramKind::perf_event ? BPF_PROG_TYPE_PERF_EVENT : BPF_PROG_TYPE_RAW_TRACEPOINT;
        errno = 0;
        const auto loaded = module->load_func(program.name, type, fd);
        if (!loaded.ok()) {
            const int code = errno ? -errno : -EIO;
            const auto messages = capture.restore();
            if (code == -EPERM)
                return {Error{"loading BPF programs is not permitted: run as root (or with CAP_BPF and "
                              "CAP_PERFMON)",
                              code},
                        messages};
            return {Error{fmt::format("the kernel refuses program {} of {}: {}", program.name, what,
                                      messages.empty() ? loaded.msg() : essence(messages)),
                          code},
                    messages};
        }
        fds.push_back(fd);
    }
    state_->modules.push_back(std::move(module));
    return {std::move(fds), capture.restore()};
}

int BpfModules::map_fd(std::string_view name) const {
    if (state_->modules.empty()) return -1;
    auto& first = *state_->modules.front();
    return first.get_table(std::string{name}).get_fd();
}

void BpfModules::release_compiler_memory() {
    for (const auto& module : state_->modules) module->free_bcc_memory();
    malloc_trim(0);
}

}  // namespace pyperf
