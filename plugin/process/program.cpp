// SPDX-License-Identifier: Apache-2.0
#include "process/program.h"

#include <elf.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#include "elf/image.h"

namespace pyperf {
namespace {

constexpr int kMaxScripts = 4;              // a #! line may name another script (the kernel: 5)
constexpr size_t kMaxDynamicEntries = 512;  // of one file
constexpr size_t kMaxText = 4096;

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream{text};
    for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
    return parts;
}

std::optional<std::string> find_program(const std::string& name) {
    if (name.find('/') != std::string::npos) return name;
    const char* path = std::getenv("PATH");
    for (const auto& directory : split(path ? path : "/bin:/usr/bin", ':')) {
        std::string candidate = (directory.empty() ? "." : directory) + "/" + name;
        if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    }
    return std::nullopt;
}

// The program that a script's #! line names; through env(1) the one that this is given.
std::optional<std::string> named_by_script(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    std::string line(256, '\0');
    file.read(line.data(), static_cast<std::streamsize>(line.size()));
    line.resize(static_cast<size_t>(file.gcount()));
    if (!line.starts_with("#!")) return std::nullopt;
    std::istringstream words{line.substr(2, line.find('\n') - 2)};
    std::string word;
    if (!(words >> word)) return std::nullopt;
    if (std::filesystem::path{word}.filename() != "env") return word;
    while (words >> word)
        if (!word.starts_with('-') && word.find('=') == std::string::npos) return word;
    return std::nullopt;
}

struct Linked {
    std::vector<std::string> libraries;
    std::vector<std::string> directories;  // of DT_RPATH and DT_RUNPATH
};

Linked linked_with(const ElfImage& image) {
    Linked linked;
    const auto section = image.section(".dynamic");
    if (!section) return linked;
    std::vector<std::pair<uint64_t, uint64_t>> texts;  // tag, offset in the string table
    uint64_t strings = 0;
    for (size_t i = 0; i < kMaxDynamicEntries; ++i) {
        const auto tag = image.read_u64(section->vaddr + 16 * i);
        const auto value = image.read_u64(section->vaddr + 16 * i + 8);
        if (!tag || !value || *tag == DT_NULL) break;
        if (*tag == DT_STRTAB) strings = *value;
        if (*tag == DT_NEEDED || *tag == DT_RPATH || *tag == DT_RUNPATH) texts.emplace_back(*tag, *value);
    }
    for (const auto& [tag, offset] : texts) {
        const auto text = image.read_string(strings + offset, kMaxText);
        if (!text) continue;
        if (tag == DT_NEEDED) {
            linked.libraries.push_back(*text);
        } else {
            for (auto& directory : split(*text, ':')) linked.directories.push_back(std::move(directory));
        }
    }
    return linked;
}

std::shared_ptr<const InterpreterImage> interpreter_in(const ElfImage& image) {
    auto found = examine_interpreter(image);
    return found && *found ? std::make_shared<const InterpreterImage>(std::move(**found)) : nullptr;
}

}  // namespace

std::shared_ptr<const InterpreterImage> expected_interpreter(const std::string& program) {
    auto path = find_program(program);
    for (int scripts = 0; path && scripts < kMaxScripts; ++scripts) {
        const auto named = named_by_script(*path);
        if (!named) break;
        path = find_program(*named);
    }
    if (!path) return nullptr;
    const auto image = ElfImage::open(*path);
    if (!image) return nullptr;
    if (auto found = interpreter_in(*image)) return found;

    Linked linked = linked_with(*image);
    std::error_code error;
    const std::string origin = std::filesystem::canonical(*path, error).parent_path().string();
    if (const char* more = std::getenv("LD_LIBRARY_PATH"))
        for (auto& directory : split(more, ':')) linked.directories.push_back(std::move(directory));
    const std::string machine = std::string(to_string(image->architecture())) + "-linux-gnu";
    for (const auto& directory :
         {"/usr/lib/" + machine, "/lib/" + machine, std::string("/usr/lib64"), std::string("/lib64"),
          std::string("/usr/local/lib"), std::string("/usr/lib")})
        linked.directories.push_back(directory);
    for (const auto& library : linked.libraries) {
        if (!library.starts_with("libpython")) continue;
        for (std::string directory : linked.directories) {
            for (const char* const name : {"$ORIGIN", "${ORIGIN}"})
                if (directory.starts_with(name)) directory.replace(0, std::string(name).size(), origin);
            const auto found = ElfImage::open(directory + "/" + library);
            if (!found) continue;
            return interpreter_in(*found);
        }
    }
    return nullptr;
}

}  // namespace pyperf
