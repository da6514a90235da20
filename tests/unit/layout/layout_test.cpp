// SPDX-License-Identifier: Apache-2.0
// Versions, the names of rules, and what a layout answers.
#include "layout/layout.h"

#include "layout/shipped_layouts.h"

using namespace pyperf;
using namespace pyperf_test;

TEST_CASE("versions are read as PY_VERSION writes them") {
    struct Case {
        const char* text;
        PythonVersion version;
        uint32_t hex;
    };
    for (const Case& c :
         {Case{"3.11.7", {3, 11, 7, 0xf, 0}, 0x030b07f0}, Case{"2.7.18", {2, 7, 18, 0xf, 0}, 0x020712f0},
          Case{"3.14.0a1", {3, 14, 0, 0xa, 1}, 0x030e00a1}, Case{"3.14.0b4", {3, 14, 0, 0xb, 4}, 0x030e00b4},
          Case{"3.14.0rc2", {3, 14, 0, 0xc, 2}, 0x030e00c2},
          Case{"255.255.255", {255, 255, 255, 0xf, 0}, 0xfffffff0}}) {
        INFO(c.text);
        const auto parsed = PythonVersion::parse(c.text);
        REQUIRE(parsed);
        CHECK(*parsed == c.version);
        CHECK(parsed->hex() == c.hex);
        CHECK(PythonVersion::from_hex(c.hex) == c.version);
        CHECK(parsed->to_string() == c.text);
        CHECK(parsed->is_final() == (c.version.level == 0xf));
    }
    REQUIRE(PythonVersion::parse("2.7.18+"));
    CHECK(*PythonVersion::parse("2.7.18+") == PythonVersion{2, 7, 18, 0xf, 0});
    REQUIRE(PythonVersion::parse("2.7.1c2"));  // as 2.7 wrote candidates
    CHECK(PythonVersion::parse("2.7.1c2")->to_string() == "2.7.1rc2");
}

TEST_CASE("what is no version is refused, and quoted no longer than a line") {
    for (const char* text :
         {"",          "3",        "3.11",     "3.11.",      "3.11.x",  "3..1",     ".3.1",
          "3.11.7.1",  "3.11.7 ",  " 3.11.7",  "3.11.-7",    "3.11.+7", "3.256.0",  "3.11.256",
          "3.11.1000", "3.11.7f1", "3.11.7rc", "3.11.7rc16", "3.11.7a", "3.11.7++", "v3.11.7"}) {
        INFO(text);
        const auto parsed = PythonVersion::parse(text);
        REQUIRE_FALSE(parsed);
        CHECK(contains(parsed.error().message, "is no CPython version like 3.13.0 or 3.14.0rc2"));
    }
    CHECK(PythonVersion::parse(std::string(10000, '3')).error().message.size() < 120);
}

TEST_CASE("versions are in the order of their releases") {
    const std::vector<const char*> ordered{"2.7.18",    "3.6.15",   "3.9.2",     "3.10.0",    "3.14.0a1",
                                           "3.14.0a2",  "3.14.0b1", "3.14.0rc1", "3.14.0rc3", "3.14.0",
                                           "3.14.1rc1", "3.14.1",   "3.14.10",   "3.15.0a1"};
    for (size_t i = 0; i < ordered.size(); i++)
        for (size_t k = 0; k < ordered.size(); k++) {
            INFO(ordered[i] << " " << ordered[k]);
            CHECK((*PythonVersion::parse(ordered[i]) < *PythonVersion::parse(ordered[k])) == (i < k));
        }
}

TEST_CASE("the names of rules are read as they are written") {
    for (const auto value : {FrameChain::frame_object, FrameChain::cframe, FrameChain::current_frame})
        CHECK(*parse_rule<FrameChain>(to_string(value)) == value);
    for (const auto value : {LineTable::lnotab_unsigned, LineTable::lnotab_signed, LineTable::pep626_pairs,
                             LineTable::locations})
        CHECK(*parse_rule<LineTable>(to_string(value)) == value);
    for (const auto value : {ThreadBinding::key_list, ThreadBinding::pthread_key, ThreadBinding::runtime_key,
                             ThreadBinding::thread_local_})
        CHECK(*parse_rule<ThreadBinding>(to_string(value)) == value);
    for (const auto value : {StringKind::bytes, StringKind::unicode})
        CHECK(*parse_rule<StringKind>(to_string(value)) == value);
    CHECK(to_string(ThreadBinding::thread_local_) == "thread_local");
    CHECK(parse_rule<StringKind>("Bytes").error().message ==
          "\"Bytes\" is not known; one of: bytes, unicode");
    CHECK_FALSE(parse_rule<FrameChain>(""));
    CHECK_FALSE(parse_rule<FrameChain>("cframe "));
}

TEST_CASE("a layout covers the final releases of its range, its architectures and C libraries") {
    const Layout layout = shipped("cpython-3.9");  // 3.9.2 to 3.9.18, x86_64, glibc and musl
    const auto covers = [&](const char* version, const char* architecture = "x86_64",
                            const char* c_library = "") {
        return layout.covers(*PythonVersion::parse(version), architecture, c_library);
    };
    CHECK(covers("3.9.2"));
    CHECK(covers("3.9.10"));
    CHECK(covers("3.9.18"));
    CHECK_FALSE(covers("3.9.1"));
    CHECK_FALSE(covers("3.9.19"));
    CHECK_FALSE(covers("3.8.10"));
    CHECK_FALSE(covers("3.10.2"));
    CHECK_FALSE(covers("2.9.10"));
    CHECK_FALSE(covers("3.9.10rc1"));
    CHECK(covers("3.9.2", "x86_64", "musl"));
    CHECK_FALSE(covers("3.9.2", "aarch64"));
    CHECK_FALSE(covers("3.9.2", "x86_64", "bionic"));
    CHECK_FALSE(covers("3.9.2", ""));
}
