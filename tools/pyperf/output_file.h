// SPDX-License-Identifier: Apache-2.0
// A file that is complete or absent: written beside its place, renamed into it at the end.
#pragma once

#include <cstdio>
#include <optional>
#include <string>

namespace pyperf::tool {

class OutputFile {
  public:
    // Nothing, with a line in `error`: the place cannot be written to. Something that is no regular file (a pipe, a
    // terminal, /dev/null) is written to directly.
    static std::optional<OutputFile> open(const std::string& path, std::string& error);
    ~OutputFile();
    OutputFile(OutputFile&& other) noexcept;
    OutputFile& operator=(OutputFile&&) = delete;

    std::FILE* stream() const { return stream_; }
    // Puts the file into its place. Without this it is gone.
    bool commit(std::string& error);

  private:
    OutputFile(std::FILE* stream, std::string path, std::string temporary)
        : stream_(stream), path_(std::move(path)), temporary_(std::move(temporary)) {}

    std::FILE* stream_ = nullptr;
    std::string path_;
    std::string temporary_;  // "": written in place
};

}  // namespace pyperf::tool
