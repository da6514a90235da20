// SPDX-License-Identifier: Apache-2.0
// A version as text, from an interpreter's own bytes or from a layout file. Its text and its PY_VERSION_HEX
// read back as the same version, and two versions are in the order of their PY_VERSION_HEX.
#include "input.h"
#include "layout/layout.h"

using namespace pyperf;
using namespace pyperf_test;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text = Input(data, size).text();
    const size_t middle = text.find(' ');
    const auto version = PythonVersion::parse(text.substr(0, middle));
    if (!version) {
        require_told(version.error());
        return 0;
    }
    const auto again = PythonVersion::parse(version->to_string());
    require(again && *again == *version, "a version's text reads back");
    require(PythonVersion::from_hex(version->hex()) == *version, "a version's number reads back");
    if (middle == std::string_view::npos) return 0;
    const auto other = PythonVersion::parse(text.substr(middle + 1));
    if (!other) return 0;
    require((*version < *other) == (version->hex() < other->hex()),
            "versions are in the order of their numbers");
    require((*version == *other) == (version->hex() == other->hex()), "equal versions have equal numbers");
    return 0;
}
