// SPDX-License-Identifier: Apache-2.0
// The text formats as pure functions of samples.
#include "stack_counts.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "catch2_header.h"
#include "report_folded.h"
#include "report_stacks.h"

using namespace pyperf::tool;

namespace {

// A frame with literals for texts (they outlive every test, as the interface asks).
template <size_t N, size_t M>
pyperf_python_frame frame(const char (&name)[N], const char (&file)[M], int32_t line) {
    return {name, file, N - 1, M - 1, line, 0, 0};
}

// A complete stack of one thread, to be changed by the tests.
struct Sample : pyperf_sample {
    Sample(const char* thread_name, uint32_t process, uint64_t ticks) : pyperf_sample() {
        sz = sizeof(pyperf_sample);
        comm = thread_name;
        pid = process;
        tid = process;
        count = ticks;
        tick_class = PYPERF_CLASS_COMPLETE;
    }
    Sample& python(const std::vector<pyperf_python_frame>& leaf_first) {
        frames = leaf_first.data();
        frame_count = leaf_first.size();
        return *this;
    }
    Sample& in_kernel(const std::vector<pyperf_kernel_frame>& leaf_first) {
        kernel = leaf_first.data();
        kernel_count = leaf_first.size();
        return *this;
    }
    Sample& of_class(unsigned tick) {
        tick_class = static_cast<uint8_t>(tick);
        return *this;
    }
};

std::string printed(bool (*write)(const StackCounts&, std::FILE*), const StackCounts& stacks) {
    char* text = nullptr;
    size_t bytes = 0;
    std::FILE* out = open_memstream(&text, &bytes);
    REQUIRE(out);
    REQUIRE(write(stacks, out));
    std::fclose(out);
    std::string result{text, bytes};
    std::free(text);
    return result;
}

StackForm folded_form() {
    StackForm form;
    form.folded = true;
    return form;
}

std::string folded(const std::vector<Sample>& samples, StackForm form = folded_form()) {
    StackCounts stacks{form};
    for (const auto& sample : samples) stacks.add(sample);
    return printed(write_folded, stacks);
}

std::string on_screen(const std::vector<Sample>& samples, StackForm form = {}) {
    StackCounts stacks{form};
    for (const auto& sample : samples) stacks.add(sample);
    return printed(write_stacks, stacks);
}

const std::vector<pyperf_python_frame> two_frames = {frame("Job.leaf", "/app/job.py", 7),
                                                     frame("<module>", "/app/main.py", 12)};
const std::vector<pyperf_kernel_frame> two_kernel_frames = {{"copy_page", 0xffffffff81000010},
                                                            {"do_syscall_64", 0xffffffff82000020}};

}  // namespace

TEST_CASE("a folded stack is root first, with kernel frames behind Python's") {
    CHECK(folded({Sample{"python3", 42, 5}.python(two_frames).in_kernel(two_kernel_frames)}) ==
          "python3;<module> (/app/main.py:12);Job.leaf (/app/job.py:7);do_syscall_64;copy_page 5\n");
}

TEST_CASE("on the screen a stack is leaf first, then process and count") {
    CHECK(on_screen({Sample{"python3", 42, 5}.python(two_frames).in_kernel(two_kernel_frames)}) ==
          "    copy_page\n"
          "    do_syscall_64\n"
          "    Job.leaf (/app/job.py:7)\n"
          "    <module> (/app/main.py:12)\n"
          "    -                python3 (42)\n"
          "        5\n"
          "\n");
}

TEST_CASE("-d, -a and -A") {
    const std::vector<Sample> samples = {Sample{"p", 1, 1}.python(two_frames).in_kernel(two_kernel_frames)};
    auto form = folded_form();
    form.delimited = form.annotate = true;
    CHECK(folded(samples, form) ==
          "p;<module> (/app/main.py:12);Job.leaf (/app/job.py:7);-;do_syscall_64_[k];copy_page_[k] 1\n");
    form.raw_addresses = true;
    form.annotate = false;
    CHECK(folded(samples, form) ==
          "p;<module> (/app/main.py:12);Job.leaf (/app/job.py:7);-;0xffffffff82000020;"
          "0xffffffff81000010 1\n");
    form.folded = false;
    CHECK(on_screen(samples, form).find("0xffffffff82000020\n    --\n    Job.leaf") != std::string::npos);
    // Nothing to delimit without kernel frames.
    CHECK(folded({Sample{"p", 1, 1}.python(two_frames)}, form).find(";-") == std::string::npos);
}

TEST_CASE("kernel frames without a symbol, and two addresses without one with -A") {
    const std::vector<pyperf_kernel_frame> nameless = {{nullptr, 0x10}, {nullptr, 0x20}};
    CHECK(
        folded({Sample{"p", 1, 1}.python(two_frames).in_kernel(nameless)}).find(";[unknown];[unknown] 1\n") !=
        std::string::npos);
    auto form = folded_form();
    form.raw_addresses = true;
    CHECK(folded({Sample{"p", 1, 1}.python(two_frames).in_kernel(nameless)}, form).find(";0x20;0x10 1\n") !=
          std::string::npos);
}

TEST_CASE("what stands for a stack that is not there") {
    const auto placeholder = [](unsigned tick_class, const char* reason = nullptr) {
        Sample sample{"p", 1, 3};
        sample.of_class(tick_class).reason = reason;
        return folded({sample});
    };
    CHECK(placeholder(PYPERF_CLASS_NO_PYTHON_FRAMES) == "p;[no Python frames] 3\n");
    CHECK(placeholder(PYPERF_CLASS_TORN) == "p;[torn Python stack] 3\n");
    CHECK(placeholder(PYPERF_CLASS_NOT_SET_UP) == "p;[interpreter not set up] 3\n");
    CHECK(placeholder(PYPERF_CLASS_NOT_PYTHON) == "p;[not Python] 3\n");
    CHECK(placeholder(PYPERF_CLASS_STALE_CODE) == "p;[stale code object] 3\n");
    CHECK(placeholder(PYPERF_CLASS_UNSUPPORTED) == "p;[unsupported Python] 3\n");
    CHECK(placeholder(PYPERF_CLASS_UNSUPPORTED, "CPython 3.5.2; \x1b[31mred") ==
          "p;[unsupported Python: CPython 3.5.2\\x3b \\x1b[31mred] 3\n");

    Sample missed{"p", 1, 2};
    missed.python(two_frames).kernel_missed = 1;
    CHECK(folded({missed}) ==
          "p;<module> (/app/main.py:12);Job.leaf (/app/job.py:7);[Missed Kernel Stack] 2\n");
    CHECK(on_screen({missed}).find("    [Missed Kernel Stack]\n    Job.leaf") == 0);
    CHECK(folded({Sample{"p", 1, 2}.python(two_frames).of_class(PYPERF_CLASS_TRUNCATED)}) ==
          "p;[truncated];<module> (/app/main.py:12);Job.leaf (/app/job.py:7) 2\n");
    // Kernel frames are shown on top of a placeholder, too.
    CHECK(folded({Sample{"p", 1, 2}.of_class(PYPERF_CLASS_NO_PYTHON_FRAMES).in_kernel(two_kernel_frames)}) ==
          "p;[no Python frames];do_syscall_64;copy_page 2\n");
}

TEST_CASE("with -K there is no Python stack to stand for") {
    auto form = folded_form();
    form.kernel_only = form.delimited = true;
    CHECK(folded({Sample{"cc1", 1, 2}.of_class(PYPERF_CLASS_NO_PYTHON_FRAMES).in_kernel(two_kernel_frames)},
                 form) == "cc1;do_syscall_64;copy_page 2\n");
    CHECK(folded({Sample{"cc1", 1, 2}.of_class(PYPERF_CLASS_NO_PYTHON_FRAMES)}, form) == "cc1 2\n");
}

TEST_CASE("names are data: nothing in them breaks a line, a stack or a terminal") {
    const std::vector<pyperf_python_frame> hostile = {
        frame("a;b\n\x1b[2J\xff\\ \xc2\x9b", "/tmp/x 7\r\t;y", 1),
        frame("\xd0\xb8\xd0\xbc\xd1\x8f \xf0\x9f\x90\x8d\xe2\x80\xae", "nul\0behind", 2)};
    const auto line = folded({Sample{"co;m\x1b\n m", 1, 9}.python(hostile)});
    CHECK(line ==
          "co\\x3bm\\x1b\\n m;"
          "\xd0\xb8\xd0\xbc\xd1\x8f \xf0\x9f\x90\x8d\\u202e (nul\\x00behind:2);"
          "a\\x3bb\\n\\x1b[2J\\xff\\\\ \\u009b (/tmp/x 7\\r\\t\\x3by:1) 9\n");
    const auto screen = on_screen({Sample{"co;m\x1b\n m", 1, 9}.python(hostile)});
    CHECK(screen.find('\x1b') == std::string::npos);
    CHECK(screen.find("    a;b\\n\\x1b[2J") == 0);
    CHECK(screen.find("    -                co;m\\x1b\\n m (1)\n") != std::string::npos);
}

TEST_CASE("a byte of a Python name that is no UTF-8 is shown as it is; a look-alike is another name") {
    const std::vector<pyperf_python_frame> frames = {
        frame("f", "/\xef\xbf\xbdxe9.py", 1), frame("f", "/\\xe9.py", 2),
        frame("f\xef\xbf\xbdud83d", "/\xef\xbf\xbd\xef\xbf\xbdxe9.py", 3)};
    // The thread's name has bytes as they are.
    CHECK(folded({Sample{"\xe9\xef\xbf\xbdxe9", 1, 1}.python(frames)}) ==
          "\\xe9\xef\xbf\xbdxe9;f\\ud83d (/\xef\xbf\xbdxe9.py:3);f (/\\\\xe9.py:2);f (/\\xe9.py:1) 1\n");
}

TEST_CASE("no frame can pass for a placeholder, and none without a record for a frame") {
    const std::vector<pyperf_python_frame> pretender = {frame("[not Python]", "", 3)};
    CHECK(folded({Sample{"p", 1, 1}.python(pretender)}) == "p;[not Python] (:3) 1\n");
    const std::vector<pyperf_python_frame> no_line = {frame("f", "x.py", 0)};
    CHECK(folded({Sample{"p", 1, 1}.python(no_line)}) == "p;f (x.py:?) 1\n");
    std::vector<pyperf_python_frame> unknown = {frame("[unknown code object]", "", 0)};
    unknown[0].flags = PYPERF_PYTHON_FRAME_UNKNOWN;
    CHECK(folded({Sample{"p", 1, 1}.python(unknown)}) == "p;[unknown code object] 1\n");
}

TEST_CASE("equal stacks are counted together: folded by thread name, on the screen by process, too") {
    const std::vector<Sample> samples = {Sample{"python3", 42, 5}.python(two_frames),
                                         Sample{"python3", 43, 7}.python(two_frames),
                                         Sample{"python3", 42, 1}.python(two_frames),
                                         Sample{"worker", 42, 2}.of_class(PYPERF_CLASS_NOT_PYTHON),
                                         Sample{"worker", 42, 3}.of_class(PYPERF_CLASS_NOT_PYTHON)};
    CHECK(folded(samples) ==
          "python3;<module> (/app/main.py:12);Job.leaf (/app/job.py:7) 13\n"
          "worker;[not Python] 5\n");
    CHECK(on_screen(samples) ==
          "    [not Python]\n"
          "    -                worker (42)\n"
          "        5\n"
          "\n"
          "    Job.leaf (/app/job.py:7)\n"
          "    <module> (/app/main.py:12)\n"
          "    -                python3 (42)\n"
          "        6\n"
          "\n"
          "    Job.leaf (/app/job.py:7)\n"
          "    <module> (/app/main.py:12)\n"
          "    -                python3 (43)\n"
          "        7\n"
          "\n");
}

TEST_CASE("lines of one function stay apart") {
    const std::vector<pyperf_python_frame> line_7 = {two_frames[0]};
    std::vector<pyperf_python_frame> line_8 = {two_frames[0]};
    line_8[0].line = 8;
    CHECK(folded({Sample{"p", 1, 1}.python(line_8), Sample{"p", 1, 2}.python(line_7)}) ==
          "p;Job.leaf (/app/job.py:7) 2\np;Job.leaf (/app/job.py:8) 1\n");
}

TEST_CASE("the order does not depend on the order of the samples") {
    std::vector<Sample> samples;
    for (uint32_t pid = 1; pid <= 9; ++pid)
        samples.push_back(Sample{pid % 2 ? "b" : "a", pid, 4}.python(two_frames));
    samples.push_back(Sample{"a", 2, 4}.of_class(PYPERF_CLASS_TORN));
    const auto screen = on_screen(samples);
    const auto lines = folded(samples);
    CHECK(lines ==
          "a;<module> (/app/main.py:12);Job.leaf (/app/job.py:7) 16\n"
          "a;[torn Python stack] 4\n"
          "b;<module> (/app/main.py:12);Job.leaf (/app/job.py:7) 20\n");
    std::reverse(samples.begin(), samples.end());
    CHECK(on_screen(samples) == screen);
    CHECK(folded(samples) == lines);
}

TEST_CASE("states are the root-most lines of a stack that has some") {
    auto form = folded_form();
    form.show_gil_state = form.show_thread_state = form.show_pthread_id_state = true;
    Sample sample{"p", 1, 1};
    sample.python(two_frames).of_class(PYPERF_CLASS_TRUNCATED);
    sample.gil_state = 4;
    sample.thread_state = 1;
    sample.pthread_id = 1;
    CHECK(folded({sample}, form) ==
          "p;[GIL: this thread];[thread state: match];[pthread id: match];[truncated];"
          "<module> (/app/main.py:12);Job.leaf (/app/job.py:7) 1\n");
    sample.gil_state = 200;  // of a newer library
    form.show_thread_state = form.show_pthread_id_state = false;
    CHECK(folded({sample}, form).find("p;[GIL: ?];[truncated];") == 0);
    form.folded = false;
    CHECK(on_screen({sample}, form).find("    [truncated]\n    [GIL: ?]\n    -  ") != std::string::npos);
    // No walker ran: no state was read.
    form.folded = true;
    CHECK(folded({Sample{"p", 1, 1}.of_class(PYPERF_CLASS_NOT_PYTHON)}, form) == "p;[not Python] 1\n");
}

TEST_CASE("a stack of 1,024 frames is there whole") {
    std::vector<pyperf_python_frame> deep(1024, two_frames[0]);
    for (size_t i = 0; i < deep.size(); ++i) deep[i].line = static_cast<int32_t>(i + 1);
    const auto line = folded({Sample{"p", 1, 1}.python(deep)});
    CHECK(std::count(line.begin(), line.end(), ';') == 1024);
    CHECK(line.find("p;Job.leaf (/app/job.py:1024);Job.leaf (/app/job.py:1023);") == 0);
}

TEST_CASE("a place that takes nothing is an error, not silence") {
    std::FILE* full = std::fopen("/dev/full", "w");
    REQUIRE(full);
    StackCounts stacks{folded_form()};
    stacks.add(Sample{"p", 1, 1}.python(two_frames));
    CHECK_FALSE(write_folded(stacks, full));
    CHECK_FALSE(write_stacks(stacks, full));
    std::fclose(full);
}
