// SPDX-License-Identifier: Apache-2.0
#include "collect/stderr_capture.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace pyperf {

StderrCapture::StderrCapture() {
    std::fflush(stderr);
    memory_ = memfd_create("pyperf-messages", MFD_CLOEXEC);
    if (memory_ < 0) return;
    saved_ = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (saved_ < 0 || dup2(memory_, STDERR_FILENO) < 0) {
        if (saved_ >= 0) close(saved_);
        saved_ = -1;
    }
}

std::string StderrCapture::restore() {
    std::string text;
    if (saved_ >= 0) {
        std::fflush(stderr);
        dup2(saved_, STDERR_FILENO);
        close(saved_);
        saved_ = -1;
        const off_t end = lseek(memory_, 0, SEEK_END);
        const off_t begin = std::max<off_t>(0, end - (off_t{64} << 10));
        text.resize(static_cast<size_t>(std::max<off_t>(0, end - begin)));
        const ssize_t got = pread(memory_, text.data(), text.size(), begin);
        text.resize(got > 0 ? static_cast<size_t>(got) : 0);
    }
    if (memory_ >= 0) close(memory_);
    memory_ = -1;
    return text;
}

}  // namespace pyperf
