// SPDX-License-Identifier: Apache-2.0
#include "render/headers_directory.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <vector>

namespace pyperf {

Result<std::string> headers_directory() {
    namespace fs = std::filesystem;
    std::vector<fs::path> candidates;
    Dl_info self{};
    if (dladdr(reinterpret_cast<const void*>(&headers_directory), &self) != 0 && self.dli_fname) {
        std::error_code error;
        const auto library = fs::canonical(self.dli_fname, error);
        // PREFIX/lib/x86_64-linux-gnu/libpyperf.so.0, PREFIX/lib64/..., PREFIX/sbin/...: the prefix is some
        // levels up.
        fs::path prefix = library.parent_path();
        for (int level = 0; !error && level < 4 && prefix.has_relative_path(); ++level) {
            prefix = prefix.parent_path();
            candidates.push_back(prefix / "share/pyperf/bpf-headers");
        }
    }
    candidates.emplace_back(PYPERF_INSTALLED_HEADERS);
    candidates.emplace_back(PYPERF_SOURCE_HEADERS);
    for (const auto& candidate : candidates) {
        std::error_code error;
        if (fs::is_regular_file(candidate / "include/linux/kconfig.h", error)) return candidate.string();
    }
    return Error{fmt::format("pyperf's own headers are missing ({}): install the package again",
                             candidates.front().string()),
                 -ENOENT};
}

}  // namespace pyperf
