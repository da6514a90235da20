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
namespace {

std::FILE* stream_of(int fd) {
    std::FILE* stream = fd < 0 ? nullptr : fdopen(fd, "w");
    if (fd >= 0 && !stream) {
        const int code = errno;
        close(fd);
        errno = code;
    }
    return stream;
}

}  // namespace

Result<OutputFile> OutputFile::open(const std::string& path) {
    const auto refuse = [&](const char* why) {
        return Error{fmt::format("cannot write {}: {}", path, why), -EACCES};
    };
    struct stat place {};
    const bool exists = lstat(path.c_str(), &place) == 0;
    if (exists && S_ISDIR(place.st_mode)) return refuse("it is a directory");
    if (exists && !S_ISREG(place.st_mode)) {
        // Never a rename onto a link such as /dev/stdout. The kernel's own rules about whose links to follow
        // (fs.protected_symlinks) hold for open, so no path is resolved here.
        std::FILE* stream = stream_of(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
        if (!stream) return refuse(std::strerror(errno));
        return OutputFile{stream, path, ""};
    }
    if (exists && access(path.c_str(), W_OK) != 0) return refuse(std::strerror(errno));
    std::string temporary = path + ".XXXXXX";
    const int fd = mkostemp(temporary.data(), O_CLOEXEC);
    if (fd < 0) return refuse(std::strerror(errno));
    // mkostemp makes it private; a profile gets what any new file gets, or what the file had that it
    // replaces.
    const mode_t mask = umask(0);
    umask(mask);
    if ((exists && fchown(fd, place.st_uid, place.st_gid) != 0) ||
        fchmod(fd, exists ? place.st_mode & 0777 : 0666 & ~mask) != 0) {
        // Not ours to give away: it stays private.
    }
    std::FILE* stream = stream_of(fd);
    if (!stream) {
        const int code = errno;
        unlink(temporary.c_str());
        return refuse(std::strerror(code));
    }
    return OutputFile{stream, path, temporary};
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : stream_(std::exchange(other.stream_, nullptr)),
      path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, "")) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
    std::swap(stream_, other.stream_);
    std::swap(path_, other.path_);
    std::swap(temporary_, other.temporary_);
    return *this;
}

OutputFile::~OutputFile() {
    if (stream_) std::fclose(stream_);
    if (!temporary_.empty()) unlink(temporary_.c_str());
}

bool OutputFile::finish() {
    std::FILE* stream = std::exchange(stream_, nullptr);
    bool whole = std::ferror(stream) == 0 && std::fflush(stream) == 0;
    struct stat place {};
    // A link to a plain file: what the file had behind the new end goes.
    if (whole && temporary_.empty() && fstat(fileno(stream), &place) == 0 && S_ISREG(place.st_mode)) {
        const off_t end = ftello(stream);
        whole = end >= 0 && ftruncate(fileno(stream), end) == 0;
    }
    const int code = errno;
    const bool closed = std::fclose(stream) == 0;
    if (!whole) errno = code;
    return whole && closed && (temporary_.empty() || std::rename(temporary_.c_str(), path_.c_str()) == 0);
}

Result<void> OutputFile::commit() {
    errno = 0;
    if (!finish()) {
        const int code = errno ? errno : EIO;
        return Error{fmt::format("cannot write {}: {}", path_, std::strerror(code)), -code};
    }
    temporary_.clear();
    return {};
}

}  // namespace pyperf::tool
