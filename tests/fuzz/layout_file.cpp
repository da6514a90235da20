// SPDX-License-Identifier: Apache-2.0
// The text of a layout file. A layout that the reader takes passes the check, and the file that is written
// for it reads back as the same layout, with the same text a second time; one that is refused says in which
// line.
#include "layout/layout_file.h"

#include "input.h"

using namespace pyperf;
using namespace pyperf_test;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    // The name that the seeds have: a file's name has to be its layout's.
    const std::string file_name = "offsets/fuzz.toml";
    const auto layout = parse_layout(Input(data, size).text(), file_name);
    if (!layout) {
        require_told(layout.error());
        require(layout.error().message.starts_with(file_name + ":"), "an error says where it is");
        return 0;
    }
    require(static_cast<bool>(check_layout(*layout)), "what is read passes the check");
    require(layout->covers(layout->first, layout->architectures.front(), layout->c_libraries.front()),
            "a layout is for its own first version");
    const std::string written = format_layout(*layout, "of the fuzzer");
    const auto again = parse_layout(written, file_name);
    require(static_cast<bool>(again), "what is written can be read");
    require(again->structs == layout->structs, "structures read back as they were");
    require(again->first == layout->first && again->last == layout->last, "versions read back as they were");
    require(format_layout(*again, "of the fuzzer") == written, "a layout has one text");
    return 0;
}
