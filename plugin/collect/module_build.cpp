// SPDX-License-Identifier: Apache-2.0
#include "collect/module_build.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <utility>

namespace pyperf {
namespace {

constexpr size_t max_descriptors = 250;      // SCM_MAX_FD of the kernel is 253
constexpr size_t max_text_bytes = 64 << 10;  // of each of the two texts in the answer

// The child's answer: this, then the error's text, then the messages; descriptors ride along.
struct Header {
    int32_t error_code;  // 0: none
    uint32_t error_bytes;
    uint32_t message_bytes;
};

void answer(int socket, const ModuleBuild::Outcome& outcome) {
    const std::string error =
        outcome.programs ? std::string{} : outcome.programs.error().message.substr(0, max_text_bytes);
    const std::string messages = outcome.messages.substr(0, max_text_bytes);
    Header header{outcome.programs ? 0 : outcome.programs.error().code, static_cast<uint32_t>(error.size()),
                  static_cast<uint32_t>(messages.size())};
    const std::string bytes =
        std::string{reinterpret_cast<const char*>(&header), sizeof(header)} + error + messages;
    iovec part{const_cast<char*>(bytes.data()), bytes.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(max_descriptors * sizeof(int))] = {};
    if (outcome.programs && !outcome.programs->empty()) {
        const size_t count = std::min(outcome.programs->size(), max_descriptors);
        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
        cmsghdr* rights = CMSG_FIRSTHDR(&message);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(count * sizeof(int));
        std::memcpy(CMSG_DATA(rights), outcome.programs->data(), count * sizeof(int));
    }
    while (sendmsg(socket, &message, MSG_NOSIGNAL) < 0 && errno == EINTR) {
    }
}

}  // namespace

Result<ModuleBuild> ModuleBuild::start(const std::function<Outcome()>& work) {
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
        return Error{fmt::format("socketpair: {}", std::strerror(errno)), -errno};
    // The answer must fit into the socket whole.
    const int bytes = static_cast<int>(4 * max_text_bytes);
    setsockopt(sockets[1], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0) {
        const int error = errno;
        close(sockets[0]);
        close(sockets[1]);
        return Error{fmt::format("fork: {}", std::strerror(error)), -error};
    }
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(1);
        // Ctrl-C is for the parent, which decides what becomes of the build.
        signal(SIGINT, SIG_IGN);
        answer(sockets[1], work());
        _exit(0);  // no destructors: they are the parent's business
    }
    close(sockets[1]);
    return ModuleBuild{child, sockets[0]};
}

ModuleBuild::ModuleBuild(ModuleBuild&& other) noexcept
    : child_(std::exchange(other.child_, -1)), socket_(std::exchange(other.socket_, -1)) {}

ModuleBuild::~ModuleBuild() {
    if (child_ > 0) kill(child_, SIGKILL);
    reap();
}

void ModuleBuild::reap() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
    if (child_ > 0)
        while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
        }
    child_ = -1;
}

ModuleBuild::Outcome ModuleBuild::finish() {
    std::string bytes(sizeof(Header) + 2 * max_text_bytes, '\0');
    alignas(cmsghdr) char control[CMSG_SPACE(max_descriptors * sizeof(int))] = {};
    iovec part{bytes.data(), bytes.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    ssize_t got = 0;
    do {
        got = recvmsg(socket_, &message, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    std::vector<int> programs;
    for (cmsghdr* part_of = CMSG_FIRSTHDR(&message); part_of; part_of = CMSG_NXTHDR(&message, part_of)) {
        if (part_of->cmsg_level != SOL_SOCKET || part_of->cmsg_type != SCM_RIGHTS) continue;
        programs.resize((part_of->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        std::memcpy(programs.data(), CMSG_DATA(part_of), programs.size() * sizeof(int));
    }
    reap();
    Header header{};
    if (got < static_cast<ssize_t>(sizeof(header)))
        return {Error{"the process that compiles ended without an answer (out of memory?)", -EIO}, {}};
    std::memcpy(&header, bytes.data(), sizeof(header));
    bytes.resize(static_cast<size_t>(got));
    const std::string error = bytes.substr(sizeof(header), header.error_bytes);
    std::string messages =
        bytes.substr(std::min(bytes.size(), sizeof(header) + header.error_bytes), header.message_bytes);
    if (header.error_code != 0) return {Error{error, header.error_code}, std::move(messages)};
    return {std::move(programs), std::move(messages)};
}

}  // namespace pyperf
