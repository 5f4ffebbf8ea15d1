// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The descriptors of commands on images.

#include "maps.hpp"
#include "regions.hpp"

namespace pi::loader::validate {
namespace {

using Memory = std::shared_ptr<const MemoryFacts>;

Memory image(Check &check, pi_mem mem, const Name &name) noexcept {
    Memory facts = check.validator().facts(mem);
    if (facts != nullptr && facts->image.type == nullptr)
        check.refuse(PI_ERROR_INVALID_MEM_OBJECT, name, "is a buffer; an image is needed");
    return facts;
}

void check_transfer(Check &check, pi_mem mem, const void *host_ptr, uint32_t count,
                    const pi_image_region *regions, bool to_image) noexcept {
    const Memory of = image(check, mem, {"desc->image"});
    check.not_null(host_ptr, {"desc->host_ptr"});
    if (!some_regions(check, count, regions))
        return;
    Destinations<checks::Box> boxes;
    Destinations<Rectangle> bytes;
    for (uint32_t i = 0; i < count && of != nullptr && !check.failed(); ++i) {
        const Name element{"desc->regions", i};
        checks::ImageTransfer transfer;
        if (!read_image_transfer(check, element, regions[i], of->image, transfer))
            return;
        check_addressable(check, element, checks::image_host_end, transfer.host, host_ptr);
        if (check.failed())
            return;
        if (to_image)
            boxes.add(check, i, transfer.box, "pixels");
        else
            bytes.add(check, i, transfer.host, "bytes");
    }
}

/// The two ends of a copy, one of which may be a buffer.
struct CopyEnds {
    const MemoryFacts &src;
    const MemoryFacts &dst;
    checks::ImageCopyEnds ends;
};

void check_copy_region(Check &check, const Place &place, const CopyEnds &of, uint32_t index,
                       const pi_image_copy_region &region, Destinations<checks::Box> &boxes,
                       Destinations<Rectangle> &bytes) noexcept {
    const Name element{"desc->regions", index};
    checks::ImageCopy copy;
    if (!read_image_copy(check, element, region, of.ends, copy))
        return;
    const bool to_image = of.ends.dst != nullptr;
    if (of.ends.src != nullptr && to_image) {
        if (of.src.root == of.dst.root && overlap(copy.src, copy.dst))
            check.refuse(PI_ERROR_MEM_COPY_OVERLAP, element,
                         "copies within one image, and source and destination overlap; they must "
                         "not");
        if (!check.failed())
            boxes.add(check, index, copy.dst, "pixels");
        return;
    }
    if (to_image)
        boxes.add(check, index, copy.dst, "pixels");
    else
        bytes.add(check, index, copy.buffer, "bytes");
    check.validator().maps().check_use(check, place, to_image ? of.src : of.dst, copy.buffer,
                                       !to_image, {to_image ? "desc->src" : "desc->dst"});
}

} // namespace

void check_members(Check &check, const Place &, const pi_image_read_desc &desc) {
    check_transfer(check, desc.image, desc.host_ptr, desc.region_count, desc.regions, false);
}

void check_members(Check &check, const Place &, const pi_image_write_desc &desc) {
    check_transfer(check, desc.image, desc.host_ptr, desc.region_count, desc.regions, true);
}

void check_members(Check &check, const Place &place, const pi_image_copy_desc &desc) {
    const Memory src = check.validator().facts(desc.src);
    const Memory dst = check.validator().facts(desc.dst);
    if (src == nullptr || dst == nullptr) {
        some_regions(check, desc.region_count, desc.regions);
        return;
    }
    const auto shape = [](const Memory &of) {
        return of->image.type != nullptr ? &of->image : nullptr;
    };
    const checks::ImageCopyEnds ends = {shape(src), shape(dst),
                                        (shape(src) != nullptr ? dst : src)->size};
    check_image_copy_ends(check, ends);
    if (check.failed() || !some_regions(check, desc.region_count, desc.regions))
        return;
    Destinations<checks::Box> boxes;
    Destinations<Rectangle> bytes;
    for (uint32_t i = 0; i < desc.region_count && !check.failed(); ++i)
        check_copy_region(check, place, {*src, *dst, ends}, i, desc.regions[i], boxes, bytes);
}

void check_members(Check &check, const Place &, const pi_image_fill_desc &desc) {
    const Memory of = image(check, desc.image, {"desc->image"});
    check.not_null(desc.color, {"desc->color"});
    checks::Box box;
    if (of != nullptr && !check.failed())
        read_fill_box(check, desc, of->image, box);
}

} // namespace pi::loader::validate
