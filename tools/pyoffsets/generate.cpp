// SPDX-License-Identifier: Apache-2.0
// pyoffsets generate: a layout file from headers or from debug information.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "collect.h"
#include "commands.h"
#include "debug_information.h"
#include "headers.h"
#include "layout/layout_file.h"

namespace pyperf::offsets {
namespace {

struct Options {
    std::string headers;
    std::string elf;
    std::vector<std::string> targets;
    std::vector<std::string> defines;
    std::vector<std::string> replacements;
    bool free_threaded = false;
    std::string first;
    std::string last;
    std::string name;
    std::string detail;
    std::string date;
    std::string output;
};

std::string today() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

// What of a path has a meaning on another machine: from "include" on, else the last part.
std::string portable(const std::string& path) {
    const size_t include = path.find("/include/");
    if (include != std::string::npos) return path.substr(include + 1);
    const size_t slash = path.find_last_of('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
}

// The command that makes the file again, without this machine's folders and without what only names the
// output.
std::string portable_command(const Words& words) {
    std::string command = "pyoffsets";
    for (size_t i = 1; i < words.size(); i++) {
        if (words[i] == "-o" || words[i] == "--output" || words[i] == "--date" || words[i] == "--detail") {
            i++;
            continue;
        }
        std::string word = words[i];
        const size_t equals = word.find('=');
        if (equals != std::string::npos && word.find('/', equals) != std::string::npos)
            word = word.substr(0, equals + 1) + portable(word.substr(equals + 1));
        else if (word.find('/') != std::string::npos)
            word = portable(word);
        command += " " + word;
    }
    return command;
}

void add_unique(std::vector<std::string>& list, const std::string& item) {
    if (std::ranges::find(list, item) == list.end()) list.push_back(item);
}

// One layout for all targets: they have to agree, else each needs its own file.
Result<Layout> from_headers(const Options& options) {
    std::vector<std::string> targets = options.targets;
    if (targets.empty()) targets.emplace_back("x86_64");
    std::optional<Layout> layout;
    std::vector<std::string> pairs;
    for (const std::string& text : targets) {
        const auto target = HeaderTarget::parse(text);
        if (!target) return target.error();
        HeaderRequest request{options.headers, *target, options.defines, options.replacements};
        while (request.directory.size() > 1 && request.directory.ends_with('/')) request.directory.pop_back();
        if (options.free_threaded) request.defines.emplace_back("Py_GIL_DISABLED=1");
        const auto headers = read_headers(request);
        if (!headers) return headers.error();
        auto found = collect_layout(*headers->source, headers->version);
        if (!found) return found.error();
        if (layout && layout->structs != found->structs)
            return Error{fmt::format("the layout for {} differs from that for {}: give each its own file",
                                     text, targets.front())};
        if (!layout) layout = std::move(*found);
        add_unique(layout->architectures, target->architecture);
        add_unique(layout->c_libraries, target->c_library);
        add_unique(pairs, target->architecture + "-" + target->c_library);
    }
    if (pairs.size() != layout->architectures.size() * layout->c_libraries.size())
        return Error{
            "a layout is for every combination of its architectures and C libraries: give all as --target"};
    if (options.free_threaded && !layout->free_threaded)
        return Error{fmt::format("{} has no free-threaded build", layout->first.to_string())};
    return std::move(*layout);
}

Result<Layout> from_debug_information(const Options& options) {
    const auto image = read_debug_information(options.elf);
    if (!image) return image.error();
    PythonVersion version = image->version.value_or(PythonVersion{});
    if (!image->version) {
        if (options.first.empty())
            return Error{options.elf +
                         ": its debug information does not say the exact version: give --first"};
        const auto given = PythonVersion::parse(options.first);
        if (!given) return given.error();
        version = *given;
    }
    auto layout = collect_layout(*image->source, version);
    if (!layout) return layout.error().within(options.elf);
    layout->architectures = {image->architecture};
    layout->c_libraries = {image->c_library};
    return layout;
}

Result<void> generate(const Options& options, const Words& words) {
    auto layout = options.elf.empty() ? from_headers(options) : from_debug_information(options);
    if (!layout) return layout.error();
    const PythonVersion version = layout->first;
    for (const auto& [given, bound] :
         {std::pair{&options.first, &layout->first}, std::pair{&options.last, &layout->last}}) {
        if (given->empty()) continue;
        const auto parsed = PythonVersion::parse(*given);
        if (!parsed) return parsed.error();
        *bound = *parsed;
    }
    // With a header of another release in the place of its own it stands for that one.
    if (options.replacements.empty() && (version < layout->first || layout->last < version))
        return Error{fmt::format("{} itself is not in the range {} to {}", version.to_string(),
                                 layout->first.to_string(), layout->last.to_string())};
    const bool to_file = !options.output.empty() && options.output != "-";
    std::string file = std::filesystem::path(options.output).filename().string();
    if (file.ends_with(".toml")) file.resize(file.size() - 5);
    layout->name = !options.name.empty() ? options.name
                   : to_file             ? file
                                         : fmt::format("cpython-{}.{}{}", version.major, version.minor,
                                           layout->free_threaded ? "t" : "");
    const std::string what = options.elf.empty() ? portable(options.headers) : portable(options.elf);
    layout->provenance = {{options.elf.empty() ? "headers" : "dwarf", version.to_string(),
                           options.detail.empty() ? what : options.detail, portable_command(words),
                           options.date.empty() ? today() : options.date}};
    if (const auto checked = check_layout(*layout); !checked) return checked.error();

    const std::string text = format_layout(
        *layout,
        "Made by pyoffsets; do not edit, make it again (docs/offsets.md). Offsets and sizes in bytes.");
    // What the words of the command line put into it has to be readable as well.
    if (const auto read = parse_layout(text, layout->name + ".toml"); !read) return read.error();
    if (!to_file) {
        if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
            return Error{"standard output cannot be written"};
        return {};
    }
    std::ofstream stream(options.output, std::ios::binary | std::ios::trunc);
    stream << text;
    stream.close();
    if (!stream) return Error{options.output + " cannot be written"};
    return {};
}

}  // namespace

void add_generate(CLI::App& app, const Words& words, int& exit_code) {
    auto options = std::make_shared<Options>();
    CLI::App* command =
        app.add_subcommand("generate", "Make a layout file from headers or from debug information");
    auto* headers = command->add_option("--headers", options->headers,
                                        "Directory of CPython's headers (/usr/include/python3.11)");
    auto* elf = command->add_option("--elf", options->elf, "Interpreter or libpython with DWARF");
    headers->excludes(elf);
    command
        ->add_option("--target", options->targets,
                     "ARCH[-LIBC][=INCLUDE]: x86_64, aarch64; glibc, musl; may be repeated if all agree")
        ->needs(headers);
    command->add_flag("--free-threaded", options->free_threaded, "Headers: the build without GIL")
        ->needs(headers);
    command->add_option("--define", options->defines, "Headers: NAME[=VALUE] for the compiler")
        ->needs(headers);
    command->add_option("--replace", options->replacements, "Headers: HEADER=FILE, read FILE in its place")
        ->needs(headers);
    command->add_option("--first", options->first, "First version that the layout is verified for");
    command->add_option("--last", options->last, "Last version that the layout is verified for");
    command->add_option("--name", options->name, "Name of the layout (the output file's)");
    command->add_option("--detail", options->detail, "For the provenance: which package or build this is");
    command->add_option("--date", options->date, "For the provenance: YYYY-MM-DD (today)");
    command->add_option("-o,--output", options->output, "File to write (standard output)");
    command->callback([options, &words, &exit_code] {
        if (options->headers.empty() && options->elf.empty())
            throw CLI::ValidationError("generate", "give --headers DIR or --elf FILE");
        if (const auto done = generate(*options, words); !done) {
            std::fprintf(stderr, "pyoffsets: %s\n", done.error().message.c_str());
            exit_code = kFailed;
        }
    });
}

}  // namespace pyperf::offsets
