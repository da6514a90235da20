// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <fmt/format.h>
#include <pyperf/pyperf.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstring>
#include <iostream>

#include "exit_codes.h"
#include "help_text.h"
#include "messages.h"

namespace pyperf::tool {
namespace {

// Pids are below 2^22 (PID_MAX_LIMIT of the kernel's threads.h).
constexpr uint64_t max_id = 1u << 22;
constexpr uint64_t max_duration = 99'999'999;

// A whole number in decimal digits and nothing else: what is read is what a person sees ("010" is ten, "0x10"
// is wrong).
std::optional<uint64_t> parse_number(std::string_view text, uint64_t low, uint64_t high) {
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    if (number < low || number > high) return std::nullopt;
    return number;
}

// An option with a number: what was given, once it is checked.
class Number {
  public:
    // Declares the option. names as CLI11 wants them.
    Number(CLI::App& app, const char* names, const char* argument, const char* description, uint64_t low,
           uint64_t high)
        : low_(low), high_(high) {
        option_ = app.add_option(names, text_, description)->option_text(argument);
        option_->check([low, high](const std::string& text) {
            return parse_number(text, low, high)
                       ? std::string{}
                       : fmt::format("\"{}\" is not a whole number from {} to {}", text, low, high);
        });
    }
    Number(const Number&) = delete;
    Number& operator=(const Number&) = delete;

    CLI::Option* option() const { return option_; }
    std::optional<uint64_t> value() const {
        return option_->count() ? parse_number(text_, low_, high_) : std::nullopt;
    }
    std::optional<uint32_t> value32() const {
        const auto number = value();
        return number ? std::optional{static_cast<uint32_t>(*number)} : std::nullopt;
    }

  private:
    uint64_t low_, high_;
    std::string text_;
    CLI::Option* option_ = nullptr;
};

// Comma separated process or thread ids, as profile(8) takes them. Nothing: they are none.
std::optional<std::vector<uint32_t>> parse_ids(std::string_view text) {
    std::vector<uint32_t> ids;
    while (true) {
        const size_t comma = text.find(',');
        const auto id = parse_number(text.substr(0, comma), 1, max_id);
        if (!id) return std::nullopt;
        ids.push_back(static_cast<uint32_t>(*id));
        if (comma == std::string_view::npos) break;
        text.remove_prefix(comma + 1);
    }
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
}

std::string check_ids(const std::string& text) {
    return parse_ids(text) ? std::string{}
                           : fmt::format("\"{}\" is not a list of ids separated by commas", text);
}

std::string check_not_empty(const std::string& text) {
    return text.empty() ? "the name is empty" : "";
}

bool ends_with(std::string_view text, std::string_view ending) {
    return text.size() >= ending.size() && text.substr(text.size() - ending.size()) == ending;
}

// The format by the ending of the output file; what is wrong with it, or "".
std::string choose_format(Options& options) {
    const auto& path = options.output;
    if (path.empty()) return "";
    if (ends_with(path, ".folded")) {
        options.folded = true;
        return "";
    }
    if (ends_with(path, ".txt"))
        return options.folded
                   ? fmt::format("--folded contradicts the ending of {}: folded stacks go into FILE.folded",
                                 path)
                   : "";
    // A device or a pipe has no ending that says something; /dev/stdout may lead to a plain file.
    struct stat place {};
    if (path.compare(0, 5, "/dev/") == 0) return "";
    if (stat(path.c_str(), &place) == 0 && !S_ISREG(place.st_mode) && !S_ISDIR(place.st_mode)) return "";
    return fmt::format(
        "the ending of {} says no format: known are .folded (folded stacks) and .txt (stacks as on the "
        "screen)",
        path);
}

// Words that are right each by itself, and wrong together; "": none.
std::string contradiction(const Options& options) {
    const bool has_command = !options.command.empty();
    if (has_command && !options.pids.empty()) return "--pid contradicts a command: one run profiles either";
    if (has_command && !options.tids.empty()) return "--tid contradicts a command: one run profiles either";
    if (options.kernel_only &&
        (options.show_gil_state || options.show_thread_state || options.show_pthread_id_state))
        return "--kernel-stacks-only contradicts the --show-...-state options: no Python thread is looked at";
    if (!options.output.empty() && options.output == options.summary_json)
        return "--output and --summary-json name the same file";
    return "";
}

std::string version_text() {
    return fmt::format("pyperf {}", pyperf_version_string());
}

// Two of CLI11's messages in plain words; the others are.
std::string in_plain_words(const CLI::ParseError& error) {
    std::string text = error.what();
    const std::string option = text.substr(0, text.find(':'));
    if (text.find("At Most 1 required") != std::string::npos) return option + " is given more than once";
    if (text.find("required TEXT missing") != std::string::npos) return option + " needs a value";
    return text;
}

int usage_error(const std::string& message) {
    say(message + " (pyperf --help lists the options)");
    return exit_usage;
}

}  // namespace

std::optional<Options> parse_options(int argc, char** argv, int& exit_code) {
    Options options;
    // What stands behind "--" is a command, whatever its own options are.
    int own = argc;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--") != 0) continue;
        own = i;
        options.command.assign(argv + i + 1, argv + argc);
        break;
    }

    CLI::App app{"", "pyperf"};
    app.formatter(std::make_shared<HelpFormatter>());
    std::string pids, tids;
    Number duration{app, "DURATION", "", "", 1, max_duration};
    app.add_option("-p,--pid", pids, "only these processes, comma separated")
        ->option_text("PID,..")
        ->check(check_ids);
    app.add_option("-L,--tid", tids, "only these threads, comma separated")
        ->option_text("TID,..")
        ->check(check_ids);
    auto* user =
        app.add_flag("-U,--user-stacks-only", options.user_only, "Python stacks without the kernel's");
    app.add_flag("-K,--kernel-stacks-only", options.kernel_only, "kernel stacks only, of every process")
        ->excludes(user);
    const Number hz{
        app, "-F,--frequency,--sample-rate", "HZ", "ticks a second on each CPU (default 49)", 1, 1'000'000};
    const Number every{app,    "-c,--count",     "NS", "a tick every NS ns of CPU time instead",
                       10'000, uint64_t{1} << 62};
    every.option()->excludes(hz.option());
    app.add_flag("-d,--delimited", options.delimited, "a delimiter between kernel and Python");
    app.add_flag("-a,--annotations", options.annotate, "add _[k] to kernel frames");
    app.add_flag("-A,--addresses", options.raw_addresses, "kernel frames as raw addresses");
    app.add_flag("-I,--include-idle", options.include_idle, "count the idle CPUs' ticks as well");
    app.add_flag("-f,--folded", options.folded, "one line per stack, for flame graphs");
    app.add_option("-o,--output", options.output, "into FILE.folded or FILE.txt")
        ->option_text("FILE")
        ->check(check_not_empty);
    const Number cpu{app, "-C,--cpu", "CPU", "only on this CPU", 0, 65535};
    Number duration_option{app, "--duration", "SECONDS", "DURATION as an option", 1, max_duration};
    duration_option.option()->excludes(duration.option());
    app.add_option("--cgroupmap", options.cgroup_map, "only cgroups in this pinned BPF map")
        ->option_text("MAP")
        ->check(check_not_empty);
    app.add_option("--mntnsmap", options.mntns_map, "only mount namespaces in this one")
        ->option_text("MAP")
        ->check(check_not_empty);
    const Number stacks{app,     "--stack-storage-size", "N", "stacks kept in the kernel (default 16384)", 1,
                        1u << 22};
    const Number hash{app, "--hash-storage-size", "N", "counts kept there (default 40960)", 1, 1u << 24};
    app.add_flag("--show-gil-state", options.show_gil_state, "who holds the GIL, with each stack");
    app.add_flag("--show-thread-state", options.show_thread_state, "is the thread's state the current one?");
    app.add_flag("--show-pthread-id-state", options.show_pthread_id_state,
                 "do thread and thread state match?");
    app.add_option("--offsets", options.offsets, "a further directory of layouts")
        ->option_text("DIR")
        ->check(CLI::ExistingDirectory)
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app.add_option("--summary-json", options.summary_json, "the summary's figures as JSON")
        ->option_text("FILE")
        ->check(check_not_empty);
    app.add_flag("-v,--verbose", options.verbose, "what is found, and what libbcc says");
    app.add_flag("--ebpf", options.print_text)->group("");  // hidden, as in bcc's tools
    app.set_version_flag("--version", version_text, "print the version");
    app.set_help_flag("-h,--help", "print this text");

    try {
        app.parse(own, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() != 0) {
            exit_code = usage_error(in_plain_words(error));
            return std::nullopt;
        }
        exit_code = app.exit(error);
        if (!std::cout.flush() && errno != EPIPE) exit_code = exit_failed;
        return std::nullopt;
    }
    if (!pids.empty()) options.pids = *parse_ids(pids);
    if (!tids.empty()) options.tids = *parse_ids(tids);
    options.duration_seconds = duration.value() ? duration.value() : duration_option.value();
    options.frequency_hz = hz.value32();
    options.period_ns = every.value();
    options.cpu = cpu.value32();
    options.stack_storage_size = stacks.value32().value_or(options.stack_storage_size);
    options.hash_storage_size = hash.value32().value_or(options.hash_storage_size);

    std::string wrong = choose_format(options);
    if (wrong.empty()) wrong = contradiction(options);
    if (own < argc && (options.command.empty() || options.command.front().empty()))
        wrong = "no command behind \"--\"";
    if (!wrong.empty()) {
        exit_code = usage_error(wrong);
        return std::nullopt;
    }
    return options;
}

}  // namespace pyperf::tool
