// SPDX-License-Identifier: Apache-2.0
// A program that a test starts, and that goes away with the test.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "process/ids.h"

namespace pyperf_test {

class Child {
  public:
    // The program's stdout can be read with read_line(); its stdin stays open until stop().
    explicit Child(const std::vector<std::string>& command) {
        int out[2];
        int in[2];
        if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(in, O_CLOEXEC) != 0) return;
        pid_ = ::fork();
        if (pid_ == 0) {
            ::dup2(in[0], 0);
            ::dup2(out[1], 1);
            std::vector<char*> arguments;
            for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
            arguments.push_back(nullptr);
            ::execv(arguments[0], arguments.data());
            ::_exit(127);
        }
        ::close(out[1]);
        ::close(in[0]);
        out_ = out[0];
        in_ = in[1];
    }
    ~Child() { stop(); }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    pyperf::HostPid pid() const { return {pid_}; }

    std::string read_line() {
        std::string line;
        char byte = 0;
        while (::read(out_, &byte, 1) == 1 && byte != '\n') line += byte;
        return line;
    }

    void write_line(const std::string& line) {
        const std::string text = line + "\n";
        (void)!::write(in_, text.data(), text.size());
    }

    void stop() {
        if (pid_ <= 0) return;
        ::close(in_);
        ::close(out_);
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        pid_ = -1;
    }

  private:
    pid_t pid_ = -1;
    int out_ = -1;
    int in_ = -1;
};

}  // namespace pyperf_test
