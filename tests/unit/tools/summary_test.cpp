// SPDX-License-Identifier: Apache-2.0
// The summary in its two forms.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "catch2_header.h"
#include "report_summary.h"
#include "report_summary_json.h"

using namespace pyperf::tool;

namespace {

RunFacts typical() {
    RunFacts facts;
    auto& totals = facts.totals;
    totals.sz = sizeof(totals);
    totals.ticks = 1'234'567;
    totals.classes[PYPERF_CLASS_COMPLETE] = 1'000'000;
    totals.classes[PYPERF_CLASS_TORN] = 7;
    totals.classes[PYPERF_CLASS_NOT_PYTHON] = 234'560;
    totals.duration_ns = 10'040'000'000;
    totals.stacks = 34;
    totals.code_objects = 1;
    facts.python_processes = 3;
    totals.runs = 1'000'007;
    totals.run_ns = 2'100'014'700;
    totals.frames = 20'000'140;
    facts.cost = {0.456, 12'345};
    facts.processes = {{10, true, "/usr/bin/python3.11", "ab12", "3.11.7", "cpython-3.11", "version", ""},
                       {11, true, "/usr/bin/python3.9", "", "3.9.2", "cpython-3.9", "version", ""},
                       {12, false, "/opt/py", "", "3.5.2", "", "", "no layout for CPython 3.5.2: add one"}};
    facts.stack_storage_size = 16384;
    facts.hash_storage_size = 40960;
    return facts;
}

size_t widest_line(const std::string& text) {
    size_t widest = 0;
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) widest = std::max(widest, line.size());
    return widest;
}

bool has(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the summary on the screen") {
    CHECK(summary_text(typical()) ==
          "Ticks by class, in 10.0 s:\n"
          "  1,000,000  81.0%  complete Python stacks\n"
          "          7   0.0%  torn: a read failed while the stack was changing\n"
          "    234,560  19.0%  not Python\n"
          "  1,234,567         in all\n"
          "Seen: 3 Python processes (CPython 3.5.2, 3.9.2, 3.11.7), 34 Python stacks, 1\n"
          "    code object\n"
          "Cost: 2.1 us of BPF per sample (20.0 frames on average), pyperf itself 0.46 s of\n"
          "    CPU, 12.1 MiB\n"
          "Unsupported, process 12: no layout for CPython 3.5.2: add one\n");
}

TEST_CASE("what is proven here and not in the database is marked as such, and what is not is not shown") {
    auto facts = typical();
    auto& process = facts.processes[0];
    process.candidate = process.proven = true;
    process.version = "3.13.19";
    process.layout = "cpython-3.13";
    const auto pid = std::to_string(process.pid);
    CHECK(has(summary_text(facts), ("Proven here, not in the database, process " + pid + ":").c_str()));
    CHECK(has(summary_text(facts), "3.13.19 by layout"));
    auto json = nlohmann::json::parse(summary_json(facts));
    CHECK(json["processes"][0]["in_database"] == false);
    CHECK(json["processes"][0]["proven"] == true);
    CHECK(json["processes"][1]["in_database"] == true);
    CHECK(json["processes"][2]["in_database"] == false);

    process.proven = false;
    process.reason = "no process has proven cpython-3.13";
    CHECK(has(summary_text(facts),
              ("Not shown, process " + pid + ": no process has proven cpython-3.13\n").c_str()));
    CHECK_FALSE(has(summary_text(facts), "Proven here"));
}

TEST_CASE("classes that do not add up are not hidden") {
    auto facts = typical();
    CHECK_FALSE(has(summary_text(facts), "WARNING"));
    facts.totals.classes[PYPERF_CLASS_LOST] = 1;
    CHECK(has(summary_text(facts), "WARNING: the classes add up to 1,234,568, not to 1,234,567."));
}

TEST_CASE("a limit that was reached names the option to raise") {
    const auto with = [](auto change) {
        auto facts = typical();
        change(facts.totals);
        auto text = summary_text(facts);
        std::replace(text.begin(), text.end(), '\n', ' ');
        return text;
    };
    CHECK(has(with([](auto& totals) { totals.stacks_resent = 2; }), "--stack-storage-size (now 16384)"));
    CHECK(has(with([](auto& totals) { totals.kernel_stacks_missed = 1; }),
              "WARNING: 1 kernel stack could not be"));
    CHECK(has(with([](auto& totals) { totals.counts_full = 2; }), "--hash-storage-size (now 40960)"));
    CHECK(has(with([](auto& totals) {
                  totals.classes[PYPERF_CLASS_LOST] = 2;
                  totals.ticks += 2;
              }),
              "WARNING: 2 ticks lost"));
    CHECK_FALSE(has(with([](auto&) {}), "WARNING"));
}

TEST_CASE("it fits 80 columns, however long the reasons are and however many") {
    auto facts = typical();
    for (uint32_t pid = 100; pid < 130; ++pid) {
        auto process = facts.processes.back();
        process.pid = pid;
        process.reason = "reason " + std::to_string(pid) + " of many words ";
        for (int i = 0; i < 30; ++i) process.reason += "word\x1b[0m ";
        facts.processes.push_back(process);
    }
    facts.totals.processes_not_examined = 12;
    facts.totals.stacks_resent = facts.totals.counts_full = 123'456'789'012;
    const auto text = summary_text(facts);
    CHECK(widest_line(text) <= 80);
    CHECK_FALSE(has(text, "\x1b"));
    CHECK(has(text, "Unsupported, too: 23 other reasons"));
    CHECK(has(text, "12 processes"));
}

TEST_CASE("a run without ticks divides by nothing") {
    const auto text = summary_text(RunFacts{});
    CHECK(has(text, " 0         in all\n"));
    CHECK_FALSE(has(text, "nan"));
}

TEST_CASE("the summary as JSON has every class, and adds up") {
    const auto json = nlohmann::json::parse(summary_json(typical()));
    CHECK(json["ticks"] == 1'234'567);
    CHECK(json["classes"].size() == PYPERF_CLASS_COUNT);
    uint64_t sum = 0;
    for (const auto& [name, number] : json["classes"].items()) sum += number.get<uint64_t>();
    CHECK(sum == 1'234'567);
    for (const auto* name : {"complete", "truncated", "torn", "no_python_frames", "not_set_up", "unsupported",
                             "not_python", "filtered", "idle", "lost", "stale_code"})
        CHECK(json["classes"].contains(name));
    CHECK(json["stacks"] == 34);
    CHECK(json["code_objects"] == 1);
    CHECK(json["bpf_ns_per_sample"] == 2100.0);
    CHECK(json["cpu_seconds"] == 0.456);
    CHECK(json["rss_anon_kib"] == 12'345);
    CHECK(json["processes"].size() == 3);
    CHECK(json["processes"][2]["supported"] == false);
    CHECK(json["processes"][2]["reason"] == "no layout for CPython 3.5.2: add one");
    CHECK(json["processes"][0]["build_id"] == "ab12");
}

TEST_CASE("the JSON is valid whatever the names hold") {
    auto facts = typical();
    facts.processes[0].image = "/tmp/\xff\"\\\x01\n\xed\xa0\x80</script>";
    const auto json = nlohmann::json::parse(summary_json(facts));
    CHECK(json["processes"][0]["image"] == "/tmp/\\xff\"\\\\\\x01\\n\\xed\\xa0\\x80</script>");
    CHECK(nlohmann::json::parse(summary_json(RunFacts{}))["bpf_ns_per_sample"] == 0.0);
}
