// SPDX-License-Identifier: Apache-2.0
// The database through the C interface: what a tool's user is told when there is none.
#include <pyperf/pyperf.h>

#include "elf/temporary_folder.h"
#include "layout/shipped_layouts.h"

using namespace pyperf_test;

namespace {

struct Opened {
    int code;
    size_t layouts;
    std::string message;
    std::vector<std::string> warnings;
};

Opened open_database(const std::vector<std::string>& directories, const std::vector<std::string>& more = {}) {
    std::vector<const char*> first;
    std::vector<const char*> then;
    for (const auto& directory : directories) first.push_back(directory.c_str());
    for (const auto& directory : more) then.push_back(directory.c_str());
    pyperf_db_opts options{};
    options.sz = sizeof options;
    options.directories = first.data();
    options.directory_count = first.size();
    options.more_directories = then.data();
    options.more_directory_count = then.size();
    pyperf_db* database = nullptr;
    Opened opened{pyperf_db_open(&options, &database), 0, "", {}};
    if (opened.code != 0) {
        opened.message = pyperf_last_error();
        CHECK(database == nullptr);
        return opened;
    }
    opened.layouts = pyperf_db_layout_count(database);
    while (const char* warning = pyperf_db_warning(database, opened.warnings.size()))
        opened.warnings.emplace_back(warning);
    pyperf_db_close(database);
    return opened;
}

}  // namespace

TEST_CASE("a database is opened with its layouts and warnings") {
    const TemporaryFolder own;
    write_file(own.file("bad.toml"), "schema = 1\n");
    const Opened opened = open_database({shipped_folder}, {own.file("")});
    CHECK(opened.code == 0);
    CHECK(opened.layouts == shipped_names().size());
    REQUIRE(opened.warnings.size() == 1);
    CHECK(contains(opened.warnings[0], "/bad.toml:1: "));
}

TEST_CASE("where no layout is found, it is said where they were sought and what to do") {
    const TemporaryFolder folder;
    const Opened empty = open_database({folder.file("")}, {folder.file("absent")});
    CHECK(empty.code == -ENOENT);
    CHECK(contains(empty.message, "no layout found in " + folder.file("") + ", " + folder.file("absent")));
    CHECK(contains(empty.message, folder.file("absent") + ": the directory cannot be read"));
    CHECK(contains(empty.message, "--offsets"));

    write_file(folder.file("bad.toml"), "schema = 1\n");
    const Opened bad = open_database({folder.file("")});
    CHECK(bad.code == -ENOENT);
    CHECK(contains(bad.message, "/bad.toml:1: "));
}
