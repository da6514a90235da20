// SPDX-License-Identifier: Apache-2.0
// A file that is complete or absent: written beside its place, renamed into it at the end.
#pragma once

#include <cstdio>
#include <string>

#include "result.h"

namespace pyperf::tool {

class OutputFile {
  public:
    // Fails if the place cannot be written to. What is no plain file of its own (a pipe, a device, a symbolic
    // link) is written to in its place; nothing of it changes before there is something to write.
    static Result<OutputFile> open(const std::string& path);
    ~OutputFile();
    OutputFile(OutputFile&& other) noexcept;
    OutputFile& operator=(OutputFile&& other) noexcept;

    std::FILE* stream() const { return stream_; }
    // Puts the file into its place. Without this it is gone. Fails if not all that was written is there.
    Result<void> commit();

  private:
    OutputFile(std::FILE* stream, std::string path, std::string temporary)
        : stream_(stream), path_(std::move(path)), temporary_(std::move(temporary)) {}
    bool finish();

    std::FILE* stream_ = nullptr;
    std::string path_;
    std::string temporary_;  // "": written in place
};

}  // namespace pyperf::tool
