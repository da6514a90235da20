// SPDX-License-Identifier: Apache-2.0
#include "layout/resolver.h"

#include <fmt/format.h>

namespace pyperf {
namespace {

void compare(std::string& out, std::string_view structure,
             const std::map<std::string, uint32_t, std::less<>>& members, const Layout& layout) {
    for (const auto& [name, offset] : members) {
        const auto expected = layout.offset(structure, name);
        if (expected && *expected != offset)
            out += fmt::format("{}{}.{} is at {} in the file and {} in the layout", out.empty() ? "" : ", ",
                               structure, name, offset, *expected);
    }
}

std::string describe(const InterpreterImage& image, std::string_view c_library) {
    return fmt::format("CPython {}{} {}{}{}", image.version.to_string(),
                       image.free_threaded.value_or(false) ? "t" : "", image.architecture,
                       c_library.empty() ? "" : " ", c_library);
}

}  // namespace

std::string contradictions(const InterpreterImage& image, const Layout& layout) {
    std::string out;
    compare(out, "PyCodeObject", image.code_members, layout);
    compare(out, "PyFrameObject", image.frame_members, layout);
    // From 3.11 on a code object's bytecode follows its fixed part at once.
    const auto bytecode = layout.offset("PyCodeObject", "co_code_adaptive");
    if (bytecode && image.code_type_basicsize && *image.code_type_basicsize != *bytecode)
        out += fmt::format("{}PyCode_Type.tp_basicsize is {} in the file and {} in the layout",
                           out.empty() ? "" : ", ", *image.code_type_basicsize, *bytecode);
    return out;
}

Resolution resolve_layout(const Database& database, const InterpreterImage& image,
                          std::string_view c_library) {
    Resolution result;
    const std::string name = describe(image, c_library);
    if (!image.version.is_final()) {
        result.refusal = fmt::format("{} is a pre-release: its structures are those of no release", name);
        return result;
    }
    // A file of 3.13 or later says itself whether it is free-threaded; earlier versions never are.
    if (!image.free_threaded && image.version >= PythonVersion{3, 13, 0, 0, 0}) {
        result.refusal = fmt::format("{}: the file does not tell whether it is a free-threaded build", name);
        return result;
    }
    BuildFlavour flavour;
    flavour.architecture = image.architecture;
    flavour.c_library = c_library;
    flavour.free_threaded = image.free_threaded.value_or(false);
    flavour.trace_refs = image.trace_refs.value_or(false);
    const auto layouts = database.lookup(image.version, flavour);
    if (layouts.empty()) {
        result.refusal = fmt::format("no layout for {}{} in the database: add one with pyoffsets generate",
                                     name, flavour.trace_refs ? " (a build with trace-refs)" : "");
        return result;
    }
    const Layout* layout = layouts.front();
    if (const auto against = contradictions(image, *layout); !against.empty()) {
        result.refusal =
            fmt::format("{} is not what layout {} describes: {}; add its own with pyoffsets generate --elf",
                        name, layout->name, against);
        return result;
    }
    result.layout = layout;
    result.evidence = fmt::format("version {} ({})", image.version.to_string(), image.version_source);
    if (!image.code_members.empty()) result.evidence += ", confirmed by the file's own tables";
    return result;
}

}  // namespace pyperf
