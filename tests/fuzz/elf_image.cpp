// SPDX-License-Identifier: Apache-2.0
// Bytes that may be an ELF file. What the image says of them lies inside them: segments, addresses, build-id;
// a read gives the file's own bytes, up to where bytes_at() says and no farther; a name has the same symbol
// whether it is asked for alone or with others, and a copied variable has the relocation that copies it.
#include "elf/image.h"

#include <array>
#include <bit>

#include "input.h"
#include "unit/elf/elf_builder.h"

using namespace pyperf;
using namespace pyperf_test;

namespace {

constexpr std::array<std::string_view, 4> kNames = {"Py_GetVersion", "_PyRuntime", "main", "stdout"};

void check_segment(const ElfImage& image, const ElfSegment& segment, std::span<const uint8_t> file) {
    require(segment.file_offset <= file.size() && segment.file_size <= file.size() - segment.file_offset,
            "a segment lies in the file");
    require(segment.file_size <= segment.memory_size, "a segment's bytes fit into its memory");
    std::vector<uint8_t> bytes(image.bytes_at(segment.vaddr));
    require(bytes.size() <= file.size(), "an address has no more bytes than the file");
    if (bytes.empty()) return;
    require(static_cast<bool>(image.read_at_vaddr(segment.vaddr, bytes)), "what there is can be read");
    // Where segments overlap, the first one counts.
    const auto first = std::ranges::find_if(image.segments(), [&](const ElfSegment& other) {
        return segment.vaddr >= other.vaddr && segment.vaddr - other.vaddr < other.file_size;
    });
    const auto there = file.subspan(first->file_offset + (segment.vaddr - first->vaddr), bytes.size());
    require(std::ranges::equal(there, bytes), "what is read is in the file");
    bytes.push_back(0);
    require(!image.read_at_vaddr(segment.vaddr, bytes), "more than there is cannot be read");
    if (const auto text = image.read_string(segment.vaddr, 64))
        require(text->size() < 64, "limit of a string");
    if (const auto relocation = image.relocation_at(segment.vaddr))
        require(relocation->vaddr == segment.vaddr, "a relocation is the one that was asked for");
    if (const auto pointer = image.read_pointer(segment.vaddr); !pointer) require_told(pointer.error());
    (void)image.segment_map().load_bias(segment.vaddr & ~uint64_t{4095}, segment.file_offset, true);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::span<const uint8_t> file(data, size);
    const auto image = ElfImage::open(file_of({file.begin(), file.end()}), "fuzz");
    if (!image) {
        require_told(image.error());
        return 0;
    }
    for (const ElfSegment& segment : image->segments()) check_segment(*image, segment, file);
    require(image->build_id().size() <= 128 && image->build_id().size() % 2 == 0,
            "a build-id is bytes in hex");
    require(!image->tls() || std::has_single_bit(image->tls()->align), "an alignment is a power of two");
    const auto together = image->symbols(kNames);
    for (size_t i = 0; i < kNames.size(); ++i) {
        const auto alone = image->symbol(kNames[i]);
        require(
            alone.has_value() == together[i].has_value() && (!alone || alone->value == together[i]->value),
            "a name has one symbol");
    }
    for (const auto& [name, vaddr] : image->copied_variables())
        require(image->relocation_at(vaddr) && image->relocations_name(name), "a copy has its relocation");
    return 0;
}
