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

namespace pyperf::tool {

std::optional<Child> Child::prepare(const std::vector<std::string>& command, std::string& error) {
    int go[2], result[2];
    if (pipe2(go, O_CLOEXEC) != 0) {
        error = fmt::format("pipe: {}", std::strerror(errno));
        return std::nullopt;
    }
    if (pipe2(result, O_CLOEXEC) != 0) {
        error = fmt::format("pipe: {}", std::strerror(errno));
        close(go[0]);
        close(go[1]);
        return std::nullopt;
    }
    std::vector<char*> arguments;
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
        if (got != 1) _exit(127);
        signal(SIGPIPE, SIG_DFL);
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        execvp(arguments[0], arguments.data());
        const int code = errno;
        if (write(result[1], &code, sizeof(code)) < 0) _exit(126);
        _exit(127);
    }
    close(go[0]);
    close(result[1]);
    if (pid < 0) {
        error = fmt::format("fork: {}", std::strerror(errno));
        close(go[1]);
        close(result[0]);
        return std::nullopt;
    }
    return Child{pid, go[1], result[0], command.front()};
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      go_(std::exchange(other.go_, -1)),
      result_(std::exchange(other.result_, -1)),
      name_(std::move(other.name_)),
      ended_(other.ended_) {}

Child::~Child() {
    const bool never_started = go_ >= 0;
    if (go_ >= 0) close(go_);
    if (result_ >= 0) close(result_);
    if (pid_ > 0 && never_started && !ended_) waitpid(pid_, nullptr, 0);
}

bool Child::start(std::string& error) {
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
        error = fmt::format("cannot run {}: {}", name_, std::strerror(code));
        return false;
    }
    return true;
}

bool Child::ended() {
    if (!ended_) {
        const pid_t got = waitpid(pid_, nullptr, WNOHANG);
        ended_ = got == pid_ || (got < 0 && errno == ECHILD);
    }
    return ended_;
}

}  // namespace pyperf::tool
