// SPDX-License-Identifier: Apache-2.0
// pyoffsets check, diff, list: what is in the files.
#include <cstdio>

#include <fmt/format.h>

#include "commands.h"
#include "layout/database.h"
#include "layout/layout_file.h"
#include "layout/structures.h"

namespace pyperf::offsets {
namespace {

void print_error(const std::string& text) {
    std::fprintf(stderr, "pyoffsets: %s\n", text.c_str());
}

std::string builds(const Layout& layout) {
    return fmt::format("{} {}{}{}", fmt::join(layout.architectures, "+"), fmt::join(layout.c_libraries, "+"),
                       layout.free_threaded ? " free-threaded" : "", layout.trace_refs ? " trace-refs" : "");
}

std::string shown(std::optional<uint32_t> value) {
    return value ? std::to_string(*value) : "-";
}

// Prints one line per member that differs; returns how many.
int print_differences(const Layout& a, const Layout& b) {
    int count = 0;
    const auto compare = [&count](std::string_view structure, std::string_view member,
                                  std::optional<uint32_t> left, std::optional<uint32_t> right) {
        if (left == right) return;
        fmt::print("{}.{}: {} {}\n", structure, member, shown(left), shown(right));
        count++;
    };
    for (const KnownStructure& known : known_structures()) {
        compare(known.name, "sizeof", a.size_of(known.name), b.size_of(known.name));
        for (const KnownMember& member : known.members)
            compare(known.name, member.name, a.offset(known.name, member.name),
                    b.offset(known.name, member.name));
    }
    const auto compare_rule = [&count](std::string_view name, std::string_view left, std::string_view right) {
        if (left == right) return;
        fmt::print("rules.{}: {} {}\n", name, left, right);
        count++;
    };
    compare_rule("frame_chain", to_string(a.frame_chain), to_string(b.frame_chain));
    compare_rule("line_table", to_string(a.line_table), to_string(b.line_table));
    compare_rule("thread_binding", to_string(a.thread_binding), to_string(b.thread_binding));
    compare_rule("string_kind", to_string(a.string_kind), to_string(b.string_kind));
    compare("rules", "instruction_unit", a.instruction_unit, b.instruction_unit);
    compare("rules", "executable_tag_mask", a.executable_tag_mask, b.executable_tag_mask);
    compare("rules", "first_shim_owner", a.first_shim_owner, b.first_shim_owner);
    return count;
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
    auto files = std::make_shared<std::vector<std::string>>();
    CLI::App* command = app.add_subcommand("check", "Check layout files; every error with file and line");
    command->add_option("FILE", *files, "Layout files")->required();
    command->callback([files, &exit_code] {
        for (const std::string& file : *files) {
            if (const auto layout = read_layout_file(file))
                continue;
            else
                print_error(layout.error().message);
            exit_code = kFailed;
        }
    });
}

void add_diff(CLI::App& app, int& exit_code) {
    auto files = std::make_shared<std::pair<std::string, std::string>>();
    CLI::App* command =
        app.add_subcommand("diff", "Compare two layout files; exit code 1 if members or rules differ");
    command->add_option("A", files->first, "Layout file")->required();
    command->add_option("B", files->second, "Layout file")->required();
    command->callback([files, &exit_code] {
        const auto a = read_layout_file(files->first);
        const auto b = read_layout_file(files->second);
        if (!a) print_error(a.error().message);
        if (!b) print_error(b.error().message);
        if (!a || !b || print_differences(*a, *b) != 0) exit_code = kFailed;
    });
}

void add_list(CLI::App& app, int& exit_code) {
    auto directories = std::make_shared<std::vector<std::string>>();
    CLI::App* command = app.add_subcommand("list", "List the layouts of the database");
    command->add_option("--offsets", *directories, "Further directories; later ones win");
    command->callback([directories, &exit_code] {
        std::vector<std::string> all = Database::default_directories();
        all.insert(all.end(), directories->begin(), directories->end());
        const Database database = Database::open(all);
        for (const std::string& warning : database.warnings()) print_error(warning);
        if (!database.warnings().empty()) exit_code = kFailed;
        for (const DatabaseEntry& entry : database.entries())
            fmt::print("{:<24} {:>7} - {:<7} {}\n", entry.layout.name, entry.layout.first.to_string(),
                       entry.layout.last.to_string(), builds(entry.layout));
    });
}

}  // namespace pyperf::offsets
