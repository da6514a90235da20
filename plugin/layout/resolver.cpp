// SPDX-License-Identifier: Apache-2.0
#include "layout/resolver.h"

#include <fmt/format.h>

namespace pyperf {
namespace {

struct Comparison {
    size_t compared = 0;  // values that both the file and the layout have
    std::string against;  // those that differ, for people
};

void compare(Comparison& out, std::string_view what, uint64_t in_file, std::optional<uint32_t> in_layout) {
    if (!in_layout) return;
    out.compared++;
    if (*in_layout != in_file)
        out.against += fmt::format("{}{} is {} in the file and {} in the layout",
                                   out.against.empty() ? "" : ", ", what, in_file, *in_layout);
}

Comparison compare(const InterpreterImage& image, const Layout& layout) {
    Comparison out;
    for (const auto& [name, offset] : image.code_members)
        compare(out, "PyCodeObject." + name, offset, layout.offset("PyCodeObject", name));
    for (const auto& [name, offset] : image.frame_members)
        compare(out, "PyFrameObject." + name, offset, layout.offset("PyFrameObject", name));
    // From 3.11 on a code object's bytecode follows its fixed part at once.
    if (image.code_type_basicsize)
        compare(out, "PyCode_Type.tp_basicsize", *image.code_type_basicsize,
                layout.offset("PyCodeObject", "co_code_adaptive"));
    return out;
}

// What `find` says for a build. Where the C library is not known, it has to be the same whichever it is; else
// that is the error.
template <typename Find>
Result<const Layout*> whichever_c_library(BuildFlavour flavour, const Find& find) {
    if (!flavour.c_library.empty()) return find(flavour);
    flavour.c_library = "glibc";
    const Layout* glibc = find(flavour);
    flavour.c_library = "musl";
    const Layout* musl = find(flavour);
    if (!glibc && !musl) return nullptr;
    if (!glibc) return Error{fmt::format("layout {} is for musl only", musl->name)};
    if (!musl) return Error{fmt::format("layout {} is for glibc only", glibc->name)};
    if (glibc != musl)
        return Error{fmt::format("layout {} is for glibc, {} for musl", glibc->name, musl->name)};
    return glibc;
}

std::string describe(const InterpreterImage& image, std::string_view c_library) {
    return fmt::format("CPython {}{} {}{}{}", image.version.to_string(),
                       image.free_threaded.value_or(false) ? "t" : "", image.architecture,
                       c_library.empty() ? "" : " ", c_library);
}

}  // namespace

std::string contradictions(const InterpreterImage& image, const Layout& layout) {
    return compare(image, layout).against;
}

Resolution resolve_layout(const Database& database, const InterpreterImage& image,
                          std::string_view c_library) {
    Resolution result;
    const std::string name = describe(image, c_library);
    if (!image.version.is_final()) {
        result.refusal = fmt::format(
            "{} is a pre-release: its structures are those of no release; use a final release", name);
        return result;
    }
    // A file of 3.13 or later says itself whether it is free-threaded; earlier versions never are.
    if (!image.free_threaded && image.version >= PythonVersion{3, 13, 0, 0, 0}) {
        result.refusal = fmt::format(
            "{}: the file does not tell whether it is a free-threaded build (it has neither _Py_DebugOffsets "
            "nor PyCode_Type): is it whole?",
            name);
        return result;
    }
    BuildFlavour flavour;
    flavour.architecture = image.architecture;
    flavour.c_library = c_library;
    flavour.free_threaded = image.free_threaded.value_or(false);
    flavour.trace_refs = image.trace_refs.value_or(false);
    const auto verified = whichever_c_library(flavour, [&](const BuildFlavour& build) {
        const auto layouts = database.lookup(image.version, build);
        return layouts.empty() ? nullptr : layouts.front();
    });
    const auto found = verified && !*verified
                           ? whichever_c_library(flavour,
                                                 [&](const BuildFlavour& build) {
                                                     return database.candidate(image.version, build);
                                                 })
                           : verified;
    if (!found) {
        result.refusal = fmt::format("{}: its C library is not known, and {}", name, found.error().message);
        return result;
    }
    const Layout* layout = *found;
    const std::string missing = fmt::format("no layout for {}{} in the database", name,
                                            flavour.trace_refs ? " (a build with trace-refs)" : "");
    if (!layout) {
        result.refusal = missing + ": add one with pyoffsets generate";
        return result;
    }
    result.candidate = !*verified;
    const Comparison comparison = compare(image, *layout);
    if (!comparison.against.empty()) {
        result.refusal =
            result.candidate
                ? fmt::format(
                      "{}, and its own tables are not what layout {} describes: {}; add one with "
                      "pyoffsets generate",
                      missing, layout->name, comparison.against)
                : fmt::format(
                      "{} is not what layout {} describes: {}; add its own with pyoffsets generate "
                      "--elf",
                      name, layout->name, comparison.against);
        return result;
    }
    if (result.candidate && comparison.compared == 0) {
        result.refusal = fmt::format(
            "{}, and the file has no tables of its own to compare layout {} with; add one with pyoffsets "
            "generate",
            missing, layout->name);
        return result;
    }
    result.layout = layout;
    result.evidence = fmt::format("version {} ({})", image.version.to_string(), image.version_source);
    if (result.candidate)
        result.evidence += fmt::format(", newer than {} {}", layout->name, layout->last.to_string());
    if (comparison.compared > 0) result.evidence += ", confirmed by the file's own tables";
    return result;
}

}  // namespace pyperf
