// SPDX-License-Identifier: Apache-2.0
#include "output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace pyperf::tool {

std::optional<OutputFile> OutputFile::open(const std::string& path, std::string& error) {
    const auto refuse = [&](const char* why) {
        error = fmt::format("cannot write {}: {}", path, why);
        return std::nullopt;
    };
    struct stat place {};
    const bool exists = stat(path.c_str(), &place) == 0;
    if (exists && S_ISDIR(place.st_mode)) return refuse("it is a directory");
    if (exists && !S_ISREG(place.st_mode)) {
        std::FILE* stream = std::fopen(path.c_str(), "we");
        if (!stream) return refuse(std::strerror(errno));
        return OutputFile{stream, path, ""};
    }
    if (exists && access(path.c_str(), W_OK) != 0) return refuse(std::strerror(errno));
    std::string temporary = path + ".XXXXXX";
    const int fd = mkostemp(temporary.data(), O_CLOEXEC);
    if (fd < 0) return refuse(std::strerror(errno));
    // mkostemp makes it private; a profile gets what any new file gets.
    const mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, exists ? place.st_mode & 0777 : 0666 & ~mask);
    std::FILE* stream = fdopen(fd, "w");
    if (!stream) {
        const int code = errno;
        ::close(fd);
        unlink(temporary.c_str());
        return refuse(std::strerror(code));
    }
    return OutputFile{stream, path, temporary};
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : stream_(std::exchange(other.stream_, nullptr)),
      path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, "")) {}

OutputFile::~OutputFile() {
    if (stream_) std::fclose(stream_);
    if (!temporary_.empty()) unlink(temporary_.c_str());
}

bool OutputFile::commit(std::string& error) {
    errno = 0;
    const bool whole = std::ferror(stream_) == 0;
    const bool closed = std::fclose(std::exchange(stream_, nullptr)) == 0;
    if (!whole || !closed || (!temporary_.empty() && std::rename(temporary_.c_str(), path_.c_str()) != 0)) {
        error = fmt::format("cannot write {}: {}", path_, std::strerror(errno ? errno : EIO));
        return false;
    }
    temporary_.clear();
    return true;
}

}  // namespace pyperf::tool
