// SPDX-License-Identifier: Apache-2.0
#include "process/image_cache.h"

namespace pyperf {
namespace {

constexpr size_t kMaxEntries = 16384;

}  // namespace

Result<FileFacts> examine_file(OwnedFd fd, const std::string& name) {
    FileFacts facts;
    auto image = ElfImage::open(std::move(fd), name);
    if (!image) {
        if (image.error().code == -ENOEXEC) return facts;  // no ELF file, or none that we could walk
        return image.error();
    }
    facts.segments = image->segment_map();
    facts.libc = examine_libc(*image);
    auto interpreter = examine_interpreter(*image);
    if (!interpreter) {
        facts.refused = interpreter.error();
    } else if (*interpreter) {
        facts.interpreter = std::make_shared<const InterpreterImage>(std::move(**interpreter));
    }
    if (!facts.interpreter && image->is_executable_at_fixed_address()) {
        for (auto& [symbol, vaddr] : image->copied_variables()) {
            if (symbol.starts_with("Py") || symbol.starts_with("_Py")) facts.copied.emplace(symbol, vaddr);
        }
    }
    return facts;
}

void ImageCache::make_room() {
    if (entries_.size() < kMaxEntries) return;
    // Somebody maps ever new files. What a process of ours uses stays.
    std::erase_if(entries_, [](const auto& entry) {
        return entry.second.use_count() == 1 &&
               (!entry.second->interpreter || entry.second->interpreter.use_count() == 1);
    });
    if (entries_.size() >= kMaxEntries) entries_.clear();
}

Result<std::shared_ptr<const FileFacts>> ImageCache::facts_of(HostPid pid, const Mapping& mapping) {
    const auto identity = identify_mapped_file(pid, mapping);
    if (!identity) return identity.error();
    if (const auto known = entries_.find(*identity); known != entries_.end()) return known->second;

    auto fd = open_mapped_file(pid, mapping);
    if (!fd) return fd.error();
    // The mapping may have changed hands meanwhile: remember the facts for the file that was opened.
    struct stat status {};
    if (::fstat(fd->get(), &status) != 0) return Error{mapping.path + ": cannot be examined", -errno};
    auto facts = examine_file(std::move(*fd), mapping.path);
    if (!facts) return facts.error();
    ++examined_;
    make_room();
    auto shared = std::make_shared<const FileFacts>(std::move(*facts));
    entries_.insert_or_assign(file_identity(status), shared);
    return shared;
}

}  // namespace pyperf
