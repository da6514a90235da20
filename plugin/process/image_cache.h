// SPDX-License-Identifier: Apache-2.0
// What is known of mapped files, so that each is examined once, however many processes map it. Files without
// anything of interest are remembered as well.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "elf/interpreter_image.h"
#include "process/libc.h"
#include "process/mapped_file.h"

namespace pyperf {

struct FileFacts {
    std::shared_ptr<const InterpreterImage> interpreter;  // null: no CPython that can be told of in it
    std::optional<Error> refused;  // there is CPython in it, but it cannot be told which
    std::optional<LibcFacts> libc;
    SegmentMap segments;
    // Variables of CPython that this executable has taken over from libpython (copy relocations): name ->
    // address.
    std::map<std::string, uint64_t> copied;
};

// Not for several threads at once.
class ImageCache {
  public:
    // What the file behind a mapping holds. A file that is no ELF file of ours has empty facts. Errors: it
    // cannot be opened or read; such an answer is not remembered.
    Result<std::shared_ptr<const FileFacts>> facts_of(HostPid pid, const Mapping& mapping);

    size_t size() const { return entries_.size(); }
    size_t examined() const { return examined_; }  // files read since the start

  private:
    void make_room();

    std::map<FileIdentity, std::shared_ptr<const FileFacts>> entries_;
    size_t examined_ = 0;
};

// Examines an open file: everything that FileFacts has. Errors: unreadable or corrupt.
Result<FileFacts> examine_file(OwnedFd fd, const std::string& name);

}  // namespace pyperf
