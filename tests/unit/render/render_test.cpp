// SPDX-License-Identifier: Apache-2.0
#include "render/render.h"

#include "catch2_header.h"
#include "layout/database.h"

using namespace pyperf;

namespace {

KernelFacts some_kernel() {
    KernelFacts kernel;
    kernel.task_pid = 11;
    kernel.task_tgid = 12;
    kernel.task_thread_pointer = 1301;
    kernel.has_ring_buffer = true;
    return kernel;
}

bool has_line(const std::string& text, const std::string& line) {
    return text.find(line + "\n") != std::string::npos;
}

}  // namespace

TEST_CASE("a C literal reads back as the same bytes") {
    CHECK(c_literal("/sys/fs/bpf/map") == "\"/sys/fs/bpf/map\"");
    CHECK(c_literal("a\"b\\c") == "\"a\\042b\\134c\"");
    CHECK(c_literal("line\nend") == "\"line\\012end\"");
    // A digit behind an octal escape of three digits does not belong to it.
    CHECK(c_literal("\xc3\xa9\x01"
                    "7") == "\"\\303\\251\\0017\"");
}

TEST_CASE("options and kernel facts become constants of the text") {
    RenderOptions options;
    options.pids = {7, 8};
    options.tids = {9};
    options.user_only = true;
    options.mntns_map = "/sys/fs/bpf/a\"; evil(); \"";
    const std::string text = render_entry(options, some_kernel());
    CHECK(has_line(text, "#define TICK_IS_WANTED ((pid == 7 || pid == 8) && (tid == 9))"));
    CHECK(has_line(text, "#define PYPERF_USER_ONLY 1"));
    CHECK(has_line(text, "#define TASK_TGID 12"));
    CHECK(has_line(text, "#define TASK_THREAD_POINTER 1301"));
    CHECK(text.find("evil(); \"") == std::string::npos);
    CHECK(text.find("#define PYPERF_KERNEL_ONLY") == std::string::npos);
    CHECK(render_entry(options, some_kernel()) == text);
}

TEST_CASE("without pids and tids every tick is wanted") {
    CHECK(has_line(render_entry({}, some_kernel()), "#define TICK_IS_WANTED (1 && 1)"));
}

TEST_CASE("the kernel's stack map gets a power of two") {
    RenderOptions options;
    options.stack_storage_size = 16385;
    CHECK(has_line(render_entry(options, some_kernel()), "#define PYPERF_KERNEL_STACKS 32768"));
}

TEST_CASE("every shipped layout renders, with its own offsets") {
    const Database database = Database::open({PYPERF_SOURCE_DIR "/offsets"});
    REQUIRE(database.warnings().empty());
    REQUIRE(database.entries().size() >= 16);
    for (const auto& entry : database.entries()) {
        INFO(entry.layout.name);
        const auto text = render_walker({}, some_kernel(), entry.layout);
        REQUIRE(text);
        const auto thread_id = entry.layout.offset("PyThreadState", "thread_id");
        REQUIRE(thread_id);
        CHECK(has_line(*text, "#define OFF_PyThreadState_thread_id " + std::to_string(*thread_id)));
        CHECK(text->find("#define RULE_frame_chain ") != std::string::npos);
        CHECK(text->find("#define RULE_thread_binding ") != std::string::npos);
    }
}

TEST_CASE("a layout that lacks what the walker needs is refused by the members' names") {
    const Database database = Database::open({PYPERF_SOURCE_DIR "/offsets"});
    const Layout* whole = database.find("cpython-3.11");
    REQUIRE(whole);
    Layout layout = *whole;
    layout.structs.find("_PyInterpreterFrame")->second.members.erase("previous");
    layout.structs.find("PyCodeObject")->second.members.erase("co_name");
    const auto text = render_walker({}, some_kernel(), layout);
    REQUIRE_FALSE(text);
    CHECK(text.error().message.find("_PyInterpreterFrame.previous") != std::string::npos);
    CHECK(text.error().message.find("PyCodeObject.co_name") != std::string::npos);
    CHECK(text.error().message.find("pyoffsets generate") != std::string::npos);
}
