// SPDX-License-Identifier: Apache-2.0
#include "child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "exit_codes.h"
#include "run_facts.h"

namespace pyperf::tool {

Result<Child> Child::prepare(const std::vector<std::string>& command, Stdout output) {
    const auto failed = [](const char* what) {
        return Error{fmt::format("{}: {}", what, std::strerror(errno)), -errno};
    };
    int go[2], result[2];
    if (pipe2(go, O_CLOEXEC) != 0) return failed("pipe");
    if (pipe2(result, O_CLOEXEC) != 0) {
        const Error error = failed("pipe");
        close(go[0]);
        close(go[1]);
        return error;
    }
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const pid_t pid = fork();
    if (pid == 0) {
        close(go[1]);
        close(result[0]);
        char byte = 0;
        ssize_t got = 0;
        do {
            got = read(go[0], &byte, 1);
        } while (got < 0 && errno == EINTR);
        if (got != 1) _exit(exit_not_found);
        if (output == Stdout::to_stderr) dup2(STDERR_FILENO, STDOUT_FILENO);
        signal(SIGPIPE, SIG_DFL);
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        execvp(arguments[0], arguments.data());
        const int code = errno;
        if (write(result[1], &code, sizeof(code)) < 0) _exit(exit_not_executable);
        _exit(exit_not_found);
    }
    close(go[0]);
    close(result[1]);
    if (pid < 0) {
        const Error error = failed("fork");
        close(go[1]);
        close(result[0]);
        return error;
    }
    return Child{pid, go[1], result[0], command.front()};
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      go_(std::exchange(other.go_, -1)),
      result_(std::exchange(other.result_, -1)),
      name_(std::move(other.name_)),
      ended_(other.ended_),
      exit_code_(other.exit_code_),
      cpu_seconds_(other.cpu_seconds_) {}

Child::~Child() {
    const bool never_started = go_ >= 0;
    if (go_ >= 0) close(go_);
    if (result_ >= 0) close(result_);
    if (pid_ > 0 && never_started && !ended_) waitpid(pid_, nullptr, 0);
}

Child& Child::operator=(Child&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(go_, other.go_);
    std::swap(result_, other.result_);
    std::swap(name_, other.name_);
    std::swap(ended_, other.ended_);
    std::swap(exit_code_, other.exit_code_);
    std::swap(cpu_seconds_, other.cpu_seconds_);
    return *this;
}

Result<void> Child::start() {
    const char byte = 1;
    const ssize_t sent = write(go_, &byte, 1);
    close(go_);
    go_ = -1;
    int code = 0;
    ssize_t got = 0;
    do {
        got = read(result_, &code, sizeof(code));
    } while (got < 0 && errno == EINTR);
    close(result_);
    result_ = -1;
    if (sent != 1 || got == static_cast<ssize_t>(sizeof(code))) {
        waitpid(pid_, nullptr, 0);
        ended_ = true;
        if (code == 0) code = EPIPE;  // it was killed while it waited
        return Error{fmt::format("cannot run {}: {}", name_, std::strerror(code)), -code};
    }
    return {};
}

bool Child::ended() {
    if (!ended_) {
        int status = 0;
        rusage usage{};
        const pid_t got = wait4(pid_, &status, WNOHANG, &usage);
        ended_ = got == pid_ || (got < 0 && errno == ECHILD);
        if (got == pid_) {
            exit_code_ = WIFSIGNALED(status) ? exit_signal_base + WTERMSIG(status) : WEXITSTATUS(status);
            cpu_seconds_ = cpu_seconds_of(usage);
        }
    }
    return ended_;
}

void Child::pass_on(int signal) {
    if (!ended()) kill(pid_, signal);
}

}  // namespace pyperf::tool
