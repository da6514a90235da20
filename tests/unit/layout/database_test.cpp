// SPDX-License-Identifier: Apache-2.0
// The offset database: which files it takes, which layout wins, what a bad file costs.
#include "layout/database.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <set>

#include "elf/temporary_folder.h"
#include "layout/shipped_layouts.h"

using namespace pyperf;
using namespace pyperf_test;

namespace {

// A copy of a shipped layout under another name, with the range of versions that is given.
std::string renamed(const std::string& shipped_name, const std::string& name, const std::string& first = "",
                    const std::string& last = "") {
    Layout layout = shipped(shipped_name);
    layout.name = name;
    if (!first.empty()) layout.first = *PythonVersion::parse(first);
    if (!last.empty()) layout.last = *PythonVersion::parse(last);
    return format_layout(layout);
}

void put(const TemporaryFolder& folder, const std::string& shipped_name, const std::string& name,
         const std::string& first = "", const std::string& last = "") {
    write_file(folder.file(name + ".toml"), renamed(shipped_name, name, first, last));
}

std::vector<std::string> names(const Database& database) {
    std::vector<std::string> list;
    for (const auto& entry : database.entries()) list.push_back(entry.layout.name);
    return list;
}

std::vector<std::string> names(const std::vector<const Layout*>& layouts) {
    std::vector<std::string> list;
    for (const Layout* layout : layouts) list.push_back(layout->name);
    return list;
}

using Names = std::vector<std::string>;

PythonVersion version(const char* text) {
    const auto parsed = PythonVersion::parse(text);
    REQUIRE(parsed);
    return *parsed;
}

const BuildFlavour kUsual{"x86_64", "glibc", false, false};
const BuildFlavour kFreeThreaded{"x86_64", "glibc", true, false};

}  // namespace

TEST_CASE("the shipped database is read whole, in the order of names, without a warning") {
    const Database database = Database::open({shipped_folder});
    CHECK(database.warnings().empty());
    CHECK(names(database) == shipped_names());
    for (const auto& entry : database.entries()) {
        CHECK(entry.path == shipped_folder + "/" + entry.layout.name + ".toml");
        CHECK(entry.directory == 0);
        CHECK(database.find(entry.layout.name) == &entry.layout);
    }
    CHECK(database.find("cpython-3.5") == nullptr);
    CHECK(database.find("") == nullptr);
}

// Two files for one build would leave it to chance, or to their names, which one is used.
TEST_CASE("of the shipped layouts one at most covers each version and build") {
    const Database database = Database::open({shipped_folder});
    std::set<std::string> covered;
    for (uint8_t minor = 0; minor <= 20; minor++) {
        for (uint8_t micro = 0; micro <= 30; micro++) {
            for (const bool free_threaded : {false, true}) {
                for (const char* architecture : {"x86_64", "aarch64"}) {
                    for (const char* c_library : {"glibc", "musl"}) {
                        for (const uint8_t major : {uint8_t{2}, uint8_t{3}}) {
                            const PythonVersion one{major, minor, micro, 0xf, 0};
                            const auto found =
                                database.lookup(one, {architecture, c_library, free_threaded, false});
                            INFO(one.to_string() << " " << architecture << " " << c_library);
                            REQUIRE(found.size() <= 1);
                            for (const Layout* layout : found) covered.insert(layout->name);
                        }
                    }
                }
            }
        }
    }
    CHECK(covered.size() == database.entries().size());
}

TEST_CASE("a layout replaces one of the same name from an earlier directory") {
    const TemporaryFolder own;
    put(own, "cpython-3.11", "cpython-3.11", "3.11.0", "3.11.20");
    CHECK(Database::open({own.file("")}).entries().front().path == own.file("cpython-3.11.toml"));
    const Database database = Database::open({shipped_folder, own.file("")});
    CHECK(database.warnings().empty());
    CHECK(names(database) == shipped_names());
    REQUIRE(database.find("cpython-3.11"));
    CHECK(database.find("cpython-3.11")->last == version("3.11.20"));
    CHECK(names(database.lookup(version("3.11.20"), kUsual)) == Names{"cpython-3.11"});

    const Database reversed = Database::open({own.file(""), shipped_folder});
    CHECK(reversed.find("cpython-3.11")->last == version("3.11.14"));
    CHECK(reversed.lookup(version("3.11.20"), kUsual).empty());
}

TEST_CASE("of several layouts for a version those of later directories come first") {
    const TemporaryFolder second;
    const TemporaryFolder third;
    put(second, "cpython-3.11", "a-second", "3.11.5", "3.11.9");
    put(third, "cpython-3.11", "z-third", "3.11.7", "3.11.7");
    put(third, "cpython-3.11", "b-third", "3.11.7", "3.11.7");
    const Database database = Database::open({shipped_folder, second.file(""), third.file("")});
    CHECK(names(database.lookup(version("3.11.7"), kUsual)) ==
          Names{"b-third", "z-third", "a-second", "cpython-3.11"});
    CHECK(names(database.lookup(version("3.11.5"), kUsual)) == Names{"a-second", "cpython-3.11"});
    CHECK(names(database.lookup(version("3.11.4"), kUsual)) == Names{"cpython-3.11"});
    const Database turned = Database::open({third.file(""), second.file(""), shipped_folder});
    CHECK(names(turned.lookup(version("3.11.7"), kUsual)) ==
          Names{"cpython-3.11", "a-second", "b-third", "z-third"});
}

TEST_CASE("bad files cost themselves only") {
    const TemporaryFolder folder;
    put(folder, "cpython-3.10", "cpython-3.10");
    put(folder, "cpython-3.12", "cpython-3.12");
    write_file(folder.file("cpython-3.11.toml"),
               replaced(shipped_text("cpython-3.11"), "ob_type = 8", "ob_type = -8"));
    write_file(folder.file("empty.toml"), "");
    write_file(folder.file("garbage.toml"), std::string_view("\x7f"
                                                             "ELF\0\0\xff\xfe",
                                                             8));
    write_file(folder.file("other-name.toml"), shipped_text("cpython-3.13"));
    write_file(folder.file("huge.toml"), std::string(kLayoutFileMaxBytes + 1, '#'));
    std::filesystem::create_directory(folder.file("folder.toml"));
    REQUIRE(mkfifo(folder.file("pipe.toml").c_str(), 0600) == 0);
    REQUIRE(symlink("nowhere", folder.file("link.toml").c_str()) == 0);
    // None of the database's business.
    write_file(folder.file("README"), "text");
    write_file(folder.file("cpython-3.9.toml.dpkg-new"), "text");
    write_file(folder.file(".cpython-3.9.toml.swp"), "text");
    write_file(folder.file(".hidden.toml"), "text");
    std::filesystem::create_directory(folder.file("build-id"));

    const Database database = Database::open({folder.file("")});
    CHECK(names(database) == Names{"cpython-3.10", "cpython-3.12"});
    CHECK(names(database.lookup(version("3.10.1"), kUsual)) == Names{"cpython-3.10"});
    CHECK(database.lookup(version("3.11.1"), kUsual).empty());
    // In the order of the files' names, one line each.
    const std::vector<std::string> expected{
        "cpython-3.11.toml:32: ",     "empty.toml:1: ",
        "folder.toml: is no regular", "garbage.toml:1: ",
        "huge.toml: is larger than ", "link.toml: cannot be opened: No such file",
        "other-name.toml:3: ",        "pipe.toml: is no regular file"};
    REQUIRE(database.warnings().size() == expected.size());
    for (size_t i = 0; i < expected.size(); i++) {
        INFO(database.warnings()[i]);
        CHECK(contains(database.warnings()[i], "/" + expected[i]));
        CHECK_FALSE(contains(database.warnings()[i], "\n"));
    }
}

TEST_CASE("a bad file does not take away the good one of an earlier directory") {
    const TemporaryFolder own;
    write_file(own.file("cpython-3.11.toml"), "schema = 1\n");
    const Database database = Database::open({shipped_folder, own.file("")});
    REQUIRE(database.warnings().size() == 1);
    CHECK(names(database) == shipped_names());
    CHECK(names(database.lookup(version("3.11.7"), kUsual)) == Names{"cpython-3.11"});
}

TEST_CASE("directories that cannot be read are warnings, and empty ones are not") {
    const TemporaryFolder folder;
    write_file(folder.file("file"), "");
    const Database database =
        Database::open({folder.file(""), folder.file("absent"), folder.file("file"), shipped_folder});
    CHECK(names(database) == shipped_names());
    REQUIRE(database.warnings().size() == 2);
    CHECK(database.warnings()[0] ==
          folder.file("absent") + ": the directory cannot be read: No such file or directory");
    CHECK(database.warnings()[1] == folder.file("file") + ": the directory cannot be read: Not a directory");
    CHECK(database.entries().front().directory == 3);
    CHECK(Database::open({}).entries().empty());
    CHECK(Database::open({}).warnings().empty());
    CHECK(Database::open({folder.file("")}).warnings().empty());
}

TEST_CASE("a directory with very many files is not read to its end, and says so") {
    const TemporaryFolder folder;
    for (int i = 0; i < 1001; i++) write_file(folder.file(std::to_string(i) + ".toml"), "");
    const Database database = Database::open({folder.file("")});
    REQUIRE(database.warnings().size() == 1001);  // 1,000 that are empty, and
    CHECK(contains(database.warnings()[0], "has too many entries, the rest is not read"));
}

TEST_CASE("the database does not depend on the order in which files were made") {
    const TemporaryFolder folder;
    const TemporaryFolder turned;
    auto all = shipped_names();
    for (const auto& name : all) write_file(folder.file(name + ".toml"), shipped_text(name));
    std::reverse(all.begin(), all.end());
    for (const auto& name : all) write_file(turned.file(name + ".toml"), shipped_text(name));
    CHECK(names(Database::open({folder.file("")})) == names(Database::open({turned.file("")})));
}

TEST_CASE("lookup is for exactly a version and build") {
    const Database database = Database::open({shipped_folder});
    const auto found = [&](const char* text, const BuildFlavour& flavour) {
        return names(database.lookup(version(text), flavour));
    };
    CHECK(found("3.7.3", kUsual) == Names{"cpython-3.7.0"});
    CHECK(found("3.7.4", kUsual) == Names{"cpython-3.7"});
    CHECK(found("3.14.8", kUsual) == Names{"cpython-3.14"});
    CHECK(found("3.14.8", kFreeThreaded) == Names{"cpython-3.14t"});
    CHECK(found("3.12.0", kFreeThreaded).empty());
    CHECK(found("3.11.7", {"x86_64", "glibc", false, true}).empty());
    CHECK(found("3.14.8rc1", kUsual).empty());
    CHECK(found("3.14.0a1", kUsual).empty());
    CHECK(found("3.11.15", kUsual).empty());
    CHECK(found("3.9.1", kUsual).empty());
    CHECK(found("3.5.10", kUsual).empty());
    CHECK(found("3.99.0", kUsual).empty());
    CHECK(found("3.11.7", {"riscv64", "glibc", false, false}).empty());
    CHECK(found("3.11.7", {"", "glibc", false, false}).empty());
    // Where the C library's mutex matters there are two layouts, and each gets its own.
    CHECK(found("3.11.7", {"aarch64", "glibc", false, false}) == Names{"cpython-3.11-aarch64"});
    CHECK(found("3.11.7", {"aarch64", "musl", false, false}) == Names{"cpython-3.11-aarch64-musl"});
    CHECK(found("3.11.7", {"aarch64", "", false, false}) ==
          Names{"cpython-3.11-aarch64", "cpython-3.11-aarch64-musl"});
    CHECK(found("3.12.1", {"aarch64", "musl", false, false}) == Names{"cpython-3.12"});
}

TEST_CASE("a candidate is for a final micro release behind every known range of its minor version") {
    const Database database = Database::open({shipped_folder});
    const auto candidate = [&](const char* text, const BuildFlavour& flavour = kUsual) -> std::string {
        const Layout* layout = database.candidate(version(text), flavour);
        return layout ? layout->name : "";
    };
    CHECK(candidate("3.11.15") == "cpython-3.11");
    CHECK(candidate("3.11.200") == "cpython-3.11");
    CHECK(candidate("3.7.17") == "cpython-3.7");  // not 3.7.0's
    CHECK(candidate("3.13.19", kFreeThreaded) == "cpython-3.13t");
    CHECK(candidate("3.11.15", {"aarch64", "musl", false, false}) == "cpython-3.11-aarch64-musl");
    CHECK(candidate("3.11.14").empty());     // it is known
    CHECK(candidate("3.9.1").empty());       // older than what is known
    CHECK(candidate("3.11.15rc1").empty());  // no final release
    CHECK(candidate("3.16.0").empty());      // another minor version
    CHECK(candidate("3.5.9").empty());
    CHECK(candidate("3.11.15", kFreeThreaded).empty());
    CHECK(candidate("3.11.15", {"riscv64", "glibc", false, false}).empty());
    CHECK(candidate("3.11.15", {"x86_64", "glibc", false, true}).empty());

    const TemporaryFolder own;
    put(own, "cpython-3.11", "newest", "3.11.20", "3.11.21");
    put(own, "cpython-3.12", "mine", "3.12.0", "3.12.4");
    const Database more = Database::open({shipped_folder, own.file("")});
    CHECK(more.candidate(version("3.11.22"), kUsual)->name == "newest");
    CHECK(more.candidate(version("3.11.17"), kUsual) == nullptr);  // between two ranges
    CHECK(more.candidate(version("3.12.5"), kUsual)->name == "mine");
    const Database turned = Database::open({own.file(""), shipped_folder});
    CHECK(turned.candidate(version("3.12.5"), kUsual)->name == "cpython-3.12");
}

TEST_CASE("the directories are the installed one or those of the environment, then the administrator's") {
    const TemporaryFolder folder;
    for (const char* name : {"one", "two"}) std::filesystem::create_directory(folder.file(name));
    write_file(folder.file("file"), "");
    const auto with = [&](const std::string& value) {
        REQUIRE(setenv("PYPERF_OFFSETS_PATH", value.c_str(), 1) == 0);
        auto all = Database::default_directories();
        REQUIRE(unsetenv("PYPERF_OFFSETS_PATH") == 0);
        if (!all.empty() && all.back() == "/etc/pyperf/offsets.d") all.pop_back();
        return all;
    };
    CHECK(with(folder.file("one") + ":" + folder.file("two")) ==
          Names{folder.file("one"), folder.file("two")});
    CHECK(with(folder.file("two") + ":" + folder.file("one")) ==
          Names{folder.file("two"), folder.file("one")});
    CHECK(with("::" + folder.file("one") + ":") == Names{folder.file("one")});
    CHECK(with(folder.file("absent") + ":" + folder.file("file") + ":" + folder.file("one")) ==
          Names{folder.file("one")});
    CHECK(with(folder.file("absent")).empty());
    // An empty one is none: whatever is installed.
    CHECK(with("") == [] {
        auto all = Database::default_directories();
        if (!all.empty() && all.back() == "/etc/pyperf/offsets.d") all.pop_back();
        return all;
    }());
}
