// SPDX-License-Identifier: Apache-2.0
// An empty folder that goes away, with all that is in it, at the end of a test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace pyperf_test {

class TemporaryFolder {
  public:
    TemporaryFolder() : path_((std::filesystem::temp_directory_path() / "pyperf-test-XXXXXX").string()) {
        if (!::mkdtemp(path_.data())) std::abort();
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    std::string file(const std::string& name) const { return path_ + "/" + name; }

  private:
    std::string path_;
};

}  // namespace pyperf_test
