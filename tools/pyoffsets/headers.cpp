// SPDX-License-Identifier: Apache-2.0
#include "headers.h"

#include <clang-c/Index.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "layout/structures.h"

namespace pyperf::offsets {
namespace {

std::string take(CXString text) {
    const char* begin = clang_getCString(text);
    std::string copy = begin ? begin : "";
    clang_disposeString(text);
    return copy;
}

struct IndexDeleter {
    void operator()(void* index) const { clang_disposeIndex(index); }
};
struct UnitDeleter {
    void operator()(CXTranslationUnit unit) const { clang_disposeTranslationUnit(unit); }
};
using Index = std::unique_ptr<void, IndexDeleter>;
using Unit = std::unique_ptr<std::remove_pointer_t<CXTranslationUnit>, UnitDeleter>;

struct MemoryFile {
    std::string path;
    std::string text;
};

// Clang does not read these from the disk, whatever is there.
constexpr const char* kMainFile = "pyoffsets-main.c";

Result<Unit> parse(CXIndex index, const std::string& main_text, const std::vector<std::string>& arguments,
                   const std::vector<MemoryFile>& replacements) {
    std::vector<CXUnsavedFile> files{{kMainFile, main_text.data(), main_text.size()}};
    for (const MemoryFile& file : replacements)
        files.push_back({file.path.c_str(), file.text.data(), file.text.size()});
    std::vector<const char*> argv;
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());

    CXTranslationUnit raw = nullptr;
    const CXErrorCode code = clang_parseTranslationUnit2(
        index, kMainFile, argv.data(), static_cast<int>(argv.size()), files.data(),
        static_cast<unsigned>(files.size()), CXTranslationUnit_SkipFunctionBodies, &raw);
    Unit unit(raw);
    if (code != CXError_Success || !unit)
        return Error{fmt::format("libclang could not parse the headers (error {})", static_cast<int>(code))};
    for (unsigned i = 0; i < clang_getNumDiagnostics(unit.get()); i++) {
        CXDiagnostic diagnostic = clang_getDiagnostic(unit.get(), i);
        const bool bad = clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error;
        std::string text =
            bad ? take(clang_formatDiagnostic(diagnostic, CXDiagnostic_DisplaySourceLocation)) : "";
        clang_disposeDiagnostic(diagnostic);
        if (bad) return Error{"the headers do not compile: " + text};
    }
    return unit;
}

class ClangStructures : public StructureSource {
  public:
    ClangStructures(Index index, Unit unit) : index_(std::move(index)), unit_(std::move(unit)) {
        clang_visitChildren(clang_getTranslationUnitCursor(unit_.get()), visit_declaration, this);
    }

    std::optional<StructureId> find(std::string_view name) const override {
        const auto found = names_.find(name);
        if (found == names_.end()) return std::nullopt;
        return found->second;
    }

    std::vector<Field> fields(StructureId id) const override {
        Visit visit{this, {}};
        clang_Type_visitFields(types_[id], visit_field, &visit);
        return std::move(visit.fields);
    }

    uint64_t size_bytes(StructureId id) const override {
        const long long size = clang_Type_getSizeOf(types_[id]);
        return size < 0 ? 0 : static_cast<uint64_t>(size);
    }

    std::optional<int64_t> enumerator(std::string_view name) const override {
        const auto found = enumerators_.find(name);
        if (found == enumerators_.end()) return std::nullopt;
        return found->second;
    }

  private:
    struct Visit {
        const ClangStructures* source;
        std::vector<Field> fields;
    };

    StructureId id_of(CXType type) const {
        types_.push_back(type);
        return types_.size() - 1;
    }

    void add_structure(const std::string& name, CXType type) {
        type = clang_getCanonicalType(type);
        // A type that is declared only has no size: the definition comes elsewhere or not at all.
        if (!name.empty() && type.kind == CXType_Record && clang_Type_getSizeOf(type) >= 0)
            names_.try_emplace(name, id_of(type));
    }

    static CXChildVisitResult visit_declaration(CXCursor cursor, CXCursor, CXClientData data) {
        auto* self = static_cast<ClangStructures*>(data);
        switch (clang_getCursorKind(cursor)) {
            case CXCursor_TypedefDecl:
                self->add_structure(take(clang_getCursorSpelling(cursor)),
                                    clang_getTypedefDeclUnderlyingType(cursor));
                return CXChildVisit_Continue;
            case CXCursor_StructDecl:
                self->add_structure(take(clang_getCursorSpelling(cursor)), clang_getCursorType(cursor));
                return CXChildVisit_Recurse;
            case CXCursor_EnumConstantDecl:
                self->enumerators_.emplace(take(clang_getCursorSpelling(cursor)),
                                           clang_getEnumConstantDeclValue(cursor));
                return CXChildVisit_Continue;
            case CXCursor_EnumDecl:
                return CXChildVisit_Recurse;
            default:
                return CXChildVisit_Continue;
        }
    }

    static CXVisitorResult visit_field(CXCursor cursor, CXClientData data) {
        auto* visit = static_cast<Visit*>(data);
        const CXType type = clang_getCanonicalType(clang_getCursorType(cursor));
        Field field;
        // Newer clang gives anonymous structures a name for messages, so the spelling does not tell.
        if (!clang_Cursor_isAnonymousRecordDecl(clang_getTypeDeclaration(type)))
            field.name = take(clang_getCursorSpelling(cursor));
        const long long offset = clang_Cursor_getOffsetOfField(cursor);
        if (offset < 0) return CXVisit_Continue;
        field.bit_offset = static_cast<uint64_t>(offset);
        const long long size = clang_Type_getSizeOf(type);
        field.bytes = size < 0 ? 0 : static_cast<uint64_t>(size);
        if (clang_Cursor_isBitField(cursor))
            field.bit_width = static_cast<uint32_t>(std::max(clang_getFieldDeclBitWidth(cursor), 0));
        if (type.kind == CXType_Record) field.structure = visit->source->id_of(type);
        // An unnamed bitfield is padding.
        if (!field.name.empty() || field.structure) visit->fields.push_back(std::move(field));
        return CXVisit_Continue;
    }

    Index index_;
    Unit unit_;
    mutable std::vector<CXType> types_;  // grows as nested structures are met
    std::map<std::string, StructureId, std::less<>> names_;
    std::map<std::string, int64_t, std::less<>> enumerators_;
};

// The headers that define the structures of a minor version, besides Python.h. (CPython moved them from
// release to release; a missing one is an error, so a newer version's row is tried with the last known.)
Result<std::vector<std::string_view>> headers_of(const PythonVersion& version) {
    struct Row {
        uint16_t first;
        std::vector<std::string_view> headers;
    };
    static const std::vector<Row> rows{
        {version_key(3, 14),
         {"internal/pycore_runtime.h", "internal/pycore_interp.h", "internal/pycore_gil.h",
          "internal/pycore_frame.h", "internal/pycore_tstate.h", "internal/pycore_interpframe_structs.h"}},
        {version_key(3, 13),
         {"internal/pycore_runtime.h", "internal/pycore_interp.h", "internal/pycore_gil.h",
          "internal/pycore_frame.h", "internal/pycore_tstate.h"}},
        {version_key(3, 11),
         {"internal/pycore_runtime.h", "internal/pycore_interp.h", "internal/pycore_gil.h",
          "internal/pycore_frame.h"}},
        {version_key(3, 9),
         {"frameobject.h", "internal/pycore_runtime.h", "internal/pycore_interp.h", "internal/pycore_gil.h"}},
        {version_key(3, 8), {"frameobject.h", "internal/pycore_pystate.h"}},
        {version_key(3, 7), {"frameobject.h", "internal/pystate.h"}},
        {version_key(2, 7), {"frameobject.h"}},
    };
    const uint16_t key = version_key(version.major, version.minor);
    for (const Row& row : rows)
        if (key >= row.first) return row.headers;
    return Error{fmt::format("CPython {} is older than 2.7, the oldest version that is supported",
                             version.to_string())};
}

std::vector<std::string> compiler_arguments(const HeaderRequest& request) {
    const HeaderTarget& target = request.target;
    std::vector<std::string> arguments{
        "-x",
        "c",
        "-std=gnu11",
        "-w",
        fmt::format("--target={}-linux-{}", target.architecture, target.c_library == "musl" ? "musl" : "gnu"),
        "-DPy_BUILD_CORE=1"};
    for (const std::string& define : request.defines) arguments.push_back("-D" + define);
    arguments.push_back("-I" + request.directory);
    // Debian's pyconfig.h includes <x86_64-linux-gnu/python3.11/pyconfig.h>, which lies beside the directory.
    arguments.push_back("-I" + std::filesystem::path(request.directory).parent_path().string());
    if (!target.include.empty()) {
        arguments.push_back("-nostdlibinc");
        arguments.push_back("-isystem");
        arguments.push_back(target.include);
    }
    return arguments;
}

Result<std::vector<MemoryFile>> read_replacements(const HeaderRequest& request) {
    std::vector<MemoryFile> files;
    for (const std::string& replacement : request.replacements) {
        const size_t equals = replacement.find('=');
        if (equals == std::string::npos || equals == 0)
            return Error{fmt::format("\"{}\" is not HEADER=FILE", replacement)};
        const std::string header =
            (std::filesystem::path(request.directory) / replacement.substr(0, equals)).string();
        const std::string path = replacement.substr(equals + 1);
        std::error_code error;
        if (!std::filesystem::is_regular_file(header, error))
            return Error{header + " does not exist, so it cannot be replaced", -ENOENT};
        std::ifstream stream(path, std::ios::binary);
        if (!stream) return Error{path + " cannot be read", -ENOENT};
        files.push_back({header, {std::istreambuf_iterator<char>(stream), {}}});
    }
    return files;
}

}  // namespace

Result<HeaderTarget> HeaderTarget::parse(std::string_view text) {
    HeaderTarget target;
    std::string_view rest = text.substr(0, text.find('='));
    if (rest.size() < text.size()) {
        target.include = text.substr(rest.size() + 1);
        if (target.include.empty()) return Error{fmt::format("\"{}\": no directory after '='", text)};
    }
    target.architecture = rest.substr(0, rest.find('-'));
    target.c_library =
        rest.size() > target.architecture.size() ? rest.substr(target.architecture.size() + 1) : "glibc";
    if ((target.architecture != "x86_64" && target.architecture != "aarch64") ||
        (target.c_library != "glibc" && target.c_library != "musl"))
        return Error{
            fmt::format("\"{}\" is no target; known: x86_64, aarch64, each with -glibc or -musl", text)};
#if defined(__x86_64__)
    const bool own = target.architecture == "x86_64" && target.c_library == "glibc";
#elif defined(__aarch64__)
    const bool own = target.architecture == "aarch64" && target.c_library == "glibc";
#else
    const bool own = false;
#endif
    if (target.include.empty() && !own)
        target.include = target.c_library == "musl"
                             ? fmt::format("/usr/include/{}-linux-musl", target.architecture)
                             : fmt::format("/usr/{}-linux-gnu/include", target.architecture);
    std::error_code error;
    if (!target.include.empty() && !std::filesystem::is_directory(target.include, error))
        return Error{
            fmt::format("{}: that C library's headers are not in {} (Debian: libc6-dev-{}-cross, musl-dev)",
                        text, target.include, target.architecture == "aarch64" ? "arm64" : "amd64"),
            -ENOENT};
    return target;
}

Result<HeaderStructures> read_headers(const HeaderRequest& request) {
    std::error_code error;
    for (const char* name : {"Python.h", "patchlevel.h", "pyconfig.h"})
        if (!std::filesystem::is_regular_file(std::filesystem::path(request.directory) / name, error))
            return Error{fmt::format("{} has no {}: give the directory of CPython's headers, like "
                                     "/usr/include/python3.11",
                                     request.directory, name),
                         -ENOENT};
    auto replacements = read_replacements(request);
    if (!replacements) return replacements.error();
    // Up to 3.8, Python.h includes crypt.h where configure found one; it declares functions only, and a C
    // library for another machine often comes without it.
    if (!request.target.include.empty() &&
        !std::filesystem::exists(request.target.include + "/crypt.h", error))
        replacements->push_back({request.target.include + "/crypt.h", ""});
    const std::vector<std::string> arguments = compiler_arguments(request);
    Index index(clang_createIndex(0, 0));
    if (!index) return Error{"libclang cannot be used"};

    // First only the version, which says what else to include. An enumerator is a macro that libclang can
    // read.
    auto head = parse(index.get(), "#include <patchlevel.h>\nenum { pyoffsets_version = PY_VERSION_HEX };\n",
                      arguments, *replacements);
    if (!head) return head.error();
    const ClangStructures patchlevel(Index{}, std::move(*head));
    const auto hex = patchlevel.enumerator("pyoffsets_version");
    if (!hex) return Error{"patchlevel.h has no PY_VERSION_HEX"};
    HeaderStructures structures;
    structures.version = PythonVersion::from_hex(static_cast<uint32_t>(*hex));

    const auto headers = headers_of(structures.version);
    if (!headers) return headers.error();
    std::string main_text = "#include <Python.h>\n";
    for (const std::string_view header : *headers) {
        if (!std::filesystem::is_regular_file(std::filesystem::path(request.directory) / header, error))
            return Error{
                fmt::format("{} has no {}, which {} should have (a -dev package without internal headers?)",
                            request.directory, header, structures.version.to_string()),
                -ENOENT};
        main_text += fmt::format("#include <{}>\n", header);
    }
    auto unit = parse(index.get(), main_text, arguments, *replacements);
    if (!unit) return unit.error().within(request.directory);
    structures.source = std::make_unique<ClangStructures>(std::move(index), std::move(*unit));
    return structures;
}

}  // namespace pyperf::offsets
