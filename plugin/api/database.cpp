// SPDX-License-Identifier: Apache-2.0
#include "api/database.h"

#include <fmt/format.h>
#include <pyperf/pyperf.h>

#include <memory>

#include "api/errors.h"
#include "api/options.h"
#include "layout/resolver.h"
#include "process/discover.h"

using namespace pyperf;

extern "C" {

const char* pyperf_version_string(void) {
    return PYPERF_VERSION_STRING;
}

const char* pyperf_last_error(void) {
    return api::last_error();
}

int pyperf_db_open(const pyperf_db_opts* given, pyperf_db** out) {
    return api::guarded([&] {
        const auto options = api::copy_options(given);
        std::vector<std::string> directories;
        if (options.directories) {
            directories.assign(options.directories, options.directories + options.directory_count);
        } else {
            directories = Database::default_directories();
        }
        for (size_t i = 0; i < options.more_directory_count; ++i)
            directories.emplace_back(options.more_directories[i]);
        auto db = std::make_unique<pyperf_db>();
        db->database = Database::open(directories);
        if (db->database.entries().empty()) {
            std::string places;
            for (const auto& directory : directories) places += (places.empty() ? "" : ", ") + directory;
            const auto& warnings = db->database.warnings();
            return api::fail(
                {fmt::format("no layout found{}{}{}{}: install pyperf-offsets, or name a directory with "
                             "--offsets",
                             places.empty() ? "" : " in ", places, warnings.empty() ? "" : "; ",
                             warnings.empty() ? "" : warnings.front()),
                 -ENOENT});
        }
        *out = db.release();
        return 0;
    });
}

void pyperf_db_close(pyperf_db* db) {
    delete db;
}

size_t pyperf_db_layout_count(const pyperf_db* db) {
    return db->database.entries().size();
}

const char* pyperf_db_warning(const pyperf_db* db, size_t index) {
    const auto& warnings = db->database.warnings();
    return index < warnings.size() ? warnings[index].c_str() : nullptr;
}

int pyperf_examine(pyperf_db* db, uint32_t pid, pyperf_process_info* out) {
    return api::guarded([&] {
        const auto process = examine_process(HostPid{static_cast<int32_t>(pid)}, db->images);
        if (!process) return api::fail(process.error());
        if (!*process) return api::fail({fmt::format("process {} has no CPython in it", pid), -ENOENT});
        const auto& interpreter = (*process)->interpreter;
        const auto c_library = (*process)->libc.kind == LibcKind::unknown ? std::string_view{}
                                                                          : to_string((*process)->libc.kind);
        const auto resolution = resolve_layout(db->database, *interpreter.image, c_library);
        db->image = interpreter.path;
        db->build_id = interpreter.image->build_id;
        db->version = interpreter.image->version.to_string();
        db->layout = resolution.layout ? resolution.layout->name : "";
        db->evidence = resolution.evidence;
        db->reason = resolution.refusal;
        pyperf_process_info info{};
        info.pid = pid;
        info.supported = resolution.layout != nullptr;
        info.candidate = resolution.candidate;
        info.image = db->image.c_str();
        info.build_id = db->build_id.c_str();
        info.version = db->version.c_str();
        info.layout = db->layout.c_str();
        info.evidence = db->evidence.c_str();
        info.reason = db->reason.c_str();
        api::copy_out(out, info);
        return 0;
    });
}

}  // extern "C"
